#include "qp/active_set.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "base/checked.hpp"
#include "base/parallel.hpp"

namespace tamis::qp {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Index kChunk =
    8192;  // points per piece of a parallel pass; fixed, so that results do not depend on threads

}  // namespace

ActiveSet::ActiveSet(const Problem& problem, RowSource& source, std::vector<Index> first_points)
    : problem_(problem),
      source_(source),
      beta_(problem.start.empty() ? std::vector<double>(usize(problem.size()), 0.0)
                                  : problem.start),
      resting_sums_(usize(problem.size()), 0.0),
      place_(usize(problem.size()), -1) {
  adopt(std::move(first_points));
  Rest rest;
  for (Index i = 0; i < problem.size(); ++i) {
    if (place_of(i) < 0) rest.points.push_back(i);
  }
  if (!rest.points.empty())
    rests_.push_back(std::move(rest));  // their F = 0 belongs to beta = 0: no coefficients
}

// Makes `points` the active ones: F comes from wherever each point was before.
void ActiveSet::adopt(std::vector<Index> points) {
  std::vector<double> sums(points.size());
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
}

void ActiveSet::refresh_slopes(Index place) {
  const Slopes slopes = slopes_at(problem_, points_[usize(place)], beta(points_[usize(place)]));
  up_[usize(place)] = slopes.up;
  down_[usize(place)] = slopes.down;
}

std::vector<std::pair<Index, double>> ActiveSet::nonzero_coefficients() const {
  std::vector<std::pair<Index, double>> result;
  for (Index i = 0; i < problem_.size(); ++i) {
    if (beta(i) != 0) result.emplace_back(i, beta(i));
  }
  return result;
}

bool ActiveSet::start() {
  std::vector<Index> rows;
  std::vector<double> coefficients;
  for (const auto& [point, value] : nonzero_coefficients()) {
    rows.push_back(point);
    coefficients.push_back(value);
  }
  if (rows.empty()) return true;
  std::vector<double> sums = sums_;
  if (!problem_.start_sums.empty()) {
    for (std::size_t p = 0; p < sums.size(); ++p) sums[p] = problem_.start_sums[usize(points_[p])];
  } else if (!source_.accumulate(rows, coefficients, sums)) {
    objective_ = std::numeric_limits<double>::quiet_NaN();  // nobody knows F of the start
    return false;
  }
  sums_.swap(sums);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto place = usize(place_of(rows[r]));
    const double b = coefficients[r];
    sums_[place] += problem_.ridge_at(rows[r]) * b;
    objective_ +=
        b * (sums_[place] / 2 - problem_.target[usize(rows[r])]) + problem_.tube * std::abs(b);
  }
  return true;
}

Violation ActiveSet::measure() const {
  const Index chunks = (size() + kChunk - 1) / kChunk;
  std::vector<Violation> parts(usize(chunks),
                               Violation{{-kInfinity, -kInfinity}, {kInfinity, kInfinity}});
  parallel_ranges(size(), kChunk, [&](Index begin, Index end) {
    for (Index first = begin; first < end; first += kChunk) {
      Violation& part = parts[usize(first / kChunk)];
      for (Index p = first; p < std::min(first + kChunk, end); ++p) {
        const int group = problem_.group_at(points_[usize(p)]);
        part.max_up[group] = std::max(part.max_up[group], up_score(p));
        part.min_down[group] = std::min(part.min_down[group], down_score(p));
      }
    }
  });
  Violation all{{-kInfinity, -kInfinity}, {kInfinity, kInfinity}};
  for (const Violation& part : parts) {
    for (int g = 0; g < 2; ++g) {
      all.max_up[g] = std::max(all.max_up[g], part.max_up[g]);
      all.min_down[g] = std::min(all.min_down[g], part.min_down[g]);
    }
  }
  all.gap = std::max(all.max_up[0] - all.min_down[0], all.max_up[1] - all.min_down[1]);
  return all;
}

bool ActiveSet::change(std::span<const Index> points, std::span<const double> new_beta) {
  std::vector<double> steps;
  std::vector<double> sums =
      sums_;  // a copy, so that nothing is lost when the work is stopped half way
  for (std::size_t k = 0; k < points.size(); ++k) steps.push_back(new_beta[k] - beta(points[k]));
  if (!source_.accumulate(points, steps, sums)) return false;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const auto place = usize(place_of(points[k]));
    const double old_beta = beta(points[k]);
    sums[place] += problem_.ridge_at(points[k]) * steps[k];
    // 1/2 b'Kb - t'b changes by step * (mean of F before and after - t).
    objective_ +=
        steps[k] * ((sums_[place] + sums[place]) / 2 - problem_.target[usize(points[k])]) +
        problem_.tube * (std::abs(new_beta[k]) - std::abs(old_beta));
  }
  sums_.swap(sums);
  for (std::size_t k = 0; k < points.size(); ++k) {
    beta_[usize(points[k])] = new_beta[k];
    refresh_slopes(place_of(points[k]));
  }
  return true;
}

// A point that can only rise and whose up score lies below every down score would not move next,
// nor soon: LIBSVM's rule.
bool ActiveSet::is_hopeless(Index place, const Violation& violation) const {
  const int group = problem_.group_at(points_[usize(place)]);
  const bool can_rise = std::isfinite(up_[usize(place)]);
  const bool can_fall = std::isfinite(down_[usize(place)]);
  if (can_rise && can_fall) return false;
  if (can_rise) return up_score(place) < violation.min_down[group];
  return !can_fall || down_score(place) > violation.max_up[group];
}

void ActiveSet::rest_hopeless(const Violation& violation) {
  std::atomic<Index> count = 0;
  parallel_ranges(size(), kChunk, [&](Index begin, Index end) {
    Index here = 0;
    for (Index p = begin; p < end; ++p) here += is_hopeless(p, violation) ? 1 : 0;
    count += here;
  });
  if (count * 4 < size()) return;  // moving everything that stays would cost more than it saves
  std::vector<Index> stay;
  Rest rest;
  for (Index p = 0; p < size(); ++p)
    (is_hopeless(p, violation) ? rest.points : stay).push_back(points_[usize(p)]);
  rest.coefficients = nonzero_coefficients();
  rests_.push_back(std::move(rest));
  adopt(std::move(stay));
}

bool ActiveSet::bring_up_to_date(const Rest& rest) {
  std::vector<double> then(usize(problem_.size()), 0.0);
  for (const auto& [point, value] : rest.coefficients) then[usize(point)] = value;
  std::vector<Index> rows;
  std::vector<double> steps;
  for (Index i = 0; i < problem_.size(); ++i) {
    if (beta(i) == then[usize(i)]) continue;
    rows.push_back(i);
    steps.push_back(beta(i) - then[usize(i)]);
  }
  std::vector<double> sums(rest.points.size());
  for (std::size_t k = 0; k < sums.size(); ++k) sums[k] = resting_sums_[usize(rest.points[k])];
  if (!source_.accumulate_at(rest.points, rows, steps, sums)) return false;
  for (std::size_t k = 0; k < sums.size(); ++k) resting_sums_[usize(rest.points[k])] = sums[k];
  return true;
}

Index ActiveSet::wake_violators(const Violation& violation, double eps, Index most) {
  if (rests_.empty()) return 0;
  for (const Rest& rest : rests_) {
    if (!bring_up_to_date(rest)) return -1;
  }
  // How far beyond the middle of the active scores a resting point is; the excess over eps / 2 is
  // what forbids stopping.
  std::vector<std::pair<double, Index>> violators;
  Rest united;
  for (const Rest& rest : rests_) {
    for (const Index i : rest.points) {
      const Slopes slopes = slopes_at(problem_, i, beta(i));
      const double middle = violation.middle(problem_.group_at(i));
      const double excess = std::max(slopes.up - resting_sums_[usize(i)] - middle,
                                     middle - slopes.down + resting_sums_[usize(i)]);
      if (excess > eps / 2)
        violators.emplace_back(-excess, i);
      else
        united.points.push_back(i);
    }
  }
  if (static_cast<Index>(violators.size()) > most) {
    std::nth_element(violators.begin(), violators.begin() + most, violators.end());
    for (std::size_t k = usize(most); k < violators.size(); ++k)
      united.points.push_back(violators[k].second);
    violators.resize(usize(most));
  }
  std::vector<Index> points = points_;
  std::vector<Index> woken;
  woken.reserve(violators.size());
  for (const auto& [excess, i] : violators) woken.push_back(i);
  std::sort(woken.begin(), woken.end());
  points.insert(points.end(), woken.begin(), woken.end());
  std::sort(united.points.begin(), united.points.end());
  united.coefficients = nonzero_coefficients();
  rests_.clear();
  if (!united.points.empty()) rests_.push_back(std::move(united));
  if (!woken.empty()) adopt(std::move(points));
  return static_cast<Index>(woken.size());
}

std::vector<double> ActiveSet::all_sums() const {
  std::vector<double> result = resting_sums_;
  for (std::size_t p = 0; p < points_.size(); ++p) result[usize(points_[p])] = sums_[p];
  return result;
}

}  // namespace tamis::qp
