#include "methods/sampling/margin_search.hpp"

#include <algorithm>
#include <cmath>

namespace tamis {

MarginSearch find_smallest_k(Reweighting& sampling, double largest_k) {
  using Outcome = Reweighting::Outcome;
  const auto run = [&](double k) { return sampling.run({MarginForm::Kind::hulls, k, 0}); };
  double too_small = 0;
  double k = std::min(1.0, largest_k);
  Outcome outcome = run(k);
  while (outcome == Outcome::not_separated && k < largest_k) {
    too_small = k;
    k = std::min(2 * k, largest_k);
    outcome = run(k);
  }
  if (outcome != Outcome::certified) return {outcome == Outcome::stopped ? k : 0, outcome};
  CheckedMargin best = sampling.answer();
  while (k - too_small > std::max(1.0, 0.01 * k)) {
    const double middle = std::floor((k + too_small) / 2);
    outcome = run(middle);
    if (outcome == Outcome::stopped) break;
    if (outcome == Outcome::certified) {
      k = middle;
      best = sampling.answer();
    } else {
      too_small = middle;
    }
  }
  sampling.restore(std::move(best));
  return {k, outcome == Outcome::stopped ? outcome : Outcome::certified};
}

}  // namespace tamis
