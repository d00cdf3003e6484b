#include "methods/sampling/reweighting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

// The first rounds need no sharp answer: their draws are not the last.
constexpr double kFirstEps = 1e-2;
constexpr double kNextEps = 0.01;  // times the last

// Points a task looks at.
constexpr Index kBlock = 4096;

// Halvings of a weight: D / 1024 is as good as none.
constexpr std::int8_t kMaxDiscounts = 10;

// Rounds in a row without doubling, after which draws become larger.
constexpr int kMaxFailures = 2;

/// The caller's control with a cancel flag that time limits set as well: passes over all points
/// know only the flag.
class PassControl {
 public:
  explicit PassControl(const TrainContext& context) : control_(context.control) {
    control_.cancel = &stop_;
    control_.on_progress = [this, &context](const Progress&) {
      if (context.must_stop() != StopReason::converged) stop_ = true;
    };
  }
  const RunControl& control() const { return control_; }

 private:
  std::atomic<bool> stop_{false};
  RunControl control_;
};

}  // namespace

double round_bound(double delta, Index points) {
  return 6 * delta * std::log(static_cast<double>(points));
}

Reweighting::Reweighting(MarginPoints& points, const TrainContext& context,
                         const ReweightingSettings& settings)
    : points_(points),
      context_(context),
      settings_(settings),
      signs_(settings.store),
      discounts_(settings.store),
      urn_(points.size(), settings.store),
      random_(settings.seed, settings.stream),
      draw_size_(std::clamp<Index>(settings.first_draw, 1, points.size())),
      delta_(settings.delta),
      first_eps_(settings.carry_support ? std::max(settings.eps, kFirstEps) : settings.eps),
      follows_theorem_(
          first_eps_ == settings.eps && delta_ >= settings.dimension &&
          (draw_size_ == points.size() || static_cast<double>(draw_size_) >= 6 * delta_ * delta_)) {
  signs_.reserve(usize(points.size()));
  for (Index p = 0; p < points.size(); ++p) {
    signs_.push_back(points.sign(p) > 0 ? 1 : -1);
    sign_weight_[points.sign(p) > 0 ? 0 : 1] += points.weight(p);
  }
  if (settings.discount_outliers) discounts_.assign(usize(points.size()), 0);
}

Reweighting::Outcome Reweighting::run(const MarginForm& form) {
  if (has_run_) follows_theorem_ = false;  // the weights are those of another problem
  has_run_ = true;
  double eps = first_eps_;
  while (!must_stop()) {
    const std::vector<Index> draw = choose_draw(form);
    LocalLimits limits{eps, 0, 0};
    if (context_.options.max_iterations > 0)
      limits.max_iterations = context_.options.max_iterations - iterations_;
    if (context_.options.max_seconds > 0) limits.max_seconds = context_.seconds_left();
    DrawMargin local =
        solve_local_margin(points_, form, draw, has_answer() ? &answer_.margin : nullptr, limits,
                           context_.control, &counts_);
    iterations_ += local.iterations;
    if (!local.is_separated) return Outcome::not_separated;
    stop_reason_ = local.stop_reason;
    const bool is_cut_short = stop_reason_ > StopReason::precision_limit;
    // An earlier answer is better than half of this one.
    if (is_cut_short && (has_answer() || local.w.points.empty())) return Outcome::stopped;
    if (!check_all(std::move(local), form) || is_cut_short) return Outcome::stopped;

    RowVector<Index> found = violators(draw, eps * unit());
    if (found.empty() && eps <= settings_.eps && needs_double()) {
      in_double_ = true;
      if (!check_all(DrawMargin(answer_.margin), form)) return Outcome::stopped;
      found = violators(draw, eps * unit());
    }
    const ReweightingRound round = describe(form, draw, found);
    rounds_.push_back(round);
    if (settings_.on_status) settings_.on_status({iterations_, answer_.violation, round.drawn});
    if (found.empty()) {
      if (eps > settings_.eps) {
        eps = std::max(settings_.eps, kNextEps * eps);
        continue;
      }
      if (answer_.violation <= eps * unit()) return Outcome::certified;
      // Kernel values in float do not allow the draw itself to be solved better.
      stop_reason_ = StopReason::precision_limit;
      return Outcome::stopped;
    }
    if (round.is_successful) {
      for (const Index point : found) {
        urn_.double_weight(point);
        discount(point, form);
      }
    }
    adapt(round.is_successful);
  }
  return Outcome::stopped;
}

// The support vectors of the last answer, r points by weight, and what else each sign needs: a
// point at least, and for hulls so many that their coefficients can sum to 1.
std::vector<Index> Reweighting::choose_draw(const MarginForm& form) {
  std::vector<Index> draw;
  std::vector<bool> is_drawn(usize(points_.size()), false);
  double room[2] = {0, 0};
  const auto add = [&](Index point) {
    if (is_drawn[usize(point)]) return;
    is_drawn[usize(point)] = true;
    draw.push_back(point);
    room[signs_[usize(point)] > 0 ? 0 : 1] +=
        form.is_hull() ? form.limit() * points_.weight(point) : 1;
  };
  if (settings_.carry_support) {
    for (const Index point : answer_.margin.w.points) add(point);
  }
  const Index wanted = static_cast<Index>(draw.size()) + draw_size_;
  urn_.refill();
  Index point = 0;
  while (static_cast<Index>(draw.size()) < wanted && (point = urn_.next(random_)) >= 0) add(point);
  while (std::min(room[0], room[1]) < 1 && (point = urn_.next(random_)) >= 0) {
    if (room[signs_[usize(point)] > 0 ? 0 : 1] < 1) add(point);
  }
  std::sort(draw.begin(), draw.end());
  return draw;
}

ReweightingRound Reweighting::describe(const MarginForm& form, std::span<const Index> draw,
                                       std::span<const Index> found) const {
  ReweightingRound round;
  round.k = form.kind == MarginForm::Kind::hulls ? form.k : 0;
  round.drawn = static_cast<Index>(draw.size());
  round.delta = delta_;
  round.support = static_cast<Index>(answer_.margin.w.points.size());
  round.violators = static_cast<Index>(found.size());
  round.violator_share = urn_.share(found);
  round.is_successful = round.violator_share <= 1 / (3 * delta_);
  return round;
}

bool Reweighting::needs_double() const {
  return !in_double_ && points_.rounding(answer_.margin.w) > 0.1 * settings_.eps * unit();
}

// f of every point, in one pass, and how much each breaks its optimality condition; false when it
// was told to stop.
bool Reweighting::check_all(DrawMargin local, const MarginForm& form) {
  CheckedMargin checked;
  checked.values = RowVector<double>(usize(points_.size()), settings_.store);
  const PassControl pass(context_);
  try {
    points_.project(local.w, in_double_, checked.values, pass.control(), &counts_);
  } catch (const Cancelled&) {
    stop_reason_ = context_.must_stop();
    // Another rank was told to, this one not yet.
    if (stop_reason_ == StopReason::converged) stop_reason_ = StopReason::interrupted;
    if (!has_answer()) answer_.margin = std::move(local);
    return false;
  }
  std::vector<double> largest(usize((points_.size() + kBlock - 1) / kBlock), 0.0);
  parallel_ranges(points_.size(), kBlock, [&](Index begin, Index end) {
    for (Index block = begin; block < end; block += kBlock) {
      const Index last = std::min(block + kBlock, end);
      largest[usize(block / kBlock)] = add_offset(local, form, block, last, checked.values);
    }
  });
  checked.violation = *std::max_element(largest.begin(), largest.end());
  checked.margin = std::move(local);
  answer_ = std::move(checked);
  return true;
}

// Completes the values of points [begin, end) and returns the largest breach among them.
double Reweighting::add_offset(const DrawMargin& local, const MarginForm& form, Index begin,
                               Index end, std::span<double> values) const {
  const std::vector<Index>& support = local.w.points;
  auto next = usize(std::lower_bound(support.begin(), support.end(), begin) - support.begin());
  double largest = 0;
  for (Index p = begin; p < end; ++p) {
    values[usize(p)] += local.offset;
    const double short_of_margin = 1 - signs_[usize(p)] * values[usize(p)];
    double breach = short_of_margin;
    if (next < support.size() && support[next] == p) {
      const double coefficient = std::abs(local.w.coefficients[next++]);
      const double limit = form.limit() * points_.weight(p) / local.half_margin;
      const double slack = coefficient * form.ridge() / points_.weight(p);
      breach =
          coefficient >= limit * (1 - 1e-9) ? -short_of_margin : std::abs(short_of_margin - slack);
    }
    largest = std::max(largest, breach);
  }
  return largest;
}

RowVector<Index> Reweighting::violators(std::span<const Index> draw, double eps) const {
  const auto violates = [&](Index p) {
    return 1 - signs_[usize(p)] * answer_.values[usize(p)] > eps &&
           !std::binary_search(draw.begin(), draw.end(), p);
  };
  // Those of each block are counted, and then put where they belong.
  std::vector<Index> begins(usize((points_.size() + kBlock - 1) / kBlock) + 1, 0);
  parallel_ranges(points_.size(), kBlock, [&](Index begin, Index end) {
    for (Index p = begin; p < end; ++p) begins[usize(p / kBlock) + 1] += violates(p) ? 1 : 0;
  });
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  RowVector<Index> result(usize(begins.back()), settings_.store);
  parallel_ranges(points_.size(), kBlock, [&](Index begin, Index end) {
    Index next = begins[usize(begin / kBlock)];
    for (Index p = begin; p < end; ++p) {
      if (violates(p)) result[usize(next++)] = p;
    }
  });
  return result;
}

// D of a row that looks like an outlier, coordinated with its weight u (section 6 of the paper,
// left open there). Each D falls at most kMaxDiscounts times, after which the problem is fixed and
// its rounds end as always; a violator has no coefficient that could exceed its new limit; and each
// hull keeps twice the weight it needs.
void Reweighting::discount(Index point, const MarginForm& form) {
  if (discounts_.empty() || discounts_[usize(point)] == kMaxDiscounts ||
      signs_[usize(point)] * answer_.values[usize(point)] >= 0)
    return;
  double& left = sign_weight_[signs_[usize(point)] > 0 ? 0 : 1];
  const double half = points_.weight(point) / 2;
  if (form.is_hull() && left - half < 2 * form.k) return;
  left -= half;
  points_.halve_weight(point);
  ++discounts_[usize(point)];
  follows_theorem_ = false;
}

// Where violators are too heavy time and again, or the rounds exceed the bound, delta and r were
// too small a guess and draws become larger; and they are never smaller than what is carried, so
// that a problem with many support vectors takes a number of rounds that grows with their
// logarithm.
void Reweighting::adapt(bool is_successful) {
  failures_ = is_successful ? 0 : failures_ + 1;
  ++rounds_at_this_size_;
  // A draw of the theorem's size fails with a probability of up to 1/2: that is no stall.
  const bool too_heavy = failures_ >= kMaxFailures && !follows_theorem_;
  const bool too_many =
      static_cast<double>(rounds_at_this_size_) >= round_bound(delta_, points_.size());
  if (too_heavy || too_many) {
    change_delta(too_heavy, too_many);
    draw_size_ *= 2;
    failures_ = 0;
    rounds_at_this_size_ = 0;
  }
  if (settings_.carry_support)
    draw_size_ = std::max(draw_size_, static_cast<Index>(answer_.margin.w.points.size()));
  draw_size_ = std::min(draw_size_, points_.size());
}

// The paper doubles delta with r. But the weight of violators falls with delta / r and what is
// asked of them with 1 / delta, so that the next draw is no more likely to pass than the last:
// lowering delta asks for less. Beyond the combinatorial dimension no delta is of use.
void Reweighting::change_delta(bool too_heavy, bool too_many) {
  const double before = delta_;
  if (settings_.stalled_delta == StalledDelta::doubling) {
    delta_ *= 2;
  } else {
    if (too_heavy) delta_ = std::max(1.0, delta_ / 2);
    if (too_many) delta_ *= std::sqrt(2.0);
  }
  delta_ = std::min(delta_, std::max(before, settings_.dimension));
  if (delta_ != before) follows_theorem_ = false;
}

std::optional<double> Reweighting::theorem_bound() const {
  if (!follows_theorem_) return std::nullopt;
  return round_bound(delta_, points_.size());
}

bool Reweighting::must_stop() {
  stop_reason_ = context_.must_stop();
  if (stop_reason_ == StopReason::converged && context_.options.max_iterations > 0 &&
      iterations_ >= context_.options.max_iterations)
    stop_reason_ = StopReason::iteration_limit;
  return stop_reason_ != StopReason::converged;
}

}  // namespace tamis
