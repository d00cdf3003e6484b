#include "qp/block.hpp"

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "base/clock.hpp"
#include "base/page_memory.hpp"
#include "base/parallel.hpp"
#include "qp/pair_steps.hpp"

namespace tamis::qp {

Problem problem_of(std::span<const BlockPoint> points, double tube, std::vector<double>* diagonal) {
  Problem part;
  part.tube = tube;
  for (auto* of_points : {&part.target, &part.lower, &part.upper, &part.ridge})
    of_points->reserve(points.size());
  for (const BlockPoint& point : points) {
    part.target.push_back(point.target);
    part.lower.push_back(point.lower);
    part.upper.push_back(point.upper);
    part.ridge.push_back(point.ridge);
    part.group.push_back(static_cast<std::uint8_t>(point.group));
    diagonal->push_back(point.diagonal);
  }
  return part;
}

bool Block::lay_out(const Problem& problem, std::span<const double> diagonal, RowSource& source,
                    std::span<const Index> numbers, std::span<const PointName> names,
                    Values values) {
  const Stopwatch watch;
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
    names_.clear();
    room_ = size * stride_;
    kernel_.reset();
    // One that is made for a single problem must not be cleared by the system first, as fresh pages
    // are.
    kernel_ = values == Values::as_needed ? reserve_floats(room_) : ordinary_floats(room_);
  }
  std::vector<Index> named = points_;  // fillers get some point's values, which nobody reads
  std::replace(named.begin(), named.end(), kFiller,
               points_[points_[0] == kFiller ? usize(group_split_) : 0]);
  diagonal_.clear();
  for (const Index i : named) diagonal_.push_back(diagonal[usize(i)] + problem.ridge_at(i));
  beta_.assign(usize(size), 0.0);
  if (!numbers.empty()) {
    for (Index& i : named) i = numbers[usize(i)];
  }
  const bool whole = group_split_ == size;  // nothing was moved to its group, or filled up
  const Index known = whole ? take_over_known(names) : 0;
  names_.clear();
  const bool computed = compute_values(source, named, known, values);
  seconds_ += watch.seconds();
  if (!computed) return false;
  if (whole && source_ == nullptr) names_.assign(names.begin(), names.end());
  names_stride_ = stride_;
  return true;
}

// The points that two blocks have in common are the first of the old one and the last of the new
// one, in the same order. Where old and new places overlap, nothing is kept.
Index Block::take_over_known(std::span<const PointName> names) {
  if (names_.empty() || names_stride_ != stride_) return 0;
  std::vector<Index> old_places;  // of the last points, from the last one
  auto old = std::ssize(names_);
  for (auto k = std::ssize(names) - 1; k >= 0 && old >= 0; --k) {
    do --old;
    while (old >= 0 && !(names_[usize(old)] == names[usize(k)]));
    if (old >= 0) old_places.push_back(old);
  }
  if (old_places.empty() || old_places.front() >= std::ssize(names) - std::ssize(old_places))
    return 0;
  std::reverse(old_places.begin(), old_places.end());
  const auto known = std::ssize(old_places);
  const Index first = std::ssize(names) - known;
  if (!solves()) return known;
  // Most of them stood side by side.
  std::vector<Index> run_ends;
  for (Index k = 1; k <= known; ++k) {
    if (k == known || old_places[usize(k)] != old_places[usize(k - 1)] + 1) run_ends.push_back(k);
  }
  parallel_ranges(known, 64, [&](Index begin, Index end) {
    for (Index k = begin; k < end; ++k) {
      const float* from = kernel_.get() + old_places[usize(k)] * stride_;
      float* to = kernel_.get() + (first + k) * stride_ + first;
      Index c = 0;
      for (const Index run_end : run_ends) {
        std::copy_n(from + old_places[usize(c)], run_end - c, to + c);
        c = run_end;
      }
    }
  });
  return known;
}

// A row computed alone costs twice as much as one of a square, half of which is mirrored: where the
// last block used half of its rows, the square is computed whole. So it is for fewer rows when all
// ranks compute it.
bool Block::compute_values(RowSource& source, std::span<const Index> numbers, Index known,
                           Values values) {
  const auto size = static_cast<Index>(numbers.size());
  rest_.resize(values == Values::precise ? usize(size * stride_) : 0);
  source_ = nullptr;
  used_.clear();
  if (values == Values::as_needed) {
    used_.assign(usize(size), 0);
    const Index workers = way_ == by_all_ranks ? group_.size() : 1;
    if (2 * workers * num_used_ < size && source.begin_block(numbers)) {
      source_ = &source;
      states_ = std::vector<std::atomic<std::uint8_t>>(usize(size));
      return true;
    }
  }
  if (values != Values::precise)
    compute_square(source, numbers, known);
  else if (!source.precise_square(numbers, kernel_.get(), rest_.data(), stride_))
    return false;
  for (Index k = 0; k < size; ++k) {
    set_diagonal(k);
    if (values != Values::precise) continue;
    rest_[usize(k * stride_ + k)] = static_cast<float>(
        diagonal_[usize(k)] - static_cast<double>(kernel_[usize(k * stride_ + k)]));
  }
  return true;
}

void Block::compute_square(RowSource& source, std::span<const Index> numbers, Index known) {
  const Stopwatch watch;
  const auto size = std::ssize(numbers);
  if (way_ == by_all_ranks)
    source.rest_of_square_together(numbers, known, kernel_.get(), stride_);
  else if (solves())
    source.rest_of_square(numbers, known, kernel_.get(), stride_);
  measured_ways_.note(way_, watch.seconds() / static_cast<double>(size * size - known * known));
}

void Block::fill_row(Index k) {
  std::uint8_t state = missing;
  if (!states_[usize(k)].compare_exchange_strong(state, underway)) return;
  try {
    source_->block_row(k, kernel_.get() + k * stride_);
  } catch (...) {
    states_[usize(k)] = missing;  // nobody must wait for it
    throw;
  }
  set_diagonal(k);
  states_[usize(k)].store(there, std::memory_order_release);
}

void Block::need_row(Index k) {
  if (used_[usize(k)] != 0) return;
  used_[usize(k)] = 1;
  ++num_used_;
  if (source_ == nullptr) return;
  // Another thread that is at it needs less time than to go to sleep and wake up takes.
  while (states_[usize(k)].load(std::memory_order_acquire) != there) fill_row(k);
}

// While one thread solves, the others compute the rows it will probably read: those of new points
// and of old ones in turns, the most urgent first. Which rows are there in time changes no value.
PairResult Block::solve_as_needed(const Problem& problem, SubProblem part,
                                  const PairLimits& limits) {
  const Index size = static_cast<Index>(points_.size());
  const Index half = (size + 1) / 2;
  num_used_ = 0;
  part.need_row = [this](Index k) { need_row(k); };
  PairResult result;
  std::atomic<bool> solved = false;
  std::atomic<Index> next = 0;
  parallel_each(source_ == nullptr ? 1 : loop_threads(), [&](Index task) {
    if (task == 0) {
      result = solve_pairs(problem, part, limits);
      solved = true;
    }
    while (!solved) {
      const Index n = next++;
      if (n >= size) return;
      fill_row(n % 2 == 0 ? n / 2 : half + n / 2);
    }
  });
  if (source_ != nullptr) source_->end_block(num_used_);
  return result;
}

PairResult Block::solve(const Problem& problem, std::span<const double> sums,
                        const PairLimits& limits) {
  PairResult result;
  if (solves()) {
    const Stopwatch watch;
    const SubProblem part{points_,   group_split_, kernel_.get(), stride_,
                          diagonal_, sums,         beta_,         {}};
    result =
        used_.empty() ? solve_pairs(problem, part, limits) : solve_as_needed(problem, part, limits);
    seconds_ += watch.seconds();
  }
  if (group_.size() > 1) share(&result);
  return result;
}

void Block::share(PairResult* result) {
  std::vector<double> message;
  if (solves()) {
    message = beta_;
    for (const double fact :
         {static_cast<double>(result->iterations), result->gap, static_cast<double>(num_used_),
          static_cast<double>(measured_ways_.next())})
      message.push_back(fact);
  }
  message = broadcast_list(group_, message, 0);
  const auto facts = std::span(message).last(4);
  result->iterations = static_cast<std::int64_t>(facts[0]);
  result->gap = facts[1];
  num_used_ = static_cast<Index>(facts[2]);
  way_ = static_cast<int>(facts[3]);
  std::copy_n(message.begin(), beta_.size(), beta_.begin());
  if (!solves() && source_ != nullptr) source_->end_block(0);
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
