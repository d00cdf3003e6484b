#include "methods/common/stopgap.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "base/random.hpp"
#include "methods/sifting/sifting.hpp"

namespace tamis {
namespace {

constexpr std::uint64_t kStream = 0x570b;
constexpr Index kMostRows = 1000;
constexpr Index kLeastRows = 100;
constexpr Index kLeastOfClass = 8;
// Products for the kernel matrix of the sample.
constexpr double kProducts = 2e8;
constexpr std::int64_t kIterations = 20'000;

}  // namespace

std::vector<Index> stopgap_rows(const TrainingSet& data, const TrainOptions& options) {
  const double per_row =
      static_cast<double>(data.features.num_stored()) / static_cast<double>(data.rows());
  const auto affordable = static_cast<Index>(std::sqrt(kProducts / std::max(1.0, per_row)));
  const Index wanted = std::clamp(affordable, kLeastRows, kMostRows);
  const double fraction =
      std::min(1.0, static_cast<double>(wanted) / static_cast<double>(data.rows()));
  return draw_rows(data, all_rows(data), fraction, kLeastOfClass, Random(options.seed, kStream));
}

TrainOptions stopgap_options(TrainOptions options) {
  options.max_seconds = 0;
  options.max_iterations =
      options.max_iterations > 0 ? std::min(options.max_iterations, kIterations) : kIterations;
  return options;
}

}  // namespace tamis
