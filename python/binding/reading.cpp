#include "reading.hpp"

#include <pybind11/stl.h>

#include "arrays.hpp"
#include "listening.hpp"
#include "tamis/error.hpp"
#include "tamis/expansion.hpp"
#include "tamis/io.hpp"
#include "tamis/predict.hpp"
#include "tamis/text.hpp"

namespace tamis::python {
namespace {

bool takes_any_columns(const Model& model) {
  const ExpansionParts* parts = expansion_parts(model);
  return parts != nullptr && (parts->any_columns || parts->kernel.type == KernelType::precomputed);
}

/// `model` is None for training rows.
Dataset read_rows(const std::string& path, const py::object& model, bool text_labels,
                  bool missing_values, bool text_columns, int threads, std::int64_t memory_bytes) {
  ReadOptions options;
  options.text_labels = text_labels;
  options.missing_values = missing_values;
  options.text_columns = text_columns;
  Model known;
  if (!model.is_none()) {
    known = model.cast<Model>();
    options.min_features = known.num_features();
    if (!takes_any_columns(known)) options.max_features = known.num_features();
    options.columns = known.columns();
  }
  Dataset data;
  run_listening(threads, memory_bytes, py::none(), [&](const RunControl& control) {
    data = read_dataset(path, options, control);
    if (model.is_none()) return;
    try {
      data = rows_for(known, data);
      if (!takes_any_columns(known) && data.cols() > known.num_features()) {
        throw DataError(counted(data.cols(), "column") + ", but the model has " +
                        counted(known.num_features(), "feature"));
      }
    } catch (const DataError& error) {
      throw DataError(path + ": " + error.what());
    }
  });
  return data;
}

/// The labels as a float64 array, or as codes (int32) and a list of names; None if there are none.
py::object labels_of(const Dataset& data) {
  const Labels& labels = data.labels();
  if (labels.kind() == LabelKind::none) return py::none();
  if (labels.kind() == LabelKind::text) {
    const Labels classes = distinct_classes(labels);
    return py::make_tuple(from_vector(encode_labels(labels, classes), {labels.size()}),
                          from_classes(classes));
  }
  std::vector<double> numbers;
  numbers.reserve(static_cast<std::size_t>(labels.size()));
  for (Index i = 0; i < labels.size(); ++i) numbers.push_back(labels.number(i));
  return from_vector(std::move(numbers), {labels.size()});
}

/// The position in `classes` of the labels of some rows.
py::array_t<std::int32_t> codes_of(const Dataset& data, const py::array_t<Index>& rows,
                                   const Labels& classes) {
  const std::vector<Index> chosen = to_vector(rows);
  return from_vector(encode_labels(data.labels().select(chosen), classes), {rows.size()});
}

/// The weight of the rows of each class.
py::array_t<double> class_weights(const Dataset& data, const Labels& classes) {
  std::vector<double> sums(static_cast<std::size_t>(classes.size()), 0.0);
  const std::vector<std::int32_t> codes = encode_labels(data.labels(), classes);
  for (std::size_t i = 0; i < codes.size(); ++i)
    sums[static_cast<std::size_t>(codes[i])] += data.weight(static_cast<Index>(i));
  return from_vector(std::move(sums), {classes.size()});
}

}  // namespace

void bind_reading(py::module_& module) {
  py::class_<Labels>(module, "Classes").def_property_readonly("names", from_classes);
  py::class_<Dataset>(module, "Rows")
      .def_property_readonly(
          "shape", [](const Dataset& data) { return py::make_tuple(data.rows(), data.cols()); })
      .def_property_readonly("is_sparse",
                             [](const Dataset& data) { return data.features().is_sparse(); })
      .def_property_readonly("column_names",
                             [](const Dataset& data) {
                               return std::vector<std::string>(data.feature_names().begin(),
                                                               data.feature_names().end());
                             })
      .def_property_readonly(
          "has_labels", [](const Dataset& data) { return data.labels().kind() != LabelKind::none; })
      .def_property_readonly("labels", labels_of)
      .def("classes", [](const Dataset& data) { return distinct_classes(data.labels()); })
      .def("codes", codes_of, py::arg("rows"), py::arg("classes"))
      .def("class_weights", class_weights, py::arg("classes"));
  module.def("read_rows", read_rows, py::arg("path"), py::arg("model"), py::arg("text_labels"),
             py::arg("missing_values"), py::arg("text_columns"), py::arg("threads"),
             py::arg("memory_bytes"));
}

}  // namespace tamis::python
