#include "selection/usual_axes.hpp"

#include <cmath>

#include "base/checked.hpp"
#include "selection/parameters.hpp"
#include "selection/search_rows.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr Index kGammaRows = 5000;  // whose spread is enough to place gamma

std::vector<double> powers(double from, double factor, int count) {
  std::vector<double> values(usize(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = from * std::pow(factor, static_cast<double>(i));
  return values;
}

// What the rule `scale` gives on the rows as they will be scaled.
double usual_gamma(const Dataset& data, const TrainOptions& base, const RunControl& control) {
  const Dataset some = draw_search_rows(data, kGammaRows, base);
  const Scaling scaling = Scaling::fit(some.features(), scaling_of(base), 0, 1, control);
  return resolve_gamma({}, scaling.apply(some.features(), control));
}

}  // namespace

std::vector<TuneAxis> usual_axes(const Dataset& data, const TrainOptions& base,
                                 const RunControl& control) {
  if (base.method == "falk-l")
    throw InvalidArgument("falk-l chooses its parameters itself: name others to tune");
  if (base.method == "knn") return {{"k", {1, 3, 5, 9, 15, 25, 45}}};
  const bool is_exact = base.method == "exact";
  std::vector<TuneAxis> axes;
  if (base.method != "opt-margin")  // a hard margin has no cost
    axes.push_back({"cost", is_exact ? powers(std::ldexp(1, -5), 4, 10) : powers(0.5, 8, 5)});
  if (!has_gamma(base)) return axes;
  const double gamma = usual_gamma(data, base, control);
  axes.push_back(
      {"gamma", is_exact ? powers(gamma * std::ldexp(1, -10), 4, 10) : powers(gamma / 16, 8, 5)});
  return axes;
}

}  // namespace tamis
