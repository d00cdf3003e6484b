#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "calibration/calibration.hpp"
#include "io/libsvm_model.hpp"
#include "model/kernel_expansion.hpp"
#include "model/model_parts.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr Index kLinesAPart = 256;
constexpr Index kPartsAtOnce = 64;

// The shortest text that reads back as the same number.
template <typename T>
void append_number(std::string& text, T value) {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  text += std::string_view(buffer, static_cast<std::size_t>(result.ptr - buffer));
}

template <typename Range>
void append_list(std::string& text, std::string_view key, const Range& values) {
  text += key;
  for (const auto value : values) {
    text += ' ';
    append_number(text, value);
  }
  text += '\n';
}

void append_sigmoids(std::string& text, const Calibration& calibration) {
  std::vector<double> slopes;
  std::vector<double> intercepts;
  for (const Calibrator& machine : calibration.machines) {
    slopes.push_back(machine.slope);
    intercepts.push_back(machine.intercept);
  }
  append_list(text, "probA", slopes);
  append_list(text, "probB", intercepts);
}

const KernelExpansion& require_libsvm_machine(const Model& model) {
  const auto* machine = dynamic_cast<const KernelExpansion*>(&machine_of(model));
  if (machine == nullptr) {
    throw DataError(
        fmt::format("LIBSVM models cannot hold a model of the kind {}", machine_of(model).kind()));
  }
  if (machine->kernel().type == KernelType::laplacian)
    throw DataError("LIBSVM models cannot hold a Laplacian kernel: LIBSVM has none");
  if (!model.columns().is_identity())
    throw DataError("LIBSVM models cannot hold imputed or text columns, which this model has");
  if (!model.scaling().is_identity()) {
    throw DataError(
        "LIBSVM models cannot hold the scaling this model has: scale the data first "
        "and train with scale none");
  }
  if (machine->parts().decision == Decision::one_vs_rest)
    throw DataError("LIBSVM models are one-vs-one, this one is one-vs-rest");
  if (model.has_probabilities() && calibration_of(model).method != CalibrationMethod::sigmoid)
    throw DataError("LIBSVM models hold sigmoid probabilities, not isotonic ones");
  return *machine;
}

std::vector<std::int32_t> integer_labels(const Labels& classes) {
  std::vector<std::int32_t> labels;
  for (Index c = 0; c < classes.size(); ++c) {
    const double value = classes.kind() == LabelKind::numeric ? classes.number(c) : std::nan("");
    constexpr double kLargest = std::numeric_limits<std::int32_t>::max();
    if (!(std::abs(value) <= kLargest) || value != std::floor(value)) {
      throw DataError(
          fmt::format("LIBSVM models need whole numbers as classes, not '{}'", classes.name(c)));
    }
    labels.push_back(static_cast<std::int32_t>(value));
  }
  return labels;
}

// The support vectors in the order they are written, and how many of each class.
struct Order {
  std::vector<Index> vectors;
  std::vector<Index> class_counts;
};

Order order_vectors(const Model& model, const ExpansionParts& parts) {
  Order order;
  // LIBSVM has no machine at all for one class, and so no use for support vectors.
  if (model.classes().size() == 1) return {{}, {0}};
  order.vectors.resize(usize(parts.support_vectors.rows()));
  std::iota(order.vectors.begin(), order.vectors.end(), Index{0});
  order.class_counts = parts.class_counts;
  if (parts.decision == Decision::single && model.task() == Task::classification) {
    const auto second =
        std::stable_partition(order.vectors.begin(), order.vectors.end(),
                              [&](Index s) { return parts.coefficients[usize(s)] > 0; });
    order.class_counts = {second - order.vectors.begin(), order.vectors.end() - second};
  }
  return order;
}

std::string header_text(const Model& model, const KernelExpansion& machine, const Order& order) {
  const bool is_regression = model.task() == Task::regression;
  const Kernel& kernel = machine.kernel();
  std::string text = fmt::format("svm_type {}\nkernel_type {}\n",
                                 is_regression ? "epsilon_svr" : "c_svc", kernel_name(kernel.type));
  const bool is_polynomial = kernel.type == KernelType::polynomial;
  const bool is_sigmoid = kernel.type == KernelType::sigmoid;
  if (is_polynomial) append_list(text, "degree", std::vector{kernel.degree});
  if (is_polynomial || is_sigmoid || kernel.type == KernelType::rbf)
    append_list(text, "gamma", std::vector{kernel.gamma});
  if (is_polynomial || is_sigmoid) append_list(text, "coef0", std::vector{kernel.coef0});
  append_list(text, "nr_class", std::vector{is_regression ? Index{2} : model.classes().size()});
  append_list(text, "total_sv", std::vector{order.vectors.size()});
  std::vector<double> rho;
  for (const double offset : machine.parts().offsets) rho.push_back(0.0 - offset);
  if (model.classes().size() == 1) rho.clear();
  append_list(text, "rho", rho);
  if (!is_regression) {
    append_list(text, "label", integer_labels(model.classes()));
    if (model.has_probabilities()) append_sigmoids(text, calibration_of(model));
    append_list(text, "nr_sv", order.class_counts);
  }
  return text;
}

void append_vector(std::string& text, const KernelExpansion& machine, Index s) {
  const Matrix& vectors = machine.support_vectors();
  const auto& coefficients = machine.parts().coefficients;
  for (std::size_t k = usize(s); k < coefficients.size(); k += usize(vectors.rows())) {
    append_number(text, coefficients[k]);
    text += ' ';
  }
  const bool is_precomputed = machine.kernel().type == KernelType::precomputed;
  const auto append_pair = [&](Index column, float value) {
    append_number(text, column + (is_precomputed ? 0 : 1));
    text += ':';
    append_number(text, value);
    text += ' ';
  };
  if (is_precomputed) {
    append_pair(0, vectors.at(s, 0));
  } else if (vectors.is_sparse()) {
    const SparseRow row = vectors.sparse_row(s);
    for (std::size_t k = 0; k < row.columns.size(); ++k) append_pair(row.columns[k], row.values[k]);
  } else {
    const auto row = vectors.dense_row(s);
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (row[j] != 0.0F) append_pair(static_cast<Index>(j), row[j]);
    }
  }
  text += '\n';
}

}  // namespace

void write_libsvm_model(const Model& model, OutputFile& out) {
  const KernelExpansion& machine = require_libsvm_machine(model);
  const Order order = order_vectors(model, machine.parts());
  out.write(header_text(model, machine, order));
  out.write("SV\n");
  const auto lines = static_cast<Index>(order.vectors.size());
  constexpr Index kLinesAtOnce = kLinesAPart * kPartsAtOnce;
  for (Index first = 0; first < lines; first += kLinesAtOnce) {
    const Index count = std::min(kLinesAtOnce, lines - first);
    std::vector<std::string> texts(usize((count + kLinesAPart - 1) / kLinesAPart));
    parallel_each(static_cast<Index>(texts.size()), [&](Index t) {
      const Index begin = first + t * kLinesAPart;
      for (Index k = begin; k < std::min(begin + kLinesAPart, first + count); ++k)
        append_vector(texts[usize(t)], machine, order.vectors[usize(k)]);
    });
    for (const std::string& text : texts) out.write(text);
  }
}

}  // namespace tamis
