#include "training/metric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/check.hpp"
#include "base/checked.hpp"
#include "base/deadline.hpp"
#include "base/memory.hpp"
#include "base/progress.hpp"
#include "base/random.hpp"
#include "data/symmetric_root.hpp"
#include "methods/common/kernel_machine.hpp"
#include "methods/common/validation.hpp"
#include "methods/sifting/sifting.hpp"
#include "model/decision_gradients.hpp"
#include "tamis/error.hpp"
#include "tamis/scaling.hpp"
#include "tamis/text.hpp"
#include "training/learn_rows.hpp"

namespace tamis {
namespace {

constexpr std::uint64_t kStream = 0x3e7a;  // apart from other users of the same seed
constexpr Index kMostRows = 8000;          // a quarter of them held out
constexpr Index kLeastRows = 80;           // fewer tell nothing
constexpr Index kLeastOfClass = 4;
constexpr double kHeldShare = 0.25;
constexpr double kRowsPerRootSecond = 4000;  // an SVM on that many rows takes a second or less
constexpr double kGradientWork = 1e9;        // multiplications per round
constexpr double kMostGradientRows = 1000;
constexpr double kLeastGradientRows = 50;

// Rows to learn from, fewer when time is short.
Index affordable_rows(double seconds, int rounds) {
  const double rows = kRowsPerRootSecond * std::sqrt(seconds / (rounds + 1));
  return rows < static_cast<double>(kMostRows) ? static_cast<Index>(rows) : kMostRows;
}

TrainingSet sample_rows(const TrainingSet& data, Index wanted, const Random& random) {
  if (data.rows() <= wanted) return data;
  const double fraction = static_cast<double>(wanted) / static_cast<double>(data.rows());
  return data.select(draw_rows(data, all_rows(data), fraction, kLeastOfClass, random));
}

// Calls add(column, value) for the stored values of all rows.
template <typename Add>
void visit_values(const Matrix& features, const Add& add) {
  for (Index i = 0; i < features.rows(); ++i) {
    if (features.is_sparse()) {
      const SparseRow row = features.sparse_row(i);
      for (std::size_t k = 0; k < row.columns.size(); ++k)
        add(usize(row.columns[k]), static_cast<double>(row.values[k]));
    } else {
      const auto row = features.dense_row(i);
      for (std::size_t j = 0; j < row.size(); ++j) add(j, static_cast<double>(row[j]));
    }
  }
}

// Zeros that are not stored are added at the end, by their number.
std::vector<double> column_variances(const Matrix& features) {
  TAMIS_CHECK(features.rows() <= kMostRows);
  const auto rows = static_cast<double>(features.rows());
  std::vector<double> mean(usize(features.cols()), 0.0);
  std::vector<double> variance(mean.size(), 0.0);
  std::vector<std::int32_t> zeros(mean.size(), static_cast<std::int32_t>(features.rows()));
  visit_values(features, [&](std::size_t j, double value) {
    mean[j] += value / rows;
    --zeros[j];
  });
  visit_values(features, [&](std::size_t j, double value) {
    variance[j] += (value - mean[j]) * (value - mean[j]) / rows;
  });
  for (std::size_t j = 0; j < mean.size(); ++j) variance[j] += zeros[j] * mean[j] * mean[j] / rows;
  return variance;
}

// The spread of the rows that gamma is meant for: squared distances follow the variances, the
// Laplacian kernel's distances the deviations.
double total_spread(const std::vector<double>& variances, bool is_l1) {
  double sum = 0;
  for (const double variance : variances) sum += is_l1 ? std::sqrt(variance) : variance;
  return sum;
}

std::vector<float> to_floats(const std::vector<double>& numbers, double factor) {
  std::vector<float> result;
  result.reserve(numbers.size());
  for (const double number : numbers) result.push_back(static_cast<float>(number * factor));
  return result;
}

bool all_finite(const std::vector<float>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](float v) { return std::isfinite(v); });
}

std::vector<float> identity_matrix(std::size_t n) {
  std::vector<float> matrix(n * n, 0.0F);
  for (std::size_t i = 0; i < n; ++i) matrix[i * n + i] = 1.0F;
  return matrix;
}

// What the rounds hold for each column: two numbers while variances are found and while weights
// move, and the weights of now and of the best round.
constexpr Index kColumnBytes = 3 * sizeof(double) + 3 * sizeof(float);

class MetricRounds {
 public:
  MetricRounds(TrainingSet sample, const TrainContext& context, Random random)
      : plain_(std::move(sample)),
        context_(context),
        control_(quiet(context.control)),
        random_(random),
        is_full_(context.options.metric == MetricForm::full),
        variances_(column_variances(plain_.features)),
        metric_(is_full_ ? identity_matrix(variances_.size())
                         : std::vector<float>(variances_.size(), 1.0F)) {
    held_ = draw_rows(plain_, all_rows(plain_), kHeldShare, 1, random_.split(1));
    const std::vector<Index> all = all_rows(plain_);
    std::set_difference(all.begin(), all.end(), held_.begin(), held_.end(),
                        std::back_inserter(pool_));
    result_.held_rows = static_cast<Index>(held_.size());
    result_.plain_error = result_.best_error = std::numeric_limits<double>::infinity();
  }

  LearnedMetric run() {
    const int rounds = context_.options.metric_rounds_or_default();
    try {
      for (int round = 0; round <= rounds; ++round) {
        const std::shared_ptr<const KernelExpansion> machine = train(round);
        if (machine == nullptr || round == rounds || !follow_gradients(*machine)) break;
      }
    } catch (const Cancelled&) {
      // The best round so far.
    }
    if (result_.rounds.rows.empty()) result_.held_rows = 0;
    return result_;
  }

 private:
  // Trains with the present weights and keeps them if they are the best; null if it was cut short.
  std::shared_ptr<const KernelExpansion> train(int round) {
    weighted_ = plain_;
    if (round > 0) weighted_.features = transformed(metric_);
    const TrainContext own{context_.options, control_, context_.watch};
    const KernelMachine machine = train_kernel_machine(weighted_, pool_, own);
    if (machine.report.stop_reason >= StopReason::time_limit) return nullptr;
    auto expansion = make_expansion(weighted_, machine);
    const double error = Validation(weighted_, held_).error(*expansion, control_);
    result_.rounds.rows.push_back(
        {static_cast<double>(round), error, static_cast<double>(expansion->num_support_vectors())});
    if (round == 0) result_.plain_error = error;
    if (error < result_.best_error) {
      result_.best_error = error;
      result_.best_round = round;
      if (round > 0) (is_full_ ? result_.matrix : result_.weights) = metric_;
    }
    return expansion;
  }

  Matrix transformed(const std::vector<float>& metric) const {
    const Scaling scaling =
        is_full_ ? Scaling().with_matrix(metric) : Scaling().with_weights(metric);
    return scaling.apply(plain_.features, control_);
  }

  // Moves the metric; whether there was a gradient to follow.
  bool follow_gradients(const KernelExpansion& machine) {
    const bool is_l1 = machine.kernel().type == KernelType::laplacian;
    const Matrix rows = gradient_rows(machine);
    return is_full_ ? move_matrix(mean_gradient_products(machine, rows, control_), is_l1)
                    : move_weights(mean_squared_gradients(machine, rows, control_), is_l1);
  }

  bool move_weights(const std::vector<double>& squares, bool is_l1) {
    std::vector<double> next(metric_.size());
    std::vector<double> variances(metric_.size());
    for (std::size_t j = 0; j < next.size(); ++j) {
      next[j] = static_cast<double>(metric_[j]) * std::sqrt(squares[j]);
      variances[j] = next[j] * next[j] * variances_[j];
    }
    return settle(next, variances, is_l1);
  }

  // The decision value f(x) = g(W x) has the gradient W g' along x, so that the products of its
  // elements are W (products of g') W, and the next W is their root.
  bool move_matrix(const std::vector<double>& products, bool is_l1) {
    const Index cols = plain_.features.cols();
    const std::vector<double> now(metric_.begin(), metric_.end());
    std::vector<double> squared = matrix_product(matrix_product(now, products, cols), now, cols);
    double trace = 0;
    for (std::size_t i = 0; i < usize(cols); ++i) trace += squared[i * usize(cols) + i];
    if (!std::isfinite(trace) || !(trace > 0)) return false;
    for (double& value : squared) value /= trace;
    const std::vector<double> root = symmetric_root(std::move(squared), cols);
    return settle(root, column_variances(transformed(to_floats(root, 1))), is_l1);
  }

  // The next metric with the spread of the columns as they were. `variances` are those it gives.
  bool settle(const std::vector<double>& next, const std::vector<double>& variances, bool is_l1) {
    const double ratio = total_spread(variances_, is_l1) / total_spread(variances, is_l1);
    const double factor = is_l1 ? ratio : std::sqrt(ratio);
    if (!std::isfinite(factor) || !(factor > 0)) return false;
    metric_ = to_floats(next, factor);
    return all_finite(metric_);
  }

  Matrix gradient_rows(const KernelExpansion& machine) const {
    const double affordable = std::clamp(kGradientWork / gradient_work(machine, is_full_),
                                         kLeastGradientRows, kMostGradientRows);
    const auto pool = static_cast<Index>(pool_.size());
    Random random = random_.split(2);
    std::vector<Index> rows =
        sample_without_replacement(pool, std::min(pool, static_cast<Index>(affordable)), random);
    for (Index& row : rows) row = pool_[usize(row)];
    return weighted_.features.select(rows);
  }

  TrainingSet plain_;
  TrainingSet weighted_;
  const TrainContext& context_;
  RunControl control_;
  Random random_;
  bool is_full_;
  std::vector<double> variances_;
  std::vector<float> metric_;  // of the next round: weights, or a matrix
  std::vector<Index> held_;
  std::vector<Index> pool_;
  LearnedMetric result_;
};

}  // namespace

LearnedMetric learn_metric(const TrainingSet& data, const TrainContext& context, double seconds) {
  const Index rows = affordable_rows(seconds, context.options.metric_rounds_or_default());
  if (std::min(rows, data.rows()) < kLeastRows) return {};
  const bool is_full = context.options.metric == MetricForm::full;
  const Index cols = data.features.cols();
  if (is_full) require_matrix_columns(cols);
  require_column_memory("learning feature weights", cols,
                        is_full ? cols * kColumnBytes : kColumnBytes,
                        memory_left(context.control.memory_bytes));
  const Random random(context.options.seed, kStream);
  const Deadline deadline(context.control, seconds);
  TrainOptions unlimited = context.options;  // the deadline is the limit
  unlimited.max_seconds = 0;
  const TrainContext until_then{unlimited, deadline.control(), {}};
  return MetricRounds(sample_rows(data, rows, random.split(0)), until_then, random).run();
}

std::string describe(const LearnedMetric& metric, const TrainOptions& options) {
  const std::string what = options.metric == MetricForm::full ? "full metric" : "feature weights";
  if (metric.held_rows == 0) return what + ": none learned, for lack of rows or time";
  const auto words = [&](double error) {
    return options.task == Task::regression ? fmt::format("mean squared error {:.4g}", error)
                                            : fmt::format("{:.2f} % errors", 100 * error);
  };
  const std::string on_rows = fmt::format(" on {}", counted(metric.held_rows, "held-out row"));
  if (metric.best_round == 0)
    return fmt::format("{}: none, no round was better than {}{} without", what,
                       words(metric.plain_error), on_rows);
  return fmt::format("{}: round {} of {}, {}{} ({} without)", what, metric.best_round,
                     options.metric_rounds_or_default(), words(metric.best_error), on_rows,
                     words(metric.plain_error));
}

}  // namespace tamis
