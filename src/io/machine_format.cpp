#include "io/machine_format.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

#include "model/kernel_expansion.hpp"
#include "model/linear_machine.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

using nlohmann::json;

std::string kernel_text(const Kernel& kernel) {
  return json{{"type", kernel_name(kernel.type)},
              {"gamma", kernel.gamma},
              {"coef0", kernel.coef0},
              {"degree", kernel.degree}}
      .dump();
}

Kernel parse_kernel(const std::string& text) {
  try {
    const json value = json::parse(text);
    Kernel kernel;
    kernel.type = parse_kernel_type(value.at("type").get<std::string>());
    kernel.gamma = value.at("gamma").get<double>();
    kernel.coef0 = value.at("coef0").get<double>();
    const json& degree = value.at("degree");
    // Checked before it becomes an int: a cast of a number out of range is undefined.
    if (!degree.is_number_integer() || degree < 1 || degree > 100)
      throw DataError("the kernel's degree must be 1 to 100");
    kernel.degree = degree.get<int>();
    kernel.validate();
    return kernel;
  } catch (const json::exception&) {
    throw DataError("the kernel is not described as it should be");
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
  if (!is_count) throw DataError(fmt::format("'{}' is not a count", key));
  return value;
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

std::shared_ptr<const Machine> get_expansion(const TensorFile& file, const std::string& prefix) {
  ExpansionParts parts;
  parts.kernel = parse_kernel(file.metadata(prefix + "kernel"));
  parts.decision = parse_decision(file.metadata(prefix + "decision"));
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

void add_linear(TensorWriter& writer, const std::string& prefix, const Machine& machine) {
  const LinearParts& parts = dynamic_cast<const LinearMachine&>(machine).parts();
  const auto machines = static_cast<Index>(parts.offsets.size());
  writer.set_metadata(prefix + "decision", std::string(decision_name(parts.decision)));
  writer.add(prefix + "weights", {machines, parts.num_features},
             std::span<const double>(parts.weights));
  writer.add(prefix + "offsets", {machines}, std::span<const double>(parts.offsets));
}

std::shared_ptr<const Machine> get_linear(const TensorFile& file, const std::string& prefix) {
  LinearParts parts;
  parts.decision = parse_decision(file.metadata(prefix + "decision"));
  const Tensor<double> weights = file.get<double>(prefix + "weights", 2);
  parts.num_features = weights.shape[1];
  // Columns are numbered with 32 bits.
  if (parts.num_features > std::numeric_limits<std::int32_t>::max())
    throw DataError("a linear machine cannot have that many columns");
  parts.weights = to_vector(weights.values);
  parts.offsets = to_vector(file.get<double>(prefix + "offsets", 1).values);
  return std::make_shared<const LinearMachine>(std::move(parts));
}

struct MachineFormat {
  std::string_view kind;
  void (*add)(TensorWriter&, const std::string&, const Machine&);
  std::shared_ptr<const Machine> (*get)(const TensorFile&, const std::string&);
};

constexpr MachineFormat kFormats[] = {{"kernel-expansion", add_expansion, get_expansion},
                                      {"linear", add_linear, get_linear}};

const MachineFormat& find_format(std::string_view kind) {
  for (const MachineFormat& format : kFormats) {
    if (format.kind == kind) return format;
  }
  throw DataError(
      fmt::format("this version has no file format for a model of the kind '{}'", kind));
}

}  // namespace

void add_machine(TensorWriter& writer, const std::string& prefix, const Machine& machine) {
  writer.set_metadata(prefix + "kind", std::string(machine.kind()));
  find_format(machine.kind()).add(writer, prefix, machine);
}

std::shared_ptr<const Machine> get_machine(const TensorFile& file, const std::string& prefix) {
  return find_format(file.metadata(prefix + "kind")).get(file, prefix);
}

}  // namespace tamis
