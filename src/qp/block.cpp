#include "qp/block.hpp"

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "qp/pair_steps.hpp"

namespace tamis::qp {

bool Block::lay_out(const Problem& problem, std::span<const double> diagonal, RowSource& source,
                    std::span<const Index> numbers, bool precise) {
  std::vector<Index> points(usize(problem.size()));
  std::iota(points.begin(), points.end(), 0);
  std::stable_partition(points.begin(), points.end(),
                        [&](Index i) { return problem.group_at(i) == 0; });
  const auto second =
      std::find_if(points.begin(), points.end(), [&](Index i) { return problem.group_at(i) == 1; });
  group_split_ = static_cast<Index>(second - points.begin());
  points_ = std::move(points);
  if (group_split_ < static_cast<Index>(points_.size())) {
    const Index fillers = round_up(group_split_, kPairPadding) - group_split_;
    points_.insert(points_.begin() + group_split_, usize(fillers), kFiller);
    group_split_ += fillers;
  }
  const Index size = static_cast<Index>(points_.size());
  // An odd multiple of a cache line: rows at distances of a power of two would share few places of
  // the caches.
  stride_ = round_up(size, kPairPadding) | kPairPadding;
  if (size * stride_ > room_) {
    room_ = size * stride_;
    kernel_ = std::make_unique_for_overwrite<float[]>(usize(room_));
  }
  std::vector<Index> named = points_;  // fillers get some point's values, which nobody reads
  std::replace(named.begin(), named.end(), kFiller,
               points_[points_[0] == kFiller ? usize(group_split_) : 0]);
  rest_.resize(precise ? usize(size * stride_) : 0);
  std::vector<Index> numbered;
  numbered.reserve(named.size());
  for (const Index i : named) numbered.push_back(numbers.empty() ? i : numbers[usize(i)]);
  if (!precise)
    source.square(numbered, kernel_.get(), stride_);
  else if (!source.precise_square(numbered, kernel_.get(), rest_.data(), stride_))
    return false;
  diagonal_.clear();
  for (Index k = 0; k < size; ++k) {
    const Index i = named[usize(k)];
    diagonal_.push_back(diagonal[usize(i)] + problem.ridge_at(i));
    kernel_[usize(k * stride_ + k)] = static_cast<float>(diagonal_.back());
    if (precise) {
      rest_[usize(k * stride_ + k)] = static_cast<float>(
          diagonal_.back() - static_cast<double>(kernel_[usize(k * stride_ + k)]));
    }
  }
  beta_.assign(usize(size), 0.0);
  return true;
}

PairResult Block::solve(const Problem& problem, std::span<const double> sums,
                        const PairLimits& limits) {
  const SubProblem part{points_, group_split_, kernel_.get(), stride_, diagonal_, sums, beta_};
  return solve_pairs(problem, part, limits);
}

std::vector<double> Block::own_sums() const {
  const Index size = static_cast<Index>(points_.size());
  std::vector<double> sums(usize(size), 0.0);
  for (Index r = 0; r < size; ++r) {
    if (beta_[usize(r)] == 0) continue;
    for (Index c = 0; c < size; ++c)
      sums[usize(c)] += beta_[usize(r)] * static_cast<double>(kernel_[usize(r * stride_ + c)]);
    if (rest_.empty()) continue;
    for (Index c = 0; c < size; ++c)
      sums[usize(c)] += beta_[usize(r)] * static_cast<double>(rest_[usize(r * stride_ + c)]);
  }
  return sums;
}

}  // namespace tamis::qp
