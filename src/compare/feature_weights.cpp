#include "compare/feature_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tamis {

std::vector<std::pair<std::string, double>> largest_weights(const Model& model) {
  constexpr std::size_t kMost = 100;
  const std::vector<float>& weights = model.scaling().weights;
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t shown = std::min(kMost, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&](std::size_t a, std::size_t b) {
                      return weights[a] != weights[b] ? weights[a] > weights[b] : a < b;
                    });
  const bool is_named = !weights.empty() && model.columns().inputs > 0;
  const std::vector<std::string> names =
      is_named ? model.columns().output_names() : std::vector<std::string>();
  std::vector<std::pair<std::string, double>> result;
  for (std::size_t k = 0; k < shown; ++k) {
    const std::size_t j = order[k];
    result.emplace_back(names.empty() ? fmt::format("column {}", j + 1) : names[j],
                        static_cast<double>(weights[j]));
  }
  return result;
}

}  // namespace tamis
