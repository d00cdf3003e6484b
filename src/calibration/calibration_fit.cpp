#include "calibration/calibration_fit.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/checked.hpp"
#include "base/parallel.hpp"

namespace tamis {
namespace {

/// What the probability of a row of either class should be.
struct Targets {
  double first = 0;
  double second = 0;
  double of(const ScoredRow& row) const { return row.is_first ? first : second; }
};

struct Weights {
  double first = 0;
  double second = 0;
};

Weights weigh(std::span<const ScoredRow> rows) {
  Weights sum;
  for (const ScoredRow& row : rows) (row.is_first ? sum.first : sum.second) += row.weight;
  return sum;
}

Targets platt_targets(const Weights& weights) {
  return {(weights.first + 1) / (weights.first + 2), 1 / (weights.second + 2)};
}

/// Negative log likelihood of p = 1 / (1 + exp(a f + b)) with its derivatives.
struct Likelihood {
  double value = 0;
  double slope_a = 0;
  double slope_b = 0;
  double curve_aa = 0;
  double curve_ab = 0;
  double curve_bb = 0;
};

Likelihood likelihood(std::span<const ScoredRow> rows, const Targets& targets, double scale,
                      double a, double b) {
  Likelihood sum;
  for (const ScoredRow& row : rows) {
    const double f = row.value * scale;
    const double z = a * f + b;
    const double t = targets.of(row);
    // Both forms are the same; each is used where its exponential is at most 1.
    const double e = std::exp(-std::abs(z));
    const double p = (z >= 0 ? e : 1) / (1 + e);
    sum.value += row.weight * ((z >= 0 ? t * z : (t - 1) * z) + std::log1p(e));
    const double d1 = row.weight * (t - p);
    const double d2 = row.weight * e / ((1 + e) * (1 + e));
    sum.slope_a += f * d1;
    sum.slope_b += d1;
    sum.curve_aa += f * f * d2;
    sum.curve_ab += f * d2;
    sum.curve_bb += d2;
  }
  return sum;
}

/// Neighbouring rows that share one probability.
struct Block {
  double weight = 0;
  double sum = 0;  ///< of weight * target
  double first = 0;
  double last = 0;
  double mean() const { return sum / weight; }
};

// One block for each distinct value, then neighbours are pooled until their means rise.
std::vector<Block> pool(std::span<const ScoredRow> sorted, const Targets& targets) {
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < sorted.size();) {
    Block block{0, 0, sorted[i].value, sorted[i].value};
    for (; i < sorted.size() && sorted[i].value == block.first; ++i) {
      block.weight += sorted[i].weight;
      block.sum += sorted[i].weight * targets.of(sorted[i]);
    }
    while (!blocks.empty() && blocks.back().mean() >= block.mean()) {
      block.weight += blocks.back().weight;
      block.sum += blocks.back().sum;
      block.first = blocks.back().first;
      blocks.pop_back();
    }
    blocks.push_back(block);
  }
  return blocks;
}

}  // namespace

Calibrator fit_sigmoid(std::span<const ScoredRow> rows) {
  constexpr int kMaxSteps = 100;
  constexpr double kTolerance = 1e-10;  // of the slopes, a row
  constexpr double kRidge = 1e-12;      // keeps the Hessian regular when all values are equal
  constexpr double kLeastStep = 1e-10;
  const Weights weights = weigh(rows);
  const Targets targets = platt_targets(weights);
  const double total = weights.first + weights.second;
  // Values of about 1, so that the tolerance means the same for every machine.
  double largest = 0;
  for (const ScoredRow& row : rows) largest = std::max(largest, std::abs(row.value));
  const double scale = largest > 0 ? 1 / largest : 1;

  double a = 0;
  double b = std::log((weights.second + 1) / (weights.first + 1));
  Likelihood at = likelihood(rows, targets, scale, a, b);
  for (int step = 0; step < kMaxSteps; ++step) {
    if (std::max(std::abs(at.slope_a), std::abs(at.slope_b)) <= kTolerance * total) break;
    const double aa = at.curve_aa + kRidge * total;
    const double bb = at.curve_bb + kRidge * total;
    const double determinant = aa * bb - at.curve_ab * at.curve_ab;
    const double da = -(bb * at.slope_a - at.curve_ab * at.slope_b) / determinant;
    const double db = -(aa * at.slope_b - at.curve_ab * at.slope_a) / determinant;
    const double descent = at.slope_a * da + at.slope_b * db;
    double size = 1;
    Likelihood next;
    for (; size >= kLeastStep; size /= 2) {
      next = likelihood(rows, targets, scale, a + size * da, b + size * db);
      if (next.value < at.value + 1e-4 * size * descent) break;
    }
    if (size < kLeastStep) break;  // rounding leaves nothing to gain
    a += size * da;
    b += size * db;
    at = next;
  }
  Calibrator result;
  result.slope = a * scale;
  result.intercept = b;
  return result;
}

Calibrator fit_isotonic(std::vector<ScoredRow> rows) {
  std::sort(rows.begin(), rows.end(),
            [](const ScoredRow& a, const ScoredRow& b) { return a.value < b.value; });
  Calibrator result;
  for (const Block& block : pool(rows, platt_targets(weigh(rows)))) {
    const double probability = std::clamp(block.mean(), 0.0, 1.0);
    result.values.push_back(block.first);
    result.probabilities.push_back(probability);
    if (block.last == block.first) continue;
    result.values.push_back(block.last);
    result.probabilities.push_back(probability);
  }
  return result;
}

std::shared_ptr<const Calibration> fit_calibration(CalibrationMethod method, Decision decision,
                                                   Index num_classes, const DecisionValues& scores,
                                                   std::span<const std::int32_t> codes,
                                                   std::span<const double> weights) {
  auto calibration = std::make_shared<Calibration>();
  calibration->method = method;
  calibration->decision = decision;
  calibration->num_classes = num_classes;
  calibration->machines.resize(usize(scores.cols));
  std::vector<std::pair<Index, Index>> classes;  // of each machine; -1: all others
  if (decision == Decision::single) {
    classes.emplace_back(0, 1);
  } else {
    for (Index i = 0; i < num_classes; ++i) {
      if (decision == Decision::one_vs_rest) classes.emplace_back(i, -1);
      for (Index j = i + 1; j < num_classes && decision == Decision::one_vs_one; ++j)
        classes.emplace_back(i, j);
    }
  }
  parallel_each(scores.cols, [&](Index m) {
    const auto [first, second] = classes[usize(m)];
    std::vector<ScoredRow> rows;
    for (Index i = 0; i < scores.rows; ++i) {
      const Index code = codes[usize(i)];
      const double weight = weights.empty() ? 1 : weights[usize(i)];
      if (weight > 0 && (code == first || code == second || second < 0))
        rows.push_back({scores.at(i, m), code == first, weight});
    }
    calibration->machines[usize(m)] =
        method == CalibrationMethod::sigmoid ? fit_sigmoid(rows) : fit_isotonic(std::move(rows));
  });
  calibration->validate();
  return calibration;
}

}  // namespace tamis
