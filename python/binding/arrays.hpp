// NumPy arrays as Tamis values and back, without copying where the memory allows it.
#pragma once

#include <pybind11/numpy.h>

#include <vector>

#include "tamis/dataset.hpp"

namespace tamis::python {

namespace py = pybind11;

/// Keeps a Python object alive, also from threads that do not hold the interpreter's lock.
std::shared_ptr<const void> keep_alive(py::object object);

/// Rows from a C-contiguous float32 array of two dimensions, or from a tuple (row offsets int64,
/// columns int32, values float32, number of columns) of a CSR matrix. Nothing is copied: `owner`
/// keeps the arrays alive; or the rows of a Dataset. Throws TypeError for anything else.
Matrix to_matrix(const py::object& features, std::shared_ptr<const void> owner);
inline Matrix to_matrix(const py::object& features) {
  return to_matrix(features, keep_alive(features));
}

/// Copies of rows for to_matrix(): at most 64 of a float32 or float64 array that has that number of
/// columns and no value that float32 cannot hold. None for anything else, which must pass slower
/// checks.
py::object few_rows(const py::object& features, py::ssize_t columns);

/// Rows as one of the two above: read-only views of memory that `owner` keeps alive.
py::object from_matrix(const Matrix& matrix, const py::capsule& owner);

/// Labels from codes (int32) into classes: numbers (a float64 array) or words (a list of str).
Labels to_class_labels(const py::array_t<std::int32_t>& codes, const py::object& classes);

/// Labelled rows: a Dataset as it is, with its own labels and weights. Else `targets` is a float64
/// array (regression) or a tuple (codes, classes) as above; `weights` an array or None; `owner`
/// keeps the features alive. `columns` is None, or a tuple of the names of the columns and of the
/// categories of text columns by their number, either of them empty.
Dataset to_dataset(const py::object& features, const py::object& targets, const py::object& weights,
                   std::shared_ptr<const void> owner, const py::object& columns = py::none());

/// Classes as a float64 array or a list of str.
py::object from_classes(const Labels& classes);

template <typename T>
std::vector<T> to_vector(const py::array_t<T>& array) {
  const auto flat = array.template unchecked<1>();
  return {flat.data(0), flat.data(0) + flat.size()};
}

template <typename T>
py::array_t<T> read_only_view(std::span<const T> values, std::vector<py::ssize_t> shape,
                              const py::capsule& owner) {
  py::array_t<T> view(std::move(shape), values.data(), owner);
  view.attr("flags").attr("writeable") = false;
  return view;
}

/// An array that owns `values`: large results are moved, not copied.
template <typename T>
py::array_t<T> from_vector(std::vector<T> values, std::vector<py::ssize_t> shape) {
  auto* held = new std::vector<T>(std::move(values));
  const py::capsule owner(held, [](void* p) { delete static_cast<std::vector<T>*>(p); });
  return py::array_t<T>(std::move(shape), held->data(), owner);
}

}  // namespace tamis::python
