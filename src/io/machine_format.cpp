#include "io/machine_format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "io/flat_json.hpp"
#include "io/text_chunks.hpp"
#include "model/kernel_expansion.hpp"
#include "model/knn_machines.hpp"
#include "model/linear_machine.hpp"
#include "model/local_models.hpp"
#include "model/weighted_ensemble.hpp"
#include "tamis/version.hpp"

namespace tamis {
namespace {

using nlohmann::json;

// As JSON has it: 1.0, not 1.
std::string number_text(double value) { return json(value).dump(); }

std::string kernel_text(const Kernel& kernel) {
  return fmt::format(R"({{"coef0":{},"degree":{},"gamma":{},"type":"{}"}})",
                     number_text(kernel.coef0), kernel.degree, number_text(kernel.gamma),
                     kernel_name(kernel.type));
}

// null if there is none: whatever is asked of that is an exception of json.
const json& field(const std::map<std::string, json>& values, const char* name) {
  static const json nothing;
  const auto found = values.find(name);
  return found == values.end() ? nothing : found->second;
}

// A number that is not whole is refused before it becomes an integer: a cast of one that is out of
// range is undefined.
template <typename Integer>
Integer whole_number(const json& value) {
  return value.is_number_integer() ? value.get<Integer>() : json().get<Integer>();
}

Kernel get_kernel(const TensorFile& file, const std::string& prefix) {
  const std::string& text = file.metadata(prefix + "kernel");
  try {
    const auto value = parse_flat_json(text);
    Kernel kernel;
    kernel.type = parse_name(file, field(value, "type").get<std::string>(), parse_kernel_type);
    kernel.gamma = field(value, "gamma").get<double>();
    kernel.coef0 = field(value, "coef0").get<double>();
    const json& degree = field(value, "degree");
    // Checked before it becomes an int: a cast of a number out of range is undefined.
    if (!degree.is_number_integer() || degree < 1 || degree > 100)
      throw DataError(
          fmt::format("the kernel's degree is {}: it must be 1 to 100", quote_text(degree.dump())));
    kernel.degree = degree.get<int>();
    kernel.validate();
    return kernel;
  } catch (const json::exception&) {
    throw DataError(fmt::format(
        "'kernel' is {}: it must be JSON with type, gamma, coef0 and degree", quote_text(text)));
  } catch (const InvalidArgument& error) {
    throw DataError(error.what());
  }
}

Index parse_count(const TensorFile& file, const std::string& key) {
  const std::string& text = file.metadata(key);
  Index value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  // Columns are numbered with 32 bits.
  const bool is_count = result.ec == std::errc() && result.ptr == text.data() + text.size() &&
                        value >= 0 && value <= std::numeric_limits<std::int32_t>::max();
  if (!is_count) {
    throw DataError(fmt::format("'{}' is {}: it must be a whole number from 0 to {}", key,
                                quote_text(text), std::numeric_limits<std::int32_t>::max()));
  }
  return value;
}

Decision get_decision(const TensorFile& file, const std::string& prefix) {
  return parse_name(file, file.metadata(prefix + "decision"), parse_decision);
}

template <typename T>
std::vector<T> to_vector(std::span<const T> values) {
  return {values.begin(), values.end()};
}

void add_expansion(TensorWriter& writer, const std::string& prefix, const Machine& machine) {
  const auto& expansion = dynamic_cast<const KernelExpansion&>(machine);
  const ExpansionParts& parts = expansion.parts();
  const Index l = expansion.num_support_vectors();
  const Index coefficient_rows = parts.decision == Decision::one_vs_one
                                     ? static_cast<Index>(parts.class_counts.size()) - 1
                                     : expansion.num_machines();
  writer.set_metadata(prefix + "kernel", kernel_text(parts.kernel));
  writer.set_metadata(prefix + "decision", std::string(decision_name(parts.decision)));
  writer.set_metadata(prefix + "columns", std::to_string(parts.support_vectors.cols()));
  if (parts.any_columns) writer.set_metadata(prefix + "any_columns", "true");
  add_matrix(writer, prefix + "support_vectors", parts.support_vectors);
  writer.add(prefix + "coefficients", {coefficient_rows, l},
             std::span<const double>(parts.coefficients));
  writer.add(prefix + "offsets", {expansion.num_machines()},
             std::span<const double>(parts.offsets));
  if (parts.decision == Decision::one_vs_one) {
    writer.add(prefix + "class_counts", {static_cast<Index>(parts.class_counts.size())},
               std::span<const Index>(parts.class_counts));
  }
}

std::shared_ptr<const Machine> get_expansion(const TensorFile& file, const std::string& prefix,
                                             LocalTrainer /*trainer*/) {
  ExpansionParts parts;
  parts.kernel = get_kernel(file, prefix);
  parts.decision = get_decision(file, prefix);
  parts.any_columns =
      file.has_metadata(prefix + "any_columns") && file.metadata(prefix + "any_columns") == "true";
  parts.support_vectors =
      get_matrix(file, prefix + "support_vectors", parse_count(file, prefix + "columns"));
  parts.coefficients = to_vector(file.get<double>(prefix + "coefficients", 2).values);
  parts.offsets = to_vector(file.get<double>(prefix + "offsets", 1).values);
  if (parts.decision == Decision::one_vs_one)
    parts.class_counts = to_vector(file.get<Index>(prefix + "class_counts", 1).values);
  return std::make_shared<const KernelExpansion>(std::move(parts));
}

template <typename T>
void add_array(TensorWriter& writer, const std::string& name, const SharedArray<T>& values) {
  writer.add(name, {values.size()}, values.span());
}

template <typename T>
SharedArray<T> get_array(const TensorFile& file, const std::string& name) {
  return {file.get<T>(name, 1).values, file.owner()};
}

template <typename T>
SharedArray<T> get_array_if_any(const TensorFile& file, const std::string& name) {
  return file.has(name) ? get_array<T>(file, name) : SharedArray<T>();
}

void add_local_models(TensorWriter& writer, const std::string& prefix, const Machine& machine) {
  const LocalParts& parts = dynamic_cast<const LocalModels&>(machine).parts();
  writer.set_metadata(prefix + "kernel", kernel_text(parts.kernel));
  writer.set_metadata(prefix + "columns", std::to_string(parts.rows.cols()));
  writer.set_metadata(prefix + "num_classes", std::to_string(parts.num_classes));
  add_matrix(writer, prefix + "rows", parts.rows);
  if (!parts.anchors.empty()) add_array(writer, prefix + "anchors", parts.anchors);
  if (!parts.machine_of_anchor.empty())
    add_array(writer, prefix + "machine_of_anchor", parts.machine_of_anchor);
  add_array(writer, prefix + "only_class", parts.only_class);
  if (!parts.gammas.empty()) add_array(writer, prefix + "gammas", parts.gammas);
  add_array(writer, prefix + "pair_begin", parts.pair_begin);
  add_array(writer, prefix + "pair_classes", parts.pair_classes);
  add_array(writer, prefix + "offsets", parts.offsets);
  add_array(writer, prefix + "term_begin", parts.term_begin);
  add_array(writer, prefix + "term_rows", parts.term_rows);
  add_array(writer, prefix + "coefficients", parts.coefficients);
}

std::shared_ptr<const Machine> get_local_models(const TensorFile& file, const std::string& prefix,
                                                LocalTrainer /*trainer*/) {
  LocalParts parts;
  parts.kernel = get_kernel(file, prefix);
  parts.num_classes = parse_count(file, prefix + "num_classes");
  parts.rows = get_matrix(file, prefix + "rows", parse_count(file, prefix + "columns"));
  parts.anchors = get_array_if_any<Index>(file, prefix + "anchors");
  parts.machine_of_anchor = get_array_if_any<std::int32_t>(file, prefix + "machine_of_anchor");
  parts.only_class = get_array<std::int32_t>(file, prefix + "only_class");
  parts.gammas = get_array_if_any<double>(file, prefix + "gammas");
  parts.pair_begin = get_array<Index>(file, prefix + "pair_begin");
  parts.pair_classes = get_array<std::int32_t>(file, prefix + "pair_classes");
  parts.offsets = get_array<double>(file, prefix + "offsets");
  parts.term_begin = get_array<Index>(file, prefix + "term_begin");
  parts.term_rows = get_array<Index>(file, prefix + "term_rows");
  parts.coefficients = get_array<double>(file, prefix + "coefficients");
  return std::make_shared<const LocalModels>(std::move(parts));
}

void add_lazy(TensorWriter& writer, const std::string& prefix, const Machine& machine) {
  const LazyParts& parts = dynamic_cast<const LazyMachine&>(machine).parts();
  writer.set_metadata(prefix + "kernel", kernel_text(parts.kernel));
  writer.set_metadata(prefix + "columns", std::to_string(parts.rows.cols()));
  writer.set_metadata(prefix + "num_classes", std::to_string(parts.num_classes));
  writer.set_metadata(prefix + "k", std::to_string(parts.k));
  add_matrix(writer, prefix + "rows", parts.rows);
  if (parts.num_classes > 0)
    add_array(writer, prefix + "codes", parts.codes);
  else
    add_array(writer, prefix + "targets", parts.targets);
  add_array(writer, prefix + "cost", parts.cost);
}

LazyParts get_lazy(const TensorFile& file, const std::string& prefix) {
  LazyParts parts;
  parts.kernel = get_kernel(file, prefix);
  parts.num_classes = parse_count(file, prefix + "num_classes");
  parts.k = parse_count(file, prefix + "k");
  parts.rows = get_matrix(file, prefix + "rows", parse_count(file, prefix + "columns"));
  parts.codes = get_array_if_any<std::int32_t>(file, prefix + "codes");
  parts.targets = get_array_if_any<double>(file, prefix + "targets");
  parts.cost = get_array<double>(file, prefix + "cost");
  return parts;
}

std::shared_ptr<const Machine> get_knn(const TensorFile& file, const std::string& prefix,
                                       LocalTrainer /*trainer*/) {
  return std::make_shared<const KnnMachine>(get_lazy(file, prefix));
}

void add_knn_svm(TensorWriter& writer, const std::string& prefix, const Machine& machine) {
  add_lazy(writer, prefix, machine);
  const LazySettings& settings = dynamic_cast<const KnnSvmMachine&>(machine).settings();
  writer.set_metadata(
      prefix + "training",
      fmt::format(R"({{"eps":{},"max_iterations":{},"seed":{},"squared_slacks":{},"tube":{}}})",
                  number_text(settings.eps), settings.max_iterations, settings.seed,
                  settings.loss == SlackLoss::l2, number_text(settings.tube)));
}

std::shared_ptr<const Machine> get_knn_svm(const TensorFile& file, const std::string& prefix,
                                           LocalTrainer trainer) {
  LazyParts parts = get_lazy(file, prefix);
  LazySettings settings;
  const std::string& text = file.metadata(prefix + "training");
  try {
    const auto value = parse_flat_json(text);
    settings.loss = field(value, "squared_slacks").get<bool>() ? SlackLoss::l2 : SlackLoss::l1;
    settings.tube = field(value, "tube").get<double>();
    settings.eps = field(value, "eps").get<double>();
    settings.max_iterations = whole_number<std::int64_t>(field(value, "max_iterations"));
    settings.seed = whole_number<std::uint64_t>(field(value, "seed"));
  } catch (const json::exception&) {
    throw DataError(fmt::format(
        "'training' is {}: it must be JSON with squared_slacks, tube, eps, max_iterations and seed",
        quote_text(text)));
  }
  if (!(settings.tube >= 0 && std::isfinite(settings.tube) && settings.eps > 0 &&
        std::isfinite(settings.eps) && settings.max_iterations >= 0))
    throw DataError(fmt::format(
        "'training' is {}: tube and max_iterations must be at least 0, eps above 0, all finite",
        quote_text(text)));
  return std::make_shared<const KnnSvmMachine>(std::move(parts), settings, trainer);
}

void add_linear(TensorWriter& writer, const std::string& prefix, const Machine& machine) {
  const LinearParts& parts = dynamic_cast<const LinearMachine&>(machine).parts();
  const auto machines = static_cast<Index>(parts.offsets.size());
  writer.set_metadata(prefix + "decision", std::string(decision_name(parts.decision)));
  writer.add(prefix + "weights", {machines, parts.num_features},
             std::span<const double>(parts.weights));
  writer.add(prefix + "offsets", {machines}, std::span<const double>(parts.offsets));
}

std::shared_ptr<const Machine> get_linear(const TensorFile& file, const std::string& prefix,
                                          LocalTrainer /*trainer*/) {
  LinearParts parts;
  parts.decision = get_decision(file, prefix);
  const Tensor<double> weights = file.get<double>(prefix + "weights", 2);
  parts.num_features = weights.shape[1];
  // Columns are numbered with 32 bits.
  if (parts.num_features > std::numeric_limits<std::int32_t>::max())
    throw DataError(fmt::format("'weights' has {} columns: {} at most", parts.num_features,
                                std::numeric_limits<std::int32_t>::max()));
  parts.weights = to_vector(weights.values);
  parts.offsets = to_vector(file.get<double>(prefix + "offsets", 1).values);
  return std::make_shared<const LinearMachine>(std::move(parts));
}

void add_ensemble(TensorWriter& writer, const std::string& prefix, const Machine& machine) {
  const EnsembleParts& parts = dynamic_cast<const WeightedEnsemble&>(machine).parts();
  writer.set_metadata(prefix + "kernel", kernel_text(parts.kernel));
  writer.set_metadata(prefix + "decision", std::string(decision_name(parts.decision)));
  writer.set_metadata(prefix + "columns", std::to_string(parts.support_vectors.cols()));
  add_matrix(writer, prefix + "support_vectors", parts.support_vectors);
  const auto add = [&](const char* name, const auto& values) {
    writer.add(prefix + name, {static_cast<Index>(values.size())}, std::span(values));
  };
  add("member_begin", parts.member_begin);
  add("offsets", parts.offsets);
  add("weights", parts.weights);
  add("gammas", parts.gammas);
  if (!parts.kernel_types.empty()) add("kernel_types", parts.kernel_types);
  if (!parts.sigmoid_slopes.empty()) {
    add("sigmoid_slopes", parts.sigmoid_slopes);
    add("sigmoid_intercepts", parts.sigmoid_intercepts);
  }
  add("member_offsets", parts.member_offsets);
  add("term_begin", parts.term_begin);
  add("term_vectors", parts.term_vectors);
  add("coefficients", parts.coefficients);
}

std::shared_ptr<const Machine> get_ensemble(const TensorFile& file, const std::string& prefix,
                                            LocalTrainer /*trainer*/) {
  EnsembleParts parts;
  parts.kernel = get_kernel(file, prefix);
  parts.decision = get_decision(file, prefix);
  parts.support_vectors =
      get_matrix(file, prefix + "support_vectors", parse_count(file, prefix + "columns"));
  const auto numbers = [&](const char* name) {
    return to_vector(file.get<double>(prefix + name, 1).values);
  };
  const auto indices = [&](const char* name) {
    return to_vector(file.get<Index>(prefix + name, 1).values);
  };
  parts.member_begin = indices("member_begin");
  parts.offsets = numbers("offsets");
  parts.weights = numbers("weights");
  parts.gammas = numbers("gammas");
  if (file.has(prefix + "kernel_types")) parts.kernel_types = indices("kernel_types");
  if (file.has(prefix + "sigmoid_slopes")) {
    parts.sigmoid_slopes = numbers("sigmoid_slopes");
    parts.sigmoid_intercepts = numbers("sigmoid_intercepts");
  }
  parts.member_offsets = numbers("member_offsets");
  parts.term_begin = indices("term_begin");
  parts.term_vectors = indices("term_vectors");
  parts.coefficients = numbers("coefficients");
  return std::make_shared<const WeightedEnsemble>(std::move(parts));
}

struct MachineFormat {
  std::string_view kind;
  void (*add)(TensorWriter&, const std::string&, const Machine&);
  std::shared_ptr<const Machine> (*get)(const TensorFile&, const std::string&, LocalTrainer);
};

constexpr MachineFormat kFormats[] = {
    {"kernel-expansion", add_expansion, get_expansion},
    {"local-models", add_local_models, get_local_models},
    {"knn", add_lazy, get_knn},
    {"knn-svm", add_knn_svm, get_knn_svm},
    {"linear", add_linear, get_linear},
    {"weighted-ensemble", add_ensemble, get_ensemble},
};

const MachineFormat& find_format(std::string_view kind) {
  for (const MachineFormat& format : kFormats) {
    if (format.kind == kind) return format;
  }
  throw DataError(fmt::format("the model is of the kind {}, but tamis {} knows only {}",
                              quote_text(kind), TAMIS_VERSION, fmt::join(machine_kinds(), ", ")));
}

}  // namespace

std::vector<std::string_view> machine_kinds() {
  std::vector<std::string_view> kinds;
  for (const MachineFormat& format : kFormats) kinds.push_back(format.kind);
  return kinds;
}

std::string newer_version_advice(const TensorFile& file) {
  if (!file.has_metadata("tamis_version"))
    return "if the file is not damaged, use a newer version of tamis";
  return fmt::format(
      "if the file is not damaged, use the version that wrote it, tamis {}, or a newer one",
      file.metadata("tamis_version"));
}

void add_machine(TensorWriter& writer, const std::string& prefix, const Machine& machine) {
  writer.set_metadata(prefix + "kind", std::string(machine.kind()));
  find_format(machine.kind()).add(writer, prefix, machine);
}

std::shared_ptr<const Machine> get_machine(const TensorFile& file, const std::string& prefix,
                                           LocalTrainer trainer) {
  const std::string& kind = file.metadata(prefix + "kind");
  return parse_name(file, kind, find_format).get(file, prefix, trainer);
}

}  // namespace tamis
