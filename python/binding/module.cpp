// tamis._core: what the estimators of python/tamis are built on. Not a public interface.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "arrays.hpp"
#include "dictionaries.hpp"
#include "listening.hpp"
#include "reading.hpp"
#include "tamis/calibrate.hpp"
#include "tamis/error.hpp"
#include "tamis/expansion.hpp"
#include "tamis/generate.hpp"
#include "tamis/io.hpp"
#include "tamis/predict.hpp"
#include "tamis/report_page.hpp"
#include "tamis/system.hpp"
#include "tamis/text.hpp"
#include "tamis/train.hpp"
#include "tamis/version.hpp"
#include "tasks.hpp"

namespace tamis::python {
namespace {

// pybind11 wants this signature. NOLINTNEXTLINE(performance-unnecessary-value-param)
void translate_error(std::exception_ptr error) {
  try {
    if (error) std::rethrow_exception(error);
  } catch (const ResourceError& e) {
    PyErr_SetString(PyExc_MemoryError, e.what());
  } catch (const IoError& e) {
    PyErr_SetString(PyExc_OSError, e.what());
  } catch (const Error& e) {  // InvalidArgument, DataError
    PyErr_SetString(PyExc_ValueError, e.what());
  }
}

/// A value by its Python type; None: automatic. Lists of pairs and dicts are numbers by label.
OptionValue to_option_value(const py::handle& value) {
  if (value.is_none()) return {};
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>();
  if (py::isinstance<py::int_>(value)) return value.cast<std::int64_t>();
  if (py::isinstance<py::float_>(value)) return value.cast<double>();
  if (py::isinstance<py::str>(value)) return value.cast<std::string>();
  if (py::isinstance<py::dict>(value)) {
    LabelNumbers numbers;
    for (const auto& [label, number] : value.cast<py::dict>())
      numbers.emplace_back(label.cast<std::string>(), number.cast<double>());
    return numbers;
  }
  return value.cast<std::vector<double>>();
}

py::object from_option_value(const OptionValue& value) {
  return std::visit(
      [](const auto& held) -> py::object {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>)
          return py::none();
        else
          return py::cast(held);
      },
      value);
}

std::string_view type_name(OptionType type) {
  constexpr std::string_view kNames[] = {"flag",   "integer", "number",
                                         "choice", "numbers", "labels"};
  return kNames[static_cast<int>(type)];
}

py::list option_table() {
  constexpr std::string_view kGroups[] = {"common", "kernel", "method"};
  const TrainOptions defaults;
  py::list table;
  for (const OptionDescription& option : train_option_table()) {
    py::dict entry;
    entry["name"] = option.name;
    entry["type"] = type_name(option.type);
    entry["group"] = kGroups[static_cast<int>(option.group)];
    entry["help"] = option.help;
    entry["range"] = option.range;
    entry["choices"] = option.choices;
    entry["unset"] = option.unset;
    entry["default"] = from_option_value(option.get(defaults));
    entry["default_help"] = option.default_help;
    entry["methods"] = option.methods;
    entry["task"] = option.task ? py::cast(task_name(*option.task)) : py::none();
    table.append(entry);
  }
  return table;
}

py::list method_table() {
  py::list table;
  for (const MethodInfo& method : methods()) {
    py::dict entry;
    entry["name"] = method.name;
    entry["summary"] = method.summary;
    entry["kind"] = method_kind_name(method.kind);
    entry["does_regression"] = method.does_regression;
    entry["uses_kernel"] = method.uses_kernel;
    entry["needs_features"] = method.needs_features;
    entry["options"] = method.options;
    entry["unused"] = method.unused;
    entry["unused_in_regression"] = method.unused_in_regression;
    table.append(entry);
  }
  return table;
}

/// `folds` that the probabilities are fitted with, or 0 for none; `run_tasks` as task_group() takes
/// it.
py::tuple train_model(const py::object& features, const py::object& targets,
                      const py::object& weights, const TrainOptions& options, int folds,
                      int threads, std::int64_t memory_bytes, const py::object& on_progress,
                      const py::object& columns, const py::object& run_tasks) {
  const bool from_file = py::isinstance<Dataset>(features);  // which nobody changes
  const auto owner = from_file ? nullptr : keep_alive(features);
  TrainResult result;
  {
    const Dataset data = to_dataset(features, targets, weights, owner, columns);
    const std::unique_ptr<Group> group = task_group(run_tasks);
    run_listening(threads, memory_bytes, on_progress, [&](const RunControl& given) {
      RunControl control = given;
      control.group = group.get();
      result = folds > 0
                   ? train_calibrated(data, options, folds, CalibrationMethod::sigmoid, control)
                   : train(data, options, control);
    });
  }
  // Some machines keep all rows, and share them with the data. The arrays are the caller's, who may
  // change them: such a machine gets a copy.
  if (owner.use_count() > 1) result.model = model_from_bytes(model_to_bytes(result.model));
  const auto to_array = [](std::vector<Index>& rows) {
    const auto count = static_cast<py::ssize_t>(rows.size());
    return from_vector(std::move(rows), {count});
  };
  return py::make_tuple(result.model, to_dict(result.report), to_array(result.report.support_rows),
                        to_array(result.report.chosen_rows));
}

/// Runs work that predicts these rows: where they are done in a moment, without a thread that
/// listens to Ctrl-C, which takes longer to start than a row takes.
void run_prediction(const Model& model, const Matrix& rows, int threads,
                    const py::object& on_progress,
                    const std::function<void(const RunControl&)>& work) {
  constexpr double kMoment = 4e6;  // features read: about a millisecond
  const double features = static_cast<double>(rows.rows()) * static_cast<double>(rows.cols()) *
                          static_cast<double>(1 + model.num_support_vectors());
  if (features <= kMoment)
    run_briefly(work);
  else
    run_listening(threads, 0, on_progress, work);
}

/// few_rows() that can be predicted as they are: a model of text columns takes words.
py::object few_rows_for(const Model& model, const py::object& features, py::ssize_t columns) {
  return model.columns().texts.empty() ? few_rows(features, columns) : py::none();
}

/// Class positions, or numbers.
py::object predict_rows(const Model& model, const py::object& features, int threads,
                        const py::object& on_progress) {
  const Matrix rows = to_matrix(features);
  std::vector<double> numbers;
  std::vector<std::int32_t> positions;
  run_prediction(model, rows, threads, on_progress, [&](const RunControl& control) {
    if (model.task() == Task::regression)
      numbers = decision_values(model, rows, control).values;
    else
      positions = predict_codes(model, rows, control);
  });
  if (model.task() == Task::regression) return from_vector(std::move(numbers), {rows.rows()});
  return from_vector(std::move(positions), {rows.rows()});
}

/// The values of classes, the class positions they stand for, and whether each column stands for a
/// pair of classes rather than for one.
py::tuple decide_rows(const Model& model, const py::object& features, int threads,
                      const py::object& on_progress) {
  const Matrix rows = to_matrix(features);
  DecisionValues values;
  std::vector<std::int32_t> positions;
  run_prediction(model, rows, threads, on_progress, [&](const RunControl& control) {
    values = decision_values(model, rows, control);
    positions = predict_codes(model, values, control);
  });
  const bool pairs = model.classes().size() > 1 && values.columns[0] != model.classes().name(0);
  return py::make_tuple(from_vector(std::move(values.values), {values.rows, values.cols}),
                        from_vector(std::move(positions), {values.rows}), pairs);
}

/// A column for each class of the model.
py::object probabilities_of_rows(const Model& model, const py::object& features, int threads,
                                 const py::object& on_progress) {
  const Matrix rows = to_matrix(features);
  Probabilities result;
  run_prediction(model, rows, threads, on_progress,
                 [&](const RunControl& control) { result = probabilities(model, rows, control); });
  return from_vector(std::move(result.values), {result.rows, result.cols});
}

/// Of the text columns of a model, by column.
std::map<Index, std::vector<std::string>> text_categories(const Model& model) {
  std::map<Index, std::vector<std::string>> result;
  for (const ColumnMap::Text& text : model.columns().texts) result[text.column] = text.categories;
  return result;
}

/// The problem is the options', but for these three: a hard margin has an infinite cost, which
/// nothing can be trained with.
py::dict certify_model(const Model& model, const py::object& features, const py::object& targets,
                       const py::object& weights, TrainOptions options, double cost, double tube,
                       double eps, int threads, std::int64_t memory_bytes,
                       const py::object& on_progress) {
  options.cost = cost;
  options.tube = tube;
  options.eps = eps;
  // Words are given as the numbers of the model's categories.
  const py::object columns = py::make_tuple(std::vector<std::string>(), text_categories(model));
  const Dataset data = to_dataset(features, targets, weights, keep_alive(features), columns);
  Certificate certificate;
  run_listening(threads, memory_bytes, on_progress, [&](const RunControl& control) {
    certificate = certify(model, data, options, control);
  });
  return to_dict(certificate);
}

/// The report page of a model, as text.
std::string model_page(const Model& model, const py::object& features, const py::object& targets,
                       const std::string& title, const std::string& measured_on, int threads,
                       const py::object& on_progress) {
  const py::object columns = py::make_tuple(std::vector<std::string>(), text_categories(model));
  const Dataset data = to_dataset(features, targets, py::none(), keep_alive(features), columns);
  ModelReport report;
  run_listening(threads, 0, on_progress, [&](const RunControl& control) {
    report = measure_model(model, data, nullptr, control);
  });
  report.measured_on = measured_on;
  return report_page(title, report);
}

/// `train` and `test` are (features, targets, weights, columns); without `test` (None),
/// `test_share` of the rows is drawn.
py::dict compare_methods(const std::vector<std::pair<std::string, TrainOptions>>& methods,
                         const py::tuple& train, const py::object& test, double test_share,
                         Index runs, int threads, std::int64_t memory_bytes,
                         const py::object& on_progress) {
  CompareOptions plan;
  plan.runs = runs;
  for (const auto& [name, options] : methods) plan.methods.push_back({name, options});
  const auto dataset = [](const py::tuple& parts) {
    return to_dataset(parts[0], parts[1], parts[2], keep_alive(parts[0]), parts[3]);
  };
  const Dataset rows = dataset(train);
  const Dataset test_rows = test.is_none() ? Dataset() : dataset(test.cast<py::tuple>());
  Comparison comparison;
  run_listening(threads, memory_bytes, on_progress, [&](const RunControl& control) {
    comparison = test.is_none() ? compare_split(rows, test_share, plan, control)
                                : compare(rows, test_rows, plan, control);
  });
  return to_dict(comparison);
}

// Views of a model's arrays are read-only and keep it alive.
py::capsule model_owner(const Model& model) {
  return {new Model(model), [](void* p) { delete static_cast<Model*>(p); }};
}

/// What a kernel expansion is made of, or None.
py::object expansion_dict(const Model& model) {
  const ExpansionParts* parts = expansion_parts(model);
  if (parts == nullptr) return py::none();
  const Index columns = parts->support_vectors.rows();
  const bool pairs = parts->decision == Decision::one_vs_one;
  const auto machines = static_cast<Index>(parts->offsets.size());
  const Index rows = pairs ? static_cast<Index>(parts->class_counts.size()) - 1 : machines;
  const py::capsule owner = model_owner(model);
  py::dict result;
  result["kernel"] = kernel_name(parts->kernel.type);
  result["gamma"] = parts->kernel.gamma;
  result["coef0"] = parts->kernel.coef0;
  result["degree"] = parts->kernel.degree;
  result["any_columns"] = parts->any_columns;
  result["support_vectors"] = from_matrix(parts->support_vectors, owner);
  result["coefficients"] =
      read_only_view(std::span<const double>(parts->coefficients), {rows, columns}, owner);
  result["offsets"] = read_only_view(std::span<const double>(parts->offsets), {machines}, owner);
  return result;
}

/// Weights and offsets of a linear machine, or None.
py::object linear_dict(const Model& model) {
  const LinearParts* parts = linear_parts(model);
  if (parts == nullptr) return py::none();
  const auto machines = static_cast<Index>(parts->offsets.size());
  const py::capsule owner = model_owner(model);
  py::dict result;
  result["weights"] = read_only_view(std::span<const double>(parts->weights),
                                     {machines, parts->num_features}, owner);
  result["offsets"] = read_only_view(std::span<const double>(parts->offsets), {machines}, owner);
  return result;
}

py::tuple generate_rows(const std::string& name, Index rows, std::uint64_t seed) {
  GenerateOptions options;
  options.rows = rows;
  options.seed = seed;
  const Dataset data = generate(name, options).data;
  std::vector<double> labels;
  for (Index i = 0; i < data.rows(); ++i) labels.push_back(data.labels().number(i));
  const Matrix& features = data.features();
  const py::capsule owner(new Matrix(features), [](void* p) { delete static_cast<Matrix*>(p); });
  return py::make_tuple(from_matrix(features, owner),
                        from_vector(std::move(labels), {data.rows()}));
}

void bind_options(py::module_& module) {
  py::class_<TrainOptions>(module, "Options")
      .def(py::init<>())
      .def("set",
           [](TrainOptions& options, const std::string& name, const py::handle& value) {
             const OptionDescription& option = find_option(name);
             option.set(options, to_option_value(value));
             option.check(options);
           })
      .def("validate", &TrainOptions::validate);
  module.def("option_table", option_table);
  module.def("method_table", method_table);
}

void bind_model(py::module_& module) {
  py::class_<Model>(module, "Model")
      .def_property_readonly(
          "task", [](const Model& model) { return std::string(task_name(model.task())); })
      .def_property_readonly("method", &Model::method)
      .def_property_readonly("classes",
                             [](const Model& model) { return from_classes(model.classes()); })
      .def_property_readonly("num_features", &Model::num_features)
      .def_property_readonly("num_support_vectors", &Model::num_support_vectors)
      .def_property_readonly("feature_weights",
                             [](const Model& model) {
                               const std::vector<float>& weights = model.scaling().weights;
                               return py::array_t<float>(std::ssize(weights), weights.data());
                             })
      .def_property_readonly("metric_matrix",
                             [](const Model& model) {
                               const Scaling& scaling = model.scaling();
                               const py::ssize_t n =
                                   scaling.matrix.empty() ? 0 : std::ssize(scaling.offset);
                               return py::array_t<float>({n, n}, scaling.matrix.data());
                             })
      .def_property_readonly("imputes",
                             [](const Model& model) { return !model.columns().fills.empty(); })
      .def_property_readonly("text_categories", text_categories)
      .def_property_readonly("trained_columns",
                             [](const Model& model) { return model.columns().output_names(); })
      .def("describe", &Model::describe)
      .def("expansion", expansion_dict)
      .def("linear", linear_dict)
      .def_property_readonly("has_probabilities", &Model::has_probabilities)
      .def("probabilities", probabilities_of_rows, py::arg("features"), py::arg("threads"),
           py::arg("on_progress"))
      .def("few_rows", few_rows_for, py::arg("features"), py::arg("columns"))
      .def("predict", predict_rows, py::arg("features"), py::arg("threads"), py::arg("on_progress"))
      .def("decision_values", decide_rows, py::arg("features"), py::arg("threads"),
           py::arg("on_progress"))
      .def("save",
           [](const Model& model, const std::string& path, bool libsvm) {
             const py::gil_scoped_release no_python;
             save_model(model, path, libsvm ? ModelFormat::libsvm : ModelFormat::native);
           })
      .def(py::pickle([](const Model& model) { return py::bytes(model_to_bytes(model)); },
                      [](const py::bytes& bytes) { return model_from_bytes(bytes); }));
  module.def("train", train_model, py::arg("features"), py::arg("targets"), py::arg("weights"),
             py::arg("options"), py::arg("folds"), py::arg("threads"), py::arg("memory_bytes"),
             py::arg("on_progress"), py::arg("columns") = py::none(),
             py::arg("run_tasks") = py::none());
  module.def("certify", certify_model, py::arg("model"), py::arg("features"), py::arg("targets"),
             py::arg("weights"), py::arg("options"), py::arg("cost"), py::arg("tube"),
             py::arg("eps"), py::arg("threads"), py::arg("memory_bytes"), py::arg("on_progress"));
  module.def("model_page", model_page, py::arg("model"), py::arg("features"), py::arg("targets"),
             py::arg("title"), py::arg("measured_on"), py::arg("threads"), py::arg("on_progress"));
  module.def("write_text",
             [](const std::string& path, const std::string& text) { write_text(path, text); });
  module.def("compare", compare_methods, py::arg("methods"), py::arg("train"), py::arg("test"),
             py::arg("test_share"), py::arg("runs"), py::arg("threads"), py::arg("memory_bytes"),
             py::arg("on_progress"));
  module.def("parse_bytes", parse_bytes);
  module.def("counted",
             [](std::int64_t count, const std::string& one) { return counted(count, one); });
  module.def("load_model", [](const std::string& path) {
    const py::gil_scoped_release no_python;
    return load_model(path);
  });
}

}  // namespace
}  // namespace tamis::python

PYBIND11_MODULE(_core, module) {
  namespace bindings = tamis::python;
  module.attr("version") = TAMIS_VERSION;
  pybind11::register_exception_translator(&bindings::translate_error);
  bindings::bind_options(module);
  bindings::bind_reading(module);
  bindings::bind_tasks(module);
  bindings::bind_model(module);
  module.def("generate", bindings::generate_rows);
  module.def("available_threads", tamis::available_threads);
  module.def("release_worker_threads", tamis::release_worker_threads);
}
