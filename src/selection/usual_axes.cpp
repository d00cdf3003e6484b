#include "selection/usual_axes.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/checked.hpp"
#include "selection/parameters.hpp"
#include "selection/search_rows.hpp"
#include "tamis/error.hpp"
#include "training/registry.hpp"

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
  return resolve_gamma({}, scaling.apply(some.features(), control), base.kernel_or_default());
}

}  // namespace

std::vector<TuneAxis> usual_axes(const Dataset& data, const TrainOptions& base,
                                 const RunControl& control) {
  const TuningAxes& rule = find_method(base.method).tuning;
  if (rule.chooses_itself) {
    throw InvalidArgument(
        fmt::format("{} chooses its parameters itself: name the options to tune", base.method));
  }
  const bool fine = rule.shares_kernel;
  std::vector<TuneAxis> axes;
  if (!rule.k.empty()) axes.push_back({"k", rule.k});
  if (rule.cost && uses_cost(base))
    axes.push_back({"cost", fine ? powers(std::ldexp(1, -5), 4, 10) : powers(0.5, 8, 5)});
  if (!rule.gamma || !has_gamma(base)) {
    if (axes.empty())
      throw InvalidArgument("these options leave no cost and no gamma to tune: name the options");
    return axes;
  }
  const double gamma = usual_gamma(data, base, control);
  axes.push_back(
      {"gamma", fine ? powers(gamma * std::ldexp(1, -10), 4, 10) : powers(gamma / 16, 8, 5)});
  return axes;
}

}  // namespace tamis
