#include "selection/scaling_choices.hpp"

#include <algorithm>
#include <limits>

#include "selection/parameters.hpp"

namespace tamis {
namespace {

constexpr float kAlike = 10;         // ratio of the widest range of a column to the narrowest
constexpr Index kManyColumns = 200;  // of a sparse matrix: too many to store each of their zeros

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

bool is_mostly_stored(const Dataset& data) {
  return !data.features().is_sparse() ||
         data.features().num_stored() * 2 > data.rows() * data.cols();
}

}  // namespace

std::vector<ScalingMethod> scaling_choices(const Dataset& data, const TrainOptions& asked) {
  if (keeps_scaling(asked)) return {scaling_of(asked)};
  if (!is_mostly_stored(data) && data.cols() > kManyColumns)
    return {ScalingMethod::none, ScalingMethod::maxabs};
  if (columns_are_alike(data.features())) return {ScalingMethod::none};
  return {ScalingMethod::none, ScalingMethod::minmax, ScalingMethod::standard};
}

}  // namespace tamis
