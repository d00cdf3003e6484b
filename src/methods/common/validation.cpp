#include "methods/common/validation.hpp"

#include <numeric>

#include "base/checked.hpp"

namespace tamis {

double Validation::error(const KernelExpansion& machine, const RunControl& control) const {
  std::vector<double> loss(usize(rows_.rows()));
  if (rows_.is_regression()) {
    machine.decision_values(rows_.features, loss, control);
    for (std::size_t i = 0; i < loss.size(); ++i)
      loss[i] = (loss[i] - rows_.targets[i]) * (loss[i] - rows_.targets[i]);
  } else {
    std::vector<std::int32_t> classes(loss.size());
    machine.classify(rows_.features, classes, control);
    for (std::size_t i = 0; i < loss.size(); ++i) loss[i] = classes[i] == rows_.codes[i] ? 0 : 1;
  }
  return std::inner_product(loss.begin(), loss.end(), rows_.cost.begin(), 0.0) /
         std::accumulate(rows_.cost.begin(), rows_.cost.end(), 0.0);
}

}  // namespace tamis
