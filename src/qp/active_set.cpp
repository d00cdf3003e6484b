#include "qp/active_set.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "base/infinity.hpp"
#include "base/parallel.hpp"
#include "qp/choice.hpp"
#include "qp/collect.hpp"
#include "qp/top.hpp"

namespace tamis::qp {
namespace {

constexpr Index kChunk =
    8192;  // points per piece of a parallel pass; fixed, so that results do not depend on threads

// Coefficients whose rows are named to the source at a time: far more than it needs to be quick.
constexpr std::size_t kTermsAtOnce = 16 * kRowsBrought;

// The points for which goes_first(point) holds, and the others, in their order.
struct Split {
  RowVector<Index> first;
  RowVector<Index> second;
};
template <typename GoesFirst>
Split split(const RowVector<Index>& points, const GoesFirst& goes_first) {
  const Choice choice(std::ssize(points), points.get_allocator().store(),
                      [&](Index k) { return goes_first(points[usize(k)]); });
  const auto point = [&](Index k) { return points[usize(k)]; };
  return {choice.chosen(point), choice.others(point)};
}

}  // namespace

ActiveSet::ActiveSet(const Problem& problem, RowSource& source, Group& group,
                     RowVector<Index> first_points)
    : problem_(problem),
      source_(source),
      group_(group),
      total_points_(sum_of_all(group, problem.size())),
      beta_(usize(problem.size()), 0.0, problem.store()),
      resting_sums_(beta_),
      place_(usize(problem.size()), -1, problem.store()),
      points_(problem.store()),
      sums_(problem.store()),
      up_(problem.store()),
      down_(problem.store()),
      next_sums_(problem.store()) {
  if (!problem.start.empty()) beta_.assign(problem.start.begin(), problem.start.end());
  adopt(std::move(first_points));
  if (is_complete()) return;
  const Choice active(problem.size(), problem.store(), [&](Index i) { return place_of(i) >= 0; });
  // Their F = 0 belongs to beta = 0: no coefficients.
  rests_.push_back({active.others([](Index i) { return i; }), {}});
}

ActiveSet::Rest ActiveSet::empty_rest() const {
  return {RowVector<Index>(problem_.store()),
          RowVector<std::pair<Index, double>>(problem_.store())};
}

// Makes `points` the active ones: F comes from wherever each point was before.
void ActiveSet::adopt(RowVector<Index> points) {
  RowVector<double> sums(points.size(), problem_.store());
  for (std::size_t p = 0; p < points.size(); ++p) {
    const Index place = place_of(points[p]);
    sums[p] = place >= 0 ? sums_[usize(place)] : resting_sums_[usize(points[p])];
  }
  for (std::size_t p = 0; p < points_.size(); ++p) {
    resting_sums_[usize(points_[p])] = sums_[p];
    place_[usize(points_[p])] = -1;
  }
  points_ = std::move(points);
  sums_ = std::move(sums);
  up_.resize(points_.size());
  down_.resize(points_.size());
  for (Index p = 0; p < size(); ++p) {
    place_[usize(points_[usize(p)])] = p;
    refresh_slopes(p);
  }
  source_.set_active(points_);
  total_size_ = sum_of_all(group_, size());
}

void ActiveSet::refresh_slopes(Index place) {
  const Slopes slopes = slopes_at(problem_, points_[usize(place)], beta(points_[usize(place)]));
  up_[usize(place)] = slopes.up;
  down_[usize(place)] = slopes.down;
}

RowVector<std::pair<Index, double>> ActiveSet::nonzero_coefficients() const {
  const Choice nonzero(problem_.size(), problem_.store(), [&](Index i) { return beta(i) != 0; });
  return nonzero.chosen([&](Index i) { return std::pair(i, beta(i)); });
}

RowVector<ActiveSet::Term> ActiveSet::in_order_of_all(RowVector<Term> mine) const {
  if (group_.size() > 1) {
    const std::vector<Term> all = gather_all(group_, on_heap(mine));
    mine.assign(all.begin(), all.end());
  }
  parallel_sort(std::span(mine), [](const Term& a, const Term& b) { return a.key < b.key; });
  return mine;
}

// add(numbers, values) for the terms, so many at a time; true: none was stopped.
template <typename Add>
bool ActiveSet::add_terms(std::span<const Term> terms, std::size_t at_once, const Add& add) {
  bool whole = true;
  for (std::size_t first = 0; first < terms.size() && whole; first += at_once) {
    std::vector<PointName> names;
    std::vector<double> values;
    for (const Term& term : terms.subspan(first, std::min(at_once, terms.size() - first))) {
      names.push_back(term.name);
      values.push_back(term.value);
    }
    whole = !any_of_all(group_, !add(source_.bring(names), values));
  }
  return whole;
}

bool ActiveSet::start() {
  const Choice nonzero(problem_.size(), problem_.store(), [&](Index i) { return beta(i) != 0; });
  const RowVector<Term> terms = in_order_of_all(nonzero.chosen([&](Index i) {
    return Term{problem_.key_at(i), name_of(i), beta(i)};
  }));
  if (terms.empty()) return true;
  RowVector<double> sums = sums_;
  if (!problem_.start_sums.empty()) {
    for (std::size_t p = 0; p < sums.size(); ++p) sums[p] = problem_.start_sums[usize(points_[p])];
  } else if (!add_terms(terms, kRowsBrought,
                        [&](std::span<const Index> rows, std::span<const double> values) {
                          return source_.accumulate(rows, values, sums);
                        })) {
    objective_ = std::numeric_limits<double>::quiet_NaN();  // nobody knows F of the start
    return false;
  }
  sums_.swap(sums);
  for (std::size_t first = 0; first < terms.size(); first += kRowsBrought) {
    std::vector<PointName> names;
    for (const Term& term :
         std::span(terms).subspan(first).first(std::min(kRowsBrought, terms.size() - first))) {
      names.push_back(term.name);
      if (term.name.owner != group_.rank()) continue;
      sums_[usize(place_of(term.name.point))] += problem_.ridge_at(term.name.point) * term.value;
    }
    for (const BlockPoint& point : look_at(names)) {
      objective_ +=
          point.beta * (point.sum / 2 - point.target) + problem_.tube * std::abs(point.beta);
    }
  }
  return true;
}

Violation ActiveSet::measure() const {
  const Index chunks = (size() + kChunk - 1) / kChunk;
  const bool one_group = problem_.num_groups() == 1;
  std::vector<Violation> parts(usize(chunks),
                               Violation{{-kInfinity, -kInfinity}, {kInfinity, kInfinity}});
  parallel_ranges(size(), kChunk, [&](Index begin, Index end) {
    for (Index first = begin; first < end; first += kChunk) {
      Violation& part = parts[usize(first / kChunk)];
      for (Index p = first; p < std::min(first + kChunk, end); ++p) {
        const int group = one_group ? 0 : problem_.group_at(points_[usize(p)]);
        part.max_up[group] = std::max(part.max_up[group], up_score(p));
        part.min_down[group] = std::min(part.min_down[group], down_score(p));
      }
    }
  });
  const auto widened = [](Violation all, const std::vector<Violation>& more) {
    for (const Violation& part : more) {
      for (int g = 0; g < 2; ++g) {
        all.max_up[g] = std::max(all.max_up[g], part.max_up[g]);
        all.min_down[g] = std::min(all.min_down[g], part.min_down[g]);
      }
    }
    return all;
  };
  const Violation nothing{{-kInfinity, -kInfinity}, {kInfinity, kInfinity}};
  Violation all = widened(nothing, gather_values(group_, widened(nothing, parts)));
  all.gap = std::max(all.max_up[0] - all.min_down[0], all.max_up[1] - all.min_down[1]);
  return all;
}

std::vector<BlockPoint> ActiveSet::look_at(std::span<const PointName> names) const {
  return collect(group_, names, [&](Index i) {
    return BlockPoint{name_of(i),
                      problem_.group_at(i),
                      problem_.target[usize(i)],
                      problem_.lower[usize(i)],
                      problem_.upper[usize(i)],
                      problem_.ridge_at(i),
                      source_.diagonal()[usize(i)],
                      beta(i),
                      sums_[usize(place_of(i))]};
  });
}

bool ActiveSet::change(std::span<const BlockPoint> points, std::span<const Index> numbers,
                       std::span<const double> new_beta) {
  std::vector<double> steps;
  std::vector<PointName> names;
  next_sums_ = sums_;  // so that nothing is lost when the work is stopped half way
  for (std::size_t k = 0; k < points.size(); ++k) {
    steps.push_back(new_beta[k] - points[k].beta);
    names.push_back(points[k].name);
  }
  if (any_of_all(group_, !source_.accumulate(numbers, steps, next_sums_))) return false;
  sums_.swap(next_sums_);
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (names[k].owner != group_.rank()) continue;
    const Index place = place_of(names[k].point);
    sums_[usize(place)] += points[k].ridge * steps[k];
    beta_[usize(names[k].point)] = new_beta[k];
    refresh_slopes(place);
  }
  const std::vector<double> now =
      collect(group_, names, [&](Index i) { return sums_[usize(place_of(i))]; });
  for (std::size_t k = 0; k < points.size(); ++k) {
    // 1/2 b'Kb - t'b changes by step * (mean of F before and after - t).
    objective_ += steps[k] * ((points[k].sum + now[k]) / 2 - points[k].target) +
                  problem_.tube * (std::abs(new_beta[k]) - std::abs(points[k].beta));
  }
  return true;
}

bool ActiveSet::rest_hopeless(const Violation& violation, Index count) {
  if (sum_of_all(group_, count) * 4 < total_size_)
    return false;  // moving everything that stays would cost more than it saves
  const auto goes = [&](Index i) {
    const int group = problem_.group_at(i);
    return is_hopeless(up_score(place_of(i)) - violation.min_down[group],
                       violation.max_up[group] - down_score(place_of(i)));
  };
  Split parts = split(points_, goes);
  rests_.push_back({std::move(parts.first), nonzero_coefficients()});
  adopt(std::move(parts.second));
  ++times_rested_;
  return true;
}

bool ActiveSet::bring_up_to_date(const Rest& rest) {
  RowVector<double> then(usize(problem_.size()), 0.0, problem_.store());
  for (const auto& [point, value] : rest.coefficients) then[usize(point)] = value;
  const Choice changed(problem_.size(), problem_.store(),
                       [&](Index i) { return beta(i) != then[usize(i)]; });
  const RowVector<Term> terms = in_order_of_all(changed.chosen([&](Index i) {
    return Term{problem_.key_at(i), name_of(i), beta(i) - then[usize(i)]};
  }));
  RowVector<double> sums(rest.points.size(), problem_.store());
  for (std::size_t k = 0; k < sums.size(); ++k) sums[k] = resting_sums_[usize(rest.points[k])];
  if (!add_terms(terms, group_.size() == 1 ? kTermsAtOnce : kRowsBrought,
                 [&](std::span<const Index> rows, std::span<const double> values) {
                   return source_.accumulate_at(rest.points, rows, values, sums);
                 }))
    return false;
  for (std::size_t k = 0; k < sums.size(); ++k) resting_sums_[usize(rest.points[k])] = sums[k];
  return true;
}

// How far beyond the middle of the active scores a resting point is, by the F that is known of it;
// the excess over eps / 2 is what forbids stopping.
double ActiveSet::excess_of_resting(Index point, const Violation& violation) const {
  const Slopes slopes = slopes_at(problem_, point, beta(point));
  const double middle = violation.middle(problem_.group_at(point));
  return std::max(slopes.up - resting_sums_[usize(point)] - middle,
                  middle - slopes.down + resting_sums_[usize(point)]);
}

// Takes the points within reach out of the rests, with their F up to date. Nothing: told to stop.
std::optional<ActiveSet::Rest> ActiveSet::look_at_resting(const Violation& violation,
                                                          double reach) {
  Rest looked_at = empty_rest();
  std::vector<Rest> left;
  for (Rest& rest : rests_) {
    Split parts =
        split(rest.points, [&](Index i) { return excess_of_resting(i, violation) > -reach; });
    Rest near{std::move(parts.first), std::move(rest.coefficients)};
    Rest far{std::move(parts.second), {}};
    if (sum_of_all(group_, std::ssize(near.points)) > 0 && !bring_up_to_date(near))
      return std::nullopt;
    looked_at.points.insert(looked_at.points.end(), near.points.begin(), near.points.end());
    if (sum_of_all(group_, std::ssize(far.points)) == 0) continue;
    far.coefficients = std::move(near.coefficients);
    left.push_back(std::move(far));
  }
  rests_ = std::move(left);
  return looked_at;
}

Index ActiveSet::wake_violators(const Violation& violation, double eps, Index most, double reach) {
  if (rests_.empty()) return 0;
  const std::optional<Rest> looked_at = look_at_resting(violation, reach);
  if (!looked_at) return -1;
  const RowVector<Index>& rested = looked_at->points;
  const Choice violating(std::ssize(rested), problem_.store(), [&](Index k) {
    return excess_of_resting(rested[usize(k)], violation) > eps / 2;
  });
  RowVector<Ranked> violators = violating.chosen([&](Index k) {
    const Index i = rested[usize(k)];
    return Ranked{excess_of_resting(i, violation), problem_.key_at(i), i};
  });
  Rest united{violating.others([&](Index k) { return rested[usize(k)]; }), {}};
  for (const Ranked& left : drop_all_but_top(group_, most, &violators))
    united.points.push_back(left.index);
  RowVector<Index> points(problem_.store());
  points.reserve(points_.size() + violators.size());
  points.assign(points_.begin(), points_.end());
  for (const Ranked& violator : violators) points.push_back(violator.index);
  std::sort(points.begin() + size(), points.end());
  std::sort(united.points.begin(), united.points.end());
  united.coefficients = nonzero_coefficients();
  const Index total_woken = sum_of_all(group_, std::ssize(violators));
  if (total_woken > 0) adopt(std::move(points));
  if (sum_of_all(group_, std::ssize(united.points)) > 0) rests_.push_back(std::move(united));
  return total_woken;
}

void ActiveSet::write_to(SolverState* state) const {
  state->progress.objective = objective_;
  state->progress.num_rests = std::ssize(rests_);
  for (std::size_t p = 0; p < points_.size(); ++p)
    state->points.push_back({problem_.key_at(points_[p]), beta(points_[p]), sums_[p], 0});
  for (std::size_t r = 0; r < rests_.size(); ++r) {
    const auto number = static_cast<std::int64_t>(r);
    for (const Index i : rests_[r].points)
      state->points.push_back({problem_.key_at(i), beta(i), resting_sums_[usize(i)], number + 1});
    for (const auto& [point, value] : rests_[r].coefficients)
      state->remembered.push_back({problem_.key_at(point), value, number});
  }
}

void ActiveSet::restore(std::span<const SolverState> parts) {
  std::unordered_map<std::uint64_t, Index> point_of;
  point_of.reserve(usize(problem_.size()));
  for (Index i = 0; i < problem_.size(); ++i) point_of.emplace(problem_.key_at(i), i);
  objective_ = parts[0].progress.objective;
  rests_.assign(usize(parts[0].progress.num_rests), empty_rest());
  RowVector<Index> active(problem_.store());
  Index found_points = 0;
  for (const SolverState& part : parts) {
    for (const SolverState::Point& point : part.points) {
      const auto found = point_of.find(point.key);
      if (found == point_of.end()) continue;  // another rank has it
      const Index i = found->second;
      ++found_points;
      beta_[usize(i)] = point.beta;
      resting_sums_[usize(i)] = point.sum;
      if (point.rest == 0)
        active.push_back(i);
      else
        rests_.at(usize(point.rest - 1)).points.push_back(i);
    }
    for (const SolverState::Remembered& one : part.remembered) {
      const auto found = point_of.find(one.key);
      if (found != point_of.end())
        rests_.at(usize(one.rest)).coefficients.emplace_back(found->second, one.value);
    }
  }
  if (any_of_all(group_, found_points != problem_.size()))
    throw DataError("the checkpoint is of other rows; remove it to begin anew");
  for (Rest& rest : rests_) std::sort(rest.points.begin(), rest.points.end());
  std::sort(active.begin(), active.end());
  // All points take their F from resting_sums_.
  for (const Index i : points_) place_[usize(i)] = -1;
  points_.clear();
  sums_.clear();
  adopt(std::move(active));
}

RowVector<double> ActiveSet::all_sums() const {
  RowVector<double> result = resting_sums_;
  for (std::size_t p = 0; p < points_.size(); ++p) result[usize(points_[p])] = sums_[p];
  return result;
}

}  // namespace tamis::qp
