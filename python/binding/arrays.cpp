#include "arrays.hpp"

#include <pybind11/stl.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace tamis::python {
namespace {

constexpr int kInPlace = py::array::c_style;

// Only an array that can be used as it lies in memory; a silent copy would hide its cost.
template <typename T>
std::span<const T> in_place(const py::handle& object, py::ssize_t dimensions) {
  if (py::isinstance<py::array_t<T, kInPlace>>(object)) {
    const auto array = py::reinterpret_borrow<py::array_t<T, kInPlace>>(object);
    const bool aligned = reinterpret_cast<std::uintptr_t>(array.data()) % alignof(T) == 0;
    if (aligned && array.ndim() == dimensions)
      return {array.data(), static_cast<std::size_t>(array.size())};
  }
  throw py::type_error("an aligned C-contiguous array of the right type and shape is needed");
}

// None if a value does not fit.
template <typename T>
py::object float_rows(const py::array& given) {
  constexpr T kLargest = std::numeric_limits<float>::max();
  py::array_t<float> rows({given.shape(0), given.shape(1)});
  float* to = rows.mutable_data();
  for (py::ssize_t i = 0; i < given.shape(0); ++i) {
    const char* from = static_cast<const char*>(given.data()) + i * given.strides(0);
    for (py::ssize_t j = 0; j < given.shape(1); ++j, from += given.strides(1)) {
      T value;  // which may lie anywhere
      std::memcpy(&value, from, sizeof value);
      if (!(std::abs(value) <= kLargest)) return py::none();
      *to++ = static_cast<float>(value);
    }
  }
  return rows;
}

}  // namespace

py::object few_rows(const py::object& features, py::ssize_t columns) {
  constexpr py::ssize_t kMostRows = 64;
  const bool is_float = py::isinstance<py::array_t<float, 0>>(features);
  if (!is_float && !py::isinstance<py::array_t<double, 0>>(features)) return py::none();
  const auto given = py::reinterpret_borrow<py::array>(features);
  if (given.ndim() != 2 || given.shape(0) < 1 || given.shape(0) > kMostRows ||
      given.shape(1) != columns)
    return py::none();
  return is_float ? float_rows<float>(given) : float_rows<double>(given);
}

std::shared_ptr<const void> keep_alive(py::object object) {
  return {object.release().ptr(), [](PyObject* held) {
            const py::gil_scoped_acquire lock;
            Py_DECREF(held);
          }};
}

Matrix to_matrix(const py::object& features, std::shared_ptr<const void> owner) {
  if (py::isinstance<Dataset>(features)) return features.cast<const Dataset&>().features();
  if (!py::isinstance<py::tuple>(features)) {
    const auto values = in_place<float>(features, 2);
    const auto array = py::reinterpret_borrow<py::array>(features);
    return Matrix::dense_view(array.shape(0), array.shape(1), values.data(), std::move(owner));
  }
  const auto parts = py::reinterpret_borrow<py::tuple>(features);
  return Matrix::sparse_view(parts[3].cast<Index>(), in_place<Index>(parts[0], 1),
                             in_place<std::int32_t>(parts[1], 1), in_place<float>(parts[2], 1),
                             std::move(owner));
}

py::object from_matrix(const Matrix& matrix, const py::capsule& owner) {
  if (!matrix.is_sparse())
    return read_only_view(matrix.dense_values(), {matrix.rows(), matrix.cols()}, owner);
  const py::ssize_t stored = matrix.num_stored();
  return py::make_tuple(read_only_view(matrix.row_offsets(), {matrix.rows() + 1}, owner),
                        read_only_view(matrix.sparse_columns(), {stored}, owner),
                        read_only_view(matrix.sparse_values(), {stored}, owner), matrix.cols());
}

Labels to_class_labels(const py::array_t<std::int32_t>& codes, const py::object& classes) {
  if (py::isinstance<py::list>(classes))
    return Labels::text(to_vector(codes), classes.cast<std::vector<std::string>>());
  const auto numbers = to_vector(classes.cast<py::array_t<double>>());
  std::vector<double> labels;
  labels.reserve(static_cast<std::size_t>(codes.size()));
  for (const std::int32_t code : to_vector(codes))
    labels.push_back(numbers.at(static_cast<std::size_t>(code)));
  return Labels::numeric(std::move(labels));
}

Dataset to_dataset(const py::object& features, const py::object& targets, const py::object& weights,
                   std::shared_ptr<const void> owner, const py::object& columns) {
  if (py::isinstance<Dataset>(features)) return features.cast<const Dataset&>();
  Labels labels;
  if (py::isinstance<py::tuple>(targets)) {
    const auto parts = py::reinterpret_borrow<py::tuple>(targets);
    labels = to_class_labels(parts[0].cast<py::array_t<std::int32_t>>(), parts[1]);
  } else {
    labels = Labels::numeric(to_vector(targets.cast<py::array_t<double>>()));
  }
  std::vector<double> row_weights;
  if (!weights.is_none()) row_weights = to_vector(weights.cast<py::array_t<double>>());
  Matrix rows = to_matrix(features, std::move(owner));
  if (columns.is_none()) return Dataset(std::move(rows), std::move(labels), std::move(row_weights));
  using Named = std::pair<std::vector<std::string>, std::map<Index, std::vector<std::string>>>;
  auto [names, texts] = columns.cast<Named>();
  std::vector<std::vector<std::string>> categories(
      texts.empty() ? 0 : static_cast<std::size_t>(rows.cols()));
  for (auto& [column, words] : texts)
    categories.at(static_cast<std::size_t>(column)) = std::move(words);
  const Dataset data(std::move(rows), std::move(labels), std::move(row_weights), std::move(names));
  return categories.empty() ? data : data.with_categories(std::move(categories));
}

py::object from_classes(const Labels& classes) {
  if (classes.kind() == LabelKind::text) {
    py::list names;
    for (Index c = 0; c < classes.size(); ++c) names.append(classes.name(c));
    return names;
  }
  std::vector<double> numbers;
  for (Index c = 0; c < classes.size(); ++c) numbers.push_back(classes.number(c));
  return from_vector(std::move(numbers), {classes.size()});
}

}  // namespace tamis::python
