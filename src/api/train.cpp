// train(): checks, picks, wraps, times. No algorithm here.
#include "tamis/train.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <mutex>

#include "base/checked.hpp"
#include "base/clock.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "kernels/kernel_value.hpp"
#include "methods/exact.hpp"
#include "model/expansion_builder.hpp"
#include "multiclass/multiclass.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

/// What every method starts from: rows that count, scaled; labels encoded; a cost for each row.
struct Prepared {
  std::vector<Index> given_rows;  ///< where each row was in the data; empty: in the same place
  Scaling scaling;
  Matrix features;
  Labels classes;                   ///< empty for regression
  std::vector<std::int32_t> codes;  ///< classification
  std::vector<double> targets;      ///< regression
  std::vector<double> cost;
  Kernel kernel;
};

// A row of weight zero is as good as no row. `kept` gets the rows that count, or stays empty when
// all do.
Dataset without_weightless_rows(const Dataset& data, std::vector<Index>* kept) {
  if (std::none_of(data.weights().begin(), data.weights().end(), [](double w) { return w == 0; }))
    return data;
  for (Index i = 0; i < data.rows(); ++i) {
    if (data.weight(i) > 0) kept->push_back(i);
  }
  if (kept->empty()) throw DataError("every row has weight 0: nothing to learn from");
  return data.select(*kept);
}

double resolve_gamma(const Gamma& gamma, const Matrix& features) {
  if (gamma.rule == Gamma::Rule::value) return gamma.value;
  const double cols = static_cast<double>(std::max<Index>(1, features.cols()));
  if (gamma.rule == Gamma::Rule::automatic) return 1 / cols;
  const double count = static_cast<double>(features.rows()) * cols;
  double sum = 0;
  double squares = 0;
  for (const float v : features.is_sparse() ? features.sparse_values() : features.dense_values()) {
    sum += static_cast<double>(v) / count;
  }
  for (const float v : features.is_sparse() ? features.sparse_values() : features.dense_values()) {
    squares += (static_cast<double>(v) - sum) * (static_cast<double>(v) - sum) / count;
  }
  if (features.is_sparse()) {
    squares +=
        sum * sum * (count - static_cast<double>(features.num_stored())) / count;  // the zeros
  }
  const double gamma_value = 1 / (cols * squares);
  return std::isfinite(gamma_value) && gamma_value > 0 ? gamma_value : 1;
}

void encode_targets(const Dataset& data, const TrainOptions& options, Prepared* prepared) {
  const Labels& labels = data.labels();
  if (labels.kind() == LabelKind::none) throw DataError("the data has no labels to learn");
  if (options.task == Task::regression) {
    if (labels.kind() != LabelKind::numeric)
      throw DataError("a regression needs numbers as labels, and these are words");
    for (Index i = 0; i < labels.size(); ++i) {
      if (!std::isfinite(labels.number(i)))
        throw DataError(fmt::format("the label of row {} is not finite", i + 1));
      prepared->targets.push_back(labels.number(i));
    }
    return;
  }
  prepared->classes = distinct_classes(labels);
  if (prepared->classes.size() < 2) {
    throw DataError(
        fmt::format("every row has the label {}: two classes or more are needed", labels.name(0)));
  }
  prepared->codes = encode_labels(labels, prepared->classes);
}

// Numbers are compared by value: "+1" and "1.0" name class 1.
bool is_label(const Labels& classes, Index c, std::string_view text) {
  if (classes.name(c) == text) return true;
  if (classes.kind() != LabelKind::numeric) return false;
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  return error == std::errc() && end == last && value == classes.number(c);
}

// C of each row: the cost, times the row's weight, times its class's.
void set_costs(const Dataset& data, const TrainOptions& options, Prepared* prepared) {
  std::vector<double> factor(usize(std::max<Index>(1, prepared->classes.size())), 1.0);
  if (options.task == Task::classification) {
    for (const auto& [label, weight] : options.class_weights) {
      bool known = false;
      for (Index c = 0; c < prepared->classes.size(); ++c) {
        if (!is_label(prepared->classes, c, label)) continue;
        factor[usize(c)] *= weight;  // named twice: both count, as in LIBSVM
        known = true;
      }
      if (!known)
        throw InvalidArgument(
            fmt::format("class-weight names class {}, which the data does not have", label));
    }
    if (options.balanced) {
      std::vector<double> rows(factor.size(), 0.0);
      double all = 0;
      for (Index i = 0; i < data.rows(); ++i) {
        rows[usize(prepared->codes[usize(i)])] += data.weight(i);
        all += data.weight(i);
      }
      for (std::size_t c = 0; c < factor.size(); ++c)
        factor[c] = all / (static_cast<double>(factor.size()) * rows[c]);
    }
  }
  for (Index i = 0; i < data.rows(); ++i) {
    const double of_class =
        prepared->codes.empty() ? 1.0 : factor[usize(prepared->codes[usize(i)])];
    prepared->cost.push_back(options.cost * data.weight(i) * of_class);
  }
}

// Sparse distances come from |x|^2 + |z|^2 - 2<x, z>, whose float32 rounding, about 2.4e-7 |x|^2,
// becomes a relative error of gamma times that in the kernel, and of C times that in the decision
// values. Where it would show beside the tolerance, rows are made dense: their differences are
// exact.
bool needs_differences(const Prepared& prepared, double eps) {
  if (prepared.kernel.type != KernelType::rbf || !prepared.features.is_sparse()) return false;
  double largest = 0;
  for (Index i = 0; i < prepared.features.rows(); ++i) {
    double norm = 0;
    for (const float v : prepared.features.sparse_row(i).values)
      norm += static_cast<double>(v) * static_cast<double>(v);
    largest = std::max(largest, norm);
  }
  const double cost = *std::max_element(prepared.cost.begin(), prepared.cost.end());
  return 2.4e-7 * largest * prepared.kernel.gamma * cost > eps;
}

// Three times: the rows, their packed copy, and room for everything else.
bool fits_dense(const Matrix& features, const RunControl& control) {
  const double bytes =
      static_cast<double>(features.rows()) * static_cast<double>(features.cols()) * sizeof(float);
  return 3 * bytes <
         static_cast<double>(resolve_memory_budget(control.memory_bytes) - resident_memory_bytes());
}

// Sparse rows are multiplied through a buffer that has a place for every column.
void require_packing_memory(const Matrix& features, const TrainOptions& options,
                            const RunControl& control) {
  if (!features.is_sparse() || options.kernel == KernelType::precomputed) return;
  require_column_memory("training", features.cols(), kPackedColumnBytes,
                        resolve_memory_budget(control.memory_bytes) / 4);
}

Prepared prepare(const Dataset& given, const TrainOptions& options, const RunControl& control) {
  Prepared prepared;
  const Dataset data = without_weightless_rows(given, &prepared.given_rows);
  if (data.rows() == 0) throw DataError("the data has no rows");
  require_finite(data.features());
  require_packing_memory(data.features(), options, control);
  encode_targets(data, options, &prepared);
  set_costs(data, options, &prepared);
  prepared.features = data.features();
  if (options.scaling != ScalingMethod::none) {
    prepared.scaling = Scaling::fit(data.features(), options.scaling, 0, 1, control);
    prepared.features = prepared.scaling.apply(data.features(), control);
  }
  prepared.kernel = Kernel{options.kernel, 1.0, options.coef0, options.degree};
  if (options.kernel != KernelType::linear && options.kernel != KernelType::precomputed) {
    prepared.kernel.gamma = resolve_gamma(options.gamma, prepared.features);
  }
  require_representable(prepared.kernel, prepared.features);
  if (needs_differences(prepared, options.eps) && fits_dense(prepared.features, control)) {
    prepared.features = prepared.features.to_dense();
  }
  return prepared;
}

/// Turns solver status into progress reports, at most ten a second, from however many machines
/// train at once.
class TrainProgress {
 public:
  TrainProgress(const RunControl& control, Index machines, double eps)
      : control_(control), machines_(machines), eps_(eps) {}

  void update(const qp::Status& status) {
    if (!control_.on_progress) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (watch_.seconds() - last_report_ < 0.1) return;
    last_report_ = watch_.seconds();
    Progress progress;
    progress.phase = "train";
    progress.elapsed_seconds = last_report_;
    if (machines_ > 1) {
      progress.done_fraction = static_cast<double>(done_) / static_cast<double>(machines_);
      progress.detail = fmt::format("{} of {} machines", done_, machines_);
    } else {
      // The gap falls about exponentially: progress is measured on its logarithm.
      largest_gap_ = std::max(largest_gap_, status.gap);
      if (status.gap > 0 && largest_gap_ > eps_) {
        progress.done_fraction = std::clamp(
            std::log(largest_gap_ / status.gap) / std::log(largest_gap_ / eps_), 0.0, 1.0);
      }
      progress.detail = fmt::format("iteration {}, gap {:.3g}, {} rows active", status.iterations,
                                    status.gap, status.active);
    }
    if (progress.done_fraction > 0.02) {
      progress.left_seconds = last_report_ * (1 - progress.done_fraction) / progress.done_fraction;
    }
    control_.on_progress(progress);
  }
  void machine_done() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++done_;
  }

 private:
  const RunControl& control_;
  Index machines_;
  double eps_;
  std::mutex mutex_;
  Stopwatch watch_;
  double last_report_ = 0;
  double largest_gap_ = 0;
  Index done_ = 0;
};

void add_stats(const MachineStats& stats, TrainReport* report) {
  report->objective += stats.objective;
  report->gap += stats.gap;
  report->violation = std::max(report->violation, stats.violation);
  report->iterations += stats.iterations;
  report->machine_iterations.push_back(stats.iterations);
  report->kernel_evaluations += stats.kernel_evaluations;
  report->cached_evaluations += stats.cached_evaluations;
  report->bounded_support_vectors += stats.bounded_support_vectors;
  report->stop_reason =
      std::max(report->stop_reason, stats.stop_reason);  // ordered by how early they end
}

// What the budget leaves for kernel rows, for each of the machines that train at the same time.
Index cache_for_each(const Prepared& prepared, const TrainOptions& options,
                     const RunControl& control, Index at_once) {
  const Index budget = resolve_memory_budget(control.memory_bytes);
  const Index work = exact_work_bytes(prepared.features, prepared.features.rows());
  const Index left = budget - resident_memory_bytes() - work * at_once;
  require_memory(fmt::format("training on {} rows of {} features", prepared.features.rows(),
                             prepared.features.cols()),
                 resident_memory_bytes() + work * at_once, budget);
  const Index cache = left / 10 * 9 / at_once;
  return options.cache_bytes > 0 ? std::min(options.cache_bytes / at_once, cache) : cache;
}

TrainResult train_with_exact(const Prepared& prepared, const TrainOptions& options,
                             const RunControl& control) {
  const Stopwatch watch;
  const Index classes = prepared.classes.size();
  const bool whole = options.task == Task::regression || classes == 2;
  const bool pairs = options.multiclass == Multiclass::one_vs_one;
  const Index machines =
      whole ? 1 : num_machines(pairs ? Decision::one_vs_one : Decision::one_vs_rest, classes);
  TrainProgress progress(control, machines, options.eps);

  ExactSettings settings;
  settings.kernel = prepared.kernel;
  settings.task = options.task;
  settings.loss = options.loss;
  settings.tube = options.tube;
  settings.seed = options.seed;
  settings.limits = {options.eps, options.max_iterations, options.max_seconds};
  settings.cache_bytes = cache_for_each(
      prepared, options, control, std::min<Index>(machines, resolve_threads(control.threads)));
  const BinaryTrainer trainer = [&](const BinaryTask& task) {
    ExactSettings own = settings;
    if (own.limits.max_seconds > 0)
      own.limits.max_seconds = std::max(1e-9, options.max_seconds - watch.seconds());
    BinaryResult result = train_exact(prepared.features, prepared.cost, task, own, control,
                                      [&](const qp::Status& status) { progress.update(status); });
    progress.machine_done();
    return result;
  };

  std::vector<BinaryResult> results;
  if (whole) {
    BinaryTask task;
    task.rows.resize(usize(prepared.features.rows()));
    for (std::size_t i = 0; i < task.rows.size(); ++i) task.rows[i] = static_cast<Index>(i);
    task.targets = prepared.targets;
    for (const std::int32_t code : prepared.codes) task.targets.push_back(code == 0 ? 1.0 : -1.0);
    results.push_back(trainer(task));
  } else {
    results = pairs ? train_one_vs_one(prepared.codes, classes, trainer)
                    : train_one_vs_rest(prepared.codes, classes, trainer);
  }

  TrainResult result;
  std::vector<TrainedMachine> trained;
  for (BinaryResult& one : results) {
    add_stats(one.stats, &result.report);
    trained.push_back(std::move(one.machine));
  }
  result.report.machines = machines;
  const Decision decision = whole   ? Decision::single
                            : pairs ? Decision::one_vs_one
                                    : Decision::one_vs_rest;
  const auto machine = make_expansion(prepared.kernel, prepared.features, trained, decision,
                                      prepared.codes, classes);
  result.model = Model(options.task, prepared.classes, prepared.scaling, machine, options.method);
  result.support_rows = expansion_rows(prepared.features.rows(), trained, decision, prepared.codes);
  return result;
}

}  // namespace

std::vector<std::string_view> method_names() { return {"exact"}; }

TrainResult train(const Dataset& data, const TrainOptions& options, const RunControl& control) {
  options.validate();
  return with_threads(control.threads, [&] {
    Stopwatch watch;
    Stopwatch whole;
    const Prepared prepared = prepare(data, options, control);
    const double prepare_seconds = watch.restart();
    TrainResult result = train_with_exact(prepared, options, control);
    if (!prepared.given_rows.empty()) {
      for (Index& row : result.support_rows) row = prepared.given_rows[usize(row)];
    }
    TrainReport& report = result.report;
    report.method = options.method;
    report.rows = prepared.features.rows();
    report.features = prepared.features.cols();
    report.classes = prepared.classes.size();
    report.support_vectors = result.model.num_support_vectors();
    report.phase_seconds = {{"prepare", prepare_seconds}, {"solve", watch.seconds()}};
    report.train_seconds = whole.seconds();
    report.peak_memory_bytes = peak_memory_bytes();
    if (options.scaling == ScalingMethod::none && options.kernel != KernelType::precomputed) {
      const std::string advice = scaling_advice(data.features());
      if (!advice.empty()) report.warnings.push_back(advice);
    }
    if (report.stop_reason != StopReason::converged) {
      report.warnings.push_back(fmt::format(
          "{}{} with violation {:.3g} (asked: {:.3g}): the model is usable, not optimal",
          report.stop_reason == StopReason::interrupted ? "" : "stopped by ",
          stop_reason_name(report.stop_reason), report.violation, options.eps));
    }
    return result;
  });
}

}  // namespace tamis
