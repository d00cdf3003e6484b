#include "selection/scaling_choices.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "data/column_values.hpp"
#include "selection/parameters.hpp"

namespace tamis {
namespace {

constexpr float kAlike = 10;          // ratio of the widest range of a column to the narrowest
constexpr double kSkewed = 2;         // skewness of a column that normal scores may serve
constexpr double kSkewedShare = 0.1;  // of such columns
constexpr Index kLeastValues = 10;    // different ones, of a column that has a shape
constexpr Index kSkewRows = 2000;     // that show it
constexpr Index kManyColumns = 200;   // of a sparse matrix: too many to store each of their zeros

// Columns of about the same range: somebody scaled them, or they count the same thing.
bool columns_are_alike(const Matrix& features) {
  float least = std::numeric_limits<float>::infinity();
  float most = 0;
  for (const float factor : Scaling::fit(features, ScalingMethod::minmax).factor) {
    if (factor == 0) continue;  // constant
    least = std::min(least, factor);
    most = std::max(most, factor);
  }
  return most <= kAlike * least;
}

// Third moment by the third power of the deviation: 0 for a symmetric column, 2 for an exponential
// one.
double skewness(std::span<const ValueRun> runs) {
  double rows = 0;
  double mean = 0;
  for (const ValueRun& run : runs) rows += static_cast<double>(run.count);
  for (const ValueRun& run : runs)
    mean += static_cast<double>(run.value) * static_cast<double>(run.count) / rows;
  double cubes = 0;
  for (const ValueRun& run : runs)
    cubes += std::pow(static_cast<double>(run.value) - mean, 3) * static_cast<double>(run.count);
  return cubes / rows / std::pow(standard_deviation(runs), 3);
}

// Columns of a few values are codes, which normal scores leave much as they are.
bool has_skewed_columns(const Dataset& data) {
  std::vector<Index> rows;
  const Index step = std::max<Index>(1, data.rows() / kSkewRows);
  for (Index i = 0; i < data.rows(); i += step) rows.push_back(i);
  std::atomic<Index> skewed = 0;
  visit_columns(data.features().select(rows), {}, [&](Index, std::span<const ValueRun> runs) {
    if (static_cast<Index>(runs.size()) >= kLeastValues && std::abs(skewness(runs)) > kSkewed)
      ++skewed;
  });
  return static_cast<double>(skewed) >= kSkewedShare * static_cast<double>(data.cols());
}

bool is_mostly_stored(const Dataset& data) {
  return !data.features().is_sparse() ||
         data.features().num_stored() * 2 > data.rows() * data.cols();
}

}  // namespace

std::vector<ScalingMethod> scaling_choices(const Dataset& data, const TrainOptions& asked) {
  if (keeps_scaling(asked)) return {scaling_of(asked)};
  if (!is_mostly_stored(data) && data.cols() > kManyColumns)
    return {ScalingMethod::none, ScalingMethod::maxabs};
  if (columns_are_alike(data.features())) {
    if (!has_skewed_columns(data)) return {ScalingMethod::none};
    return {ScalingMethod::none, ScalingMethod::quantile};
  }
  return {ScalingMethod::none, ScalingMethod::minmax, ScalingMethod::standard,
          ScalingMethod::quantile};
}

}  // namespace tamis
