#include "methods/local/local_tuning.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/checked.hpp"
#include "gram/stored_rows.hpp"
#include "methods/common/shared_grid.hpp"

namespace tamis {
namespace {

constexpr Index kFolds = 3;
constexpr double kCostFactors[] = {0.25, 1, 4};
constexpr double kGammaFactors[] = {0.25, 1, 4};
constexpr double kMargin = 1;  // deviations of the number of errors
constexpr double kSquaresMargin = 0.1;

// Classes numbered anew without those that are not here: each pair of classes takes time.
TrainingSet with_own_classes(TrainingSet set) {
  std::vector<std::int32_t> present(set.codes.begin(), set.codes.end());
  std::sort(present.begin(), present.end());
  present.erase(std::unique(present.begin(), present.end()), present.end());
  for (std::int32_t& code : set.codes)
    code = static_cast<std::int32_t>(std::lower_bound(present.begin(), present.end(), code) -
                                     present.begin());
  set.num_classes = std::ssize(present);
  return set;
}

bool has_gamma(const Kernel& kernel) { return kernel.type != KernelType::linear; }

std::vector<CostAndGamma> points_around(double cost, const Kernel& kernel) {
  std::vector<CostAndGamma> points = {{cost, kernel.gamma}};
  for (const double gamma : kGammaFactors) {
    if (gamma != 1 && !has_gamma(kernel)) continue;
    for (const double factor : kCostFactors) {
      if (gamma != 1 || factor != 1) points.push_back({cost * factor, kernel.gamma * gamma});
    }
  }
  return points;
}

// Every third of the innermost rows: each fold has near and far ones.
std::vector<std::vector<Index>> folds_of(Index innermost) {
  const Index folds = std::min(kFolds, innermost);
  std::vector<std::vector<Index>> result(usize(folds));
  for (Index row = 0; row < innermost; ++row) result[usize(row % folds)].push_back(row);
  return result;
}

double mean_error(const FoldScores& scores) {
  double sum = 0;
  for (const double error : scores.errors) sum += error;
  return sum / static_cast<double>(scores.errors.size());
}

}  // namespace

// The distances, and a kernel matrix for each gamma.
Index tuning_bytes(Index rows) {
  return checked_product(1 + std::ssize(kGammaFactors), StoredMatrix::size_bytes(rows));
}

LocalChoice tune_neighborhood(const TrainingSet& given, Index innermost,
                              const TrainContext& context) {
  const LocalChoice global{1, given.kernel.gamma};
  const TrainingSet set = given.is_regression() ? given : with_own_classes(given);
  if (!set.is_regression() && set.num_classes < 2) return global;
  const double cost = context.options.cost_or_default();
  const std::vector<CostAndGamma> points = points_around(cost, set.kernel);
  const std::vector<std::vector<Index>> folds = folds_of(std::min(innermost, set.rows()));
  if (folds.size() < 2) return global;
  const std::vector<FoldScores> scores =
      cross_validate_exact(set, points, folds, false, context, [] {});
  const double own = mean_error(scores[0]);
  std::size_t best = 0;
  for (std::size_t p = 1; p < points.size(); ++p) {
    if (mean_error(scores[p]) < mean_error(scores[best])) best = p;  // never of those cut short
  }
  if (std::isnan(own) || best == 0) return global;
  const double gain = own - mean_error(scores[best]);
  const auto rows = static_cast<double>(innermost);
  const bool pays = set.is_regression() ? gain > kSquaresMargin * own
                                        : gain * rows > kMargin * std::sqrt(own * rows);
  return pays ? LocalChoice{points[best].cost / cost, points[best].gamma} : global;
}

}  // namespace tamis
