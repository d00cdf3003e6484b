#include "selection/search_points.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "tamis/error.hpp"

namespace tamis {

std::vector<std::vector<double>> grid_points(std::span<const TuneAxis> axes) {
  constexpr std::size_t kMost = 1'000'000;
  std::vector<std::vector<double>> points{{}};
  for (const TuneAxis& axis : axes) {
    if (points.size() > kMost / axis.values.size())
      throw InvalidArgument("the grid has more than a million points");
    std::vector<std::vector<double>> longer;
    for (const std::vector<double>& point : points) {
      for (const double value : axis.values) {
        longer.push_back(point);
        longer.back().push_back(value);
      }
    }
    points = std::move(longer);
  }
  return points;
}

std::vector<std::vector<double>> random_points(std::span<const TuneAxis> axes,
                                               std::span<const std::uint8_t> whole, Index count,
                                               Random& random) {
  std::vector<std::vector<double>> points(usize(count));
  for (std::vector<double>& point : points) {
    for (std::size_t a = 0; a < axes.size(); ++a) {
      const auto [low, high] = std::minmax_element(axes[a].values.begin(), axes[a].values.end());
      double value = *low > 0 ? std::exp(random.uniform(std::log(*low), std::log(*high)))
                              : random.uniform(*low, *high);
      value = std::clamp(value, *low, *high);
      point.push_back(whole[a] != 0 ? std::round(value) : value);
    }
  }
  return points;
}

}  // namespace tamis
