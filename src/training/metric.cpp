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
#include "methods/common/kernel_machine.hpp"
#include "methods/common/validation.hpp"
#include "methods/sifting/sifting.hpp"
#include "model/decision_gradients.hpp"
#include "tamis/error.hpp"
#include "tamis/scaling.hpp"
#include "tamis/text.hpp"

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
        variances_(column_variances(plain_.features)),
        weights_(variances_.size(), 1.0F) {
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
    if (round > 0) weighted_.features = Scaling().with_weights(weights_).apply(plain_.features);
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
      if (round > 0) result_.weights = weights_;
    }
    return expansion;
  }

  // Moves the weights; whether there was a gradient to follow.
  bool follow_gradients(const KernelExpansion& machine) {
    const bool is_l1 = machine.kernel().type == KernelType::laplacian;
    const std::vector<double> squares =
        mean_squared_gradients(machine, gradient_rows(machine), control_);
    std::vector<double> next(weights_.size());
    double before = 0;
    double after = 0;
    for (std::size_t j = 0; j < next.size(); ++j) {
      next[j] = static_cast<double>(weights_[j]) * std::sqrt(squares[j]);
      before += is_l1 ? std::sqrt(variances_[j]) : variances_[j];
      after += is_l1 ? next[j] * std::sqrt(variances_[j]) : next[j] * next[j] * variances_[j];
    }
    const double factor = is_l1 ? before / after : std::sqrt(before / after);
    if (!std::isfinite(factor) || !(factor > 0)) return false;
    for (std::size_t j = 0; j < next.size(); ++j)
      weights_[j] = static_cast<float>(next[j] * factor);
    return std::all_of(weights_.begin(), weights_.end(), [](float w) { return std::isfinite(w); });
  }

  Matrix gradient_rows(const KernelExpansion& machine) const {
    const double affordable =
        std::clamp(kGradientWork / gradient_work(machine), kLeastGradientRows, kMostGradientRows);
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
  std::vector<double> variances_;
  std::vector<float> weights_;
  std::vector<Index> held_;
  std::vector<Index> pool_;
  LearnedMetric result_;
};

}  // namespace

LearnedMetric learn_metric(const TrainingSet& data, const TrainContext& context, double seconds) {
  const Index rows = affordable_rows(seconds, context.options.metric_rounds_or_default());
  if (std::min(rows, data.rows()) < kLeastRows) return {};
  require_column_memory("learning feature weights", data.features.cols(), kColumnBytes,
                        memory_left(context.control.memory_bytes));
  const Random random(context.options.seed, kStream);
  const Deadline deadline(context.control, seconds);
  TrainOptions unlimited = context.options;  // the deadline is the limit
  unlimited.max_seconds = 0;
  const TrainContext until_then{unlimited, deadline.control(), {}};
  return MetricRounds(sample_rows(data, rows, random.split(0)), until_then, random).run();
}

std::string describe(const LearnedMetric& metric, const TrainOptions& options) {
  if (metric.held_rows == 0) return "feature weights: none learned, for lack of rows or time";
  const auto words = [&](double error) {
    return options.task == Task::regression ? fmt::format("mean squared error {:.4g}", error)
                                            : fmt::format("{:.2f} % errors", 100 * error);
  };
  const std::string on_rows = fmt::format(" on {}", counted(metric.held_rows, "held-out row"));
  if (metric.best_round == 0)
    return fmt::format("feature weights: none, no round was better than {}{} without",
                       words(metric.plain_error), on_rows);
  return fmt::format("feature weights: round {} of {}, {}{} ({} without)", metric.best_round,
                     options.metric_rounds_or_default(), words(metric.best_error), on_rows,
                     words(metric.plain_error));
}

}  // namespace tamis
