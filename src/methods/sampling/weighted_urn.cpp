#include "methods/sampling/weighted_urn.hpp"

#include <cmath>
#include <numeric>

#include "base/checked.hpp"

namespace tamis {
namespace {

// Buckets this far below the heaviest weigh less than its rounding: 2^53 points would not make up
// for it.
constexpr std::size_t kNegligible = 120;

}  // namespace

WeightedUrn::WeightedUrn(Index points, const RowStore& store)
    : exponent_(usize(points), 0, store),
      place_(usize(points), store),
      buckets_(1, RowVector<Index>(store)),
      left_(1, 0) {
  std::iota(place_.begin(), place_.end(), 0);
  buckets_[0] = place_;
}

void WeightedUrn::double_weight(Index point) {
  const auto from = static_cast<std::size_t>(exponent_[usize(point)]++);
  if (buckets_.size() == from + 1) {
    buckets_.emplace_back(place_.get_allocator());
    left_.push_back(0);
  }
  const Index place = place_[usize(point)];
  const Index last = buckets_[from].back();
  buckets_[from][usize(place)] = last;
  place_[usize(last)] = place;
  buckets_[from].pop_back();
  place_[usize(point)] = static_cast<Index>(buckets_[from + 1].size());
  buckets_[from + 1].push_back(point);
}

double WeightedUrn::relative_weight(std::size_t exponent) const {
  return std::ldexp(1.0, -static_cast<int>(buckets_.size() - 1 - exponent));
}

double WeightedUrn::share(std::span<const Index> points) const {
  double all = 0;
  for (std::size_t e = 0; e < buckets_.size(); ++e)
    all += static_cast<double>(buckets_[e].size()) * relative_weight(e);
  std::vector<Index> count(buckets_.size(), 0);
  for (const Index point : points) ++count[static_cast<std::size_t>(exponent_[usize(point)])];
  double sum = 0;
  for (std::size_t e = 0; e < buckets_.size(); ++e)
    sum += static_cast<double>(count[e]) * relative_weight(e);
  return sum / all;
}

void WeightedUrn::refill() {
  for (std::size_t e = 0; e < buckets_.size(); ++e) left_[e] = buckets_[e].size();
}

Index WeightedUrn::next(Random& random) {
  std::size_t top = buckets_.size();
  while (top > 0 && left_[top - 1] == 0) --top;
  if (top == 0) return -1;
  const std::size_t bottom = top > kNegligible ? top - kNegligible : 0;
  double all = 0;
  for (std::size_t e = bottom; e < top; ++e)
    all += std::ldexp(static_cast<double>(left_[e]), -static_cast<int>(top - 1 - e));
  double aim = random.uniform() * all;
  std::size_t chosen = top - 1;
  for (std::size_t e = top; e-- > bottom;) {
    if (left_[e] == 0) continue;
    chosen = e;
    aim -= std::ldexp(static_cast<double>(left_[e]), -static_cast<int>(top - 1 - e));
    if (aim < 0) break;
  }
  // The point changes places with the last one left, which keeps the bucket whole.
  RowVector<Index>& bucket = buckets_[chosen];
  const std::size_t end = --left_[chosen];
  const auto at = usize(random.below(static_cast<Index>(end) + 1));
  std::swap(bucket[at], bucket[end]);
  place_[usize(bucket[at])] = static_cast<Index>(at);
  place_[usize(bucket[end])] = static_cast<Index>(end);
  return bucket[end];
}

}  // namespace tamis
