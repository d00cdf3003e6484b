#include "io/native_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "calibration/calibration.hpp"
#include "io/machine_format.hpp"
#include "io/tensor_file.hpp"
#include "io/text_chunks.hpp"
#include "model/model_parts.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"
#include "tamis/version.hpp"

namespace tamis {
namespace {

// Raised when an older tamis would misread a file. Files of every version stay readable; see
// docs/model_format.md. Version 2: the columns of the rows are not those of the machine.
constexpr int kFormatVersion = 2;
constexpr int kPlainVersion = 1;

template <typename T>
std::string shortest_text(T value) {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, result.ptr};
}

template <typename T>
T parse_metadata(const TensorFile& file, const std::string& key) {
  const std::string& text = file.metadata(key);
  T value{};
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size())
    throw DataError(fmt::format("'{}' is {}: it must be a {}number", key, quote_text(text),
                                std::is_integral_v<T> ? "whole " : ""));
  return value;
}

Task parse_task(const std::string& name) {
  for (const Task task : {Task::classification, Task::regression}) {
    if (name == task_name(task)) return task;
  }
  throw DataError(
      fmt::format("there is no task {}: classification or regression", quote_text(name)));
}

void check_format(const TensorFile& file) {
  if (!file.has_metadata("format") || file.metadata("format") != "tamis")
    throw DataError("not a model file: the metadata do not say that the format is tamis");
  const int version = parse_metadata<int>(file, "format_version");
  if (version < 1)
    throw DataError(fmt::format("the model has format version {}: it must be 1 or above", version));
  if (version > kFormatVersion) {
    throw DataError(fmt::format("the model has format version {}, but tamis {} reads up to {}; {}",
                                version, TAMIS_VERSION, kFormatVersion,
                                newer_version_advice(file)));
  }
}

void add_classes(TensorWriter& writer, const Labels& classes) {
  const Index count = classes.size();
  if (classes.kind() == LabelKind::numeric) {
    std::vector<double> values;
    for (Index c = 0; c < count; ++c) values.push_back(classes.number(c));
    writer.add("classes", {count}, std::move(values));
  } else if (classes.kind() == LabelKind::text) {
    std::vector<std::string> names;
    for (Index c = 0; c < count; ++c) names.push_back(classes.name(c));
    add_words(writer, "class_name_ends", "class_names", names);
  }
}

Labels get_classes(const TensorFile& file) {
  Labels classes;
  if (file.has("classes")) {
    const auto values = file.get<double>("classes", 1).values;
    if (!std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); }))
      throw DataError("'classes' has a value that is not finite");
    classes = Labels::numeric({values.begin(), values.end()});
  } else {
    classes = Labels::text(get_words(file, "class_name_ends", "class_names"));
  }
  std::set<std::string> distinct;
  for (Index c = 0; c < classes.size(); ++c) distinct.insert(classes.name(c));
  if (static_cast<Index>(distinct.size()) != classes.size())
    throw DataError("two classes have the same name");
  return classes;
}

// A reader that does not know the matrix must not predict without it: it refuses this name.
constexpr std::string_view kMixed = "mixed";

void add_scaling(TensorWriter& writer, const Scaling& scaling) {
  const std::string method(scaling_name(scaling.method));
  writer.set_metadata("scaling", scaling.matrix.empty() ? method : std::string(kMixed));
  if (scaling.is_identity()) return;
  writer.set_metadata("scaling_lower", shortest_text(scaling.lower));
  const auto cols = static_cast<Index>(scaling.offset.size());
  writer.add("scaling_offset", {cols}, std::span<const float>(scaling.offset));
  writer.add("scaling_factor", {cols}, std::span<const float>(scaling.factor));
  if (!scaling.weights.empty())
    writer.add("feature_weights", {cols}, std::span<const float>(scaling.weights));
  if (!scaling.matrix.empty()) {
    writer.set_metadata("scaling_of_columns", method);
    writer.add("scaling_matrix", {cols, cols}, std::span<const float>(scaling.matrix));
  }
  if (scaling.method != ScalingMethod::quantile) return;
  const auto knots = static_cast<Index>(scaling.knots.values.size());
  writer.add("scaling_knot_begin", {cols + 1}, std::span<const Index>(scaling.knots.begin));
  writer.add("scaling_knots", {knots}, std::span<const float>(scaling.knots.values));
  writer.add("scaling_scores", {knots}, std::span<const float>(scaling.knots.scores));
}

Scaling get_scaling(const TensorFile& file, Index cols) {
  Scaling scaling;
  const bool is_mixed = file.metadata("scaling") == kMixed;
  scaling.method = parse_name(file, file.metadata(is_mixed ? "scaling_of_columns" : "scaling"),
                              parse_scaling_method);
  if (is_mixed && scaling.is_identity())
    throw DataError("'scaling_of_columns' is none, and there is a matrix");
  if (scaling.is_identity()) return scaling;
  const auto numbers = [&](const char* name) {
    const auto values = file.get<float>(name, 1).values;
    if (!std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); }))
      throw DataError(fmt::format("a value of '{}' is not finite", name));
    return std::vector<float>(values.begin(), values.end());
  };
  const auto column_values = [&](const char* name) {
    std::vector<float> values = numbers(name);
    if (static_cast<Index>(values.size()) != cols)
      throw DataError(fmt::format("'{}' has {}, but the model has {}", name,
                                  counted(values.size(), "column"), cols));
    return values;
  };
  scaling.lower = parse_metadata<float>(file, "scaling_lower");
  if (!std::isfinite(scaling.lower)) throw DataError("'scaling_lower' is not finite");
  scaling.offset = column_values("scaling_offset");
  scaling.factor = column_values("scaling_factor");
  if (file.has("feature_weights")) scaling.weights = column_values("feature_weights");
  if (is_mixed) {
    const auto values = file.get<float>("scaling_matrix", 2).values;
    scaling.matrix.assign(values.begin(), values.end());
    if (scaling.matrix.empty()) throw DataError("'scaling_matrix' is empty");
  }
  if (scaling.method == ScalingMethod::quantile) {
    const auto begin = file.get<Index>("scaling_knot_begin", 1).values;
    scaling.knots.begin.assign(begin.begin(), begin.end());
    scaling.knots.values = numbers("scaling_knots");
    scaling.knots.scores = numbers("scaling_scores");
  }
  scaling.validate();
  return scaling;
}

// Names alone change nothing for a reader that does not know them: the file keeps its version.
void add_columns(TensorWriter& writer, const ColumnMap& columns) {
  if (!columns.names.empty()) add_words(writer, "column_name_ends", "column_names", columns.names);
  if (columns.is_identity()) return;
  writer.set_metadata("column_inputs", shortest_text(columns.inputs));
  if (!columns.fills.empty())
    writer.add("column_fills", {columns.inputs}, std::span<const float>(columns.fills));
  writer.add("column_indicators", {std::ssize(columns.indicators)},
             std::span<const Index>(columns.indicators));
  std::vector<Index> places;
  std::vector<Index> ends;
  std::vector<std::uint8_t> others;
  std::vector<std::string> names;
  for (const ColumnMap::Text& text : columns.texts) {
    places.push_back(text.column);
    others.push_back(text.has_other ? 1 : 0);
    names.insert(names.end(), text.categories.begin(), text.categories.end());
    ends.push_back(std::ssize(names));
  }
  const Index count = std::ssize(places);
  writer.add("text_columns", {count}, std::move(places));
  writer.add("text_has_other", {count}, std::move(others));
  writer.add("text_category_ends", {count}, std::move(ends));
  add_words(writer, "category_name_ends", "category_names", names);
}

void get_texts(const TensorFile& file, ColumnMap* columns) {
  const auto places = file.get<Index>("text_columns", 1).values;
  const auto others = file.get<std::uint8_t>("text_has_other", 1).values;
  const auto ends = file.get<Index>("text_category_ends", 1).values;
  const std::vector<std::string> names = get_words(file, "category_name_ends", "category_names");
  if (others.size() != places.size() || ends.size() != places.size())
    throw DataError("'text_columns', 'text_has_other' and 'text_category_ends' differ in length");
  Index begin = 0;
  for (std::size_t t = 0; t < places.size(); ++t) {
    if (ends[t] < begin || ends[t] > std::ssize(names))
      throw DataError(fmt::format("'text_category_ends' has {}: it must ascend from 0 to {}",
                                  ends[t], names.size()));
    if (others[t] > 1) throw DataError("'text_has_other' has a value that is not 0 or 1");
    columns->texts.push_back(
        {places[t], {names.begin() + begin, names.begin() + ends[t]}, others[t] == 1});
    begin = ends[t];
  }
}

ColumnMap get_columns(const TensorFile& file, Index machine_columns) {
  ColumnMap columns;
  if (file.has("column_names")) {
    columns.names = get_words(file, "column_name_ends", "column_names");
    columns.inputs = std::ssize(columns.names);
  }
  if (file.has_metadata("column_inputs")) {
    columns.inputs = parse_metadata<Index>(file, "column_inputs");
    if (file.has("column_fills")) {
      const auto fills = file.get<float>("column_fills", 1).values;
      columns.fills.assign(fills.begin(), fills.end());
    }
    const auto indicators = file.get<Index>("column_indicators", 1).values;
    columns.indicators.assign(indicators.begin(), indicators.end());
    get_texts(file, &columns);
  }
  columns.validate();
  if (columns.inputs > 0 && columns.outputs() != machine_columns)
    throw DataError(fmt::format("the columns of the rows become {}, but the model has {}",
                                counted(columns.outputs(), "column"), machine_columns));
  return columns;
}

// Sigmoids are a pair of numbers a machine; isotonic points of all machines lie in a row.
void add_calibration(TensorWriter& writer, const Calibration& calibration) {
  writer.set_metadata("calibration", std::string(calibration_name(calibration.method)));
  const auto machines = static_cast<Index>(calibration.machines.size());
  std::vector<double> sigmoids;
  std::vector<double> values;
  std::vector<double> probabilities;
  std::vector<Index> ends;
  for (const Calibrator& machine : calibration.machines) {
    sigmoids.insert(sigmoids.end(), {machine.slope, machine.intercept});
    values.insert(values.end(), machine.values.begin(), machine.values.end());
    probabilities.insert(probabilities.end(), machine.probabilities.begin(),
                         machine.probabilities.end());
    ends.push_back(static_cast<Index>(values.size()));
  }
  if (calibration.method == CalibrationMethod::sigmoid) {
    writer.add("calibration_sigmoids", {machines, 2}, std::move(sigmoids));
    return;
  }
  const auto points = static_cast<Index>(values.size());
  writer.add("calibration_values", {points}, std::move(values));
  writer.add("calibration_probabilities", {points}, std::move(probabilities));
  writer.add("calibration_ends", {machines}, std::move(ends));
}

void get_sigmoids(const TensorFile& file, Calibration* calibration) {
  const Tensor<double> numbers = file.get<double>("calibration_sigmoids", 2);
  if (numbers.shape[1] != 2) {
    throw DataError(
        fmt::format("'calibration_sigmoids' has {} columns: it must have 2", numbers.shape[1]));
  }
  for (std::size_t m = 0; m + 1 < numbers.values.size(); m += 2) {
    Calibrator machine;
    machine.slope = numbers.values[m];
    machine.intercept = numbers.values[m + 1];
    calibration->machines.push_back(std::move(machine));
  }
}

void get_points(const TensorFile& file, Calibration* calibration) {
  const auto values = file.get<double>("calibration_values", 1).values;
  const auto probabilities = file.get<double>("calibration_probabilities", 1).values;
  if (values.size() != probabilities.size())
    throw DataError(
        fmt::format("'calibration_values' has {} points, but 'calibration_probabilities' has {}",
                    values.size(), probabilities.size()));
  Index begin = 0;
  for (const Index end : file.get<Index>("calibration_ends", 1).values) {
    if (end < begin || end > static_cast<Index>(values.size()))
      throw DataError(fmt::format("'calibration_ends' has {}: it must ascend from 0 to {}", end,
                                  values.size()));
    Calibrator machine;
    machine.values.assign(values.begin() + begin, values.begin() + end);
    machine.probabilities.assign(probabilities.begin() + begin, probabilities.begin() + end);
    calibration->machines.push_back(std::move(machine));
    begin = end;
  }
}

std::shared_ptr<const Calibration> get_calibration(const TensorFile& file, const Machine& machine,
                                                   const Labels& classes) {
  auto calibration = std::make_shared<Calibration>();
  calibration->method = parse_name(file, file.metadata("calibration"), parse_calibration_method);
  calibration->decision = machine.decision_shape().used();
  calibration->num_classes = classes.size();
  if (calibration->method == CalibrationMethod::sigmoid)
    get_sigmoids(file, calibration.get());
  else
    get_points(file, calibration.get());
  calibration->validate();
  return calibration;
}

}  // namespace

Model parse_native_model(InputBytes input, LocalTrainer trainer) {
  const TensorFile file(std::move(input));
  check_format(file);
  const Task task = parse_name(file, file.metadata("task"), parse_task);
  const bool is_regression = task == Task::regression;
  auto machine = get_machine(file, "", trainer);
  Labels classes = is_regression ? Labels() : get_classes(file);
  if (!is_regression && classes.empty()) throw DataError("the model has no classes");
  require_classes(machine->decision_shape(), classes);
  Scaling scaling = get_scaling(file, machine->num_features());
  ColumnMap columns = get_columns(file, machine->num_features());
  std::shared_ptr<const Calibration> calibration;
  if (!is_regression && file.has_metadata("calibration"))
    calibration = get_calibration(file, *machine, classes);
  const Model model = make_model(task, std::move(classes), std::move(scaling), std::move(machine),
                                 file.metadata("method"));
  return with_columns(with_calibration(model, std::move(calibration)), std::move(columns));
}

void write_native_model(const Model& model, ByteSink& out) {
  TensorWriter writer;
  writer.set_metadata("format", "tamis");
  writer.set_metadata(
      "format_version",
      std::to_string(model.columns().is_identity() ? kPlainVersion : kFormatVersion));
  writer.set_metadata("tamis_version", TAMIS_VERSION);
  writer.set_metadata("task", std::string(task_name(model.task())));
  writer.set_metadata("method", model.method());
  add_machine(writer, "", machine_of(model));
  add_classes(writer, model.classes());
  add_scaling(writer, model.scaling());
  add_columns(writer, model.columns());
  if (model.has_probabilities()) add_calibration(writer, calibration_of(model));
  writer.write(out);
}

}  // namespace tamis
