#include "linear/coordinate_descent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "base/random.hpp"
#include "data/copy_rows.hpp"
#include "linear/interior_point.hpp"
#include "linear/rows.hpp"

namespace tamis::linear {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNoSlope = 1e-12;  // LIBLINEAR's: below it a coefficient stays
constexpr Index kAhead = 8;         // points whose memory is asked for in advance
// The random order is one of runs of neighbours, and one within each window of so many runs: the
// rows of a window stay in the cache.
constexpr Index kRun = 16;
constexpr Index kWindowRuns = 128;
constexpr double kVisitValues = 10;   // what visiting a row takes beside its values, in values
constexpr double kEpochValues = 500;  // the same for an epoch, which may be one of very few rows
constexpr Index kChunk = 4096;        // points a task takes, and sums, at a time

/// All that one step needs to know about a coefficient, in one cache line. Classification is
/// written over alpha = t b >= 0, so that one sign convention serves shrinking and stopping.
struct alignas(64) Point {
  double alpha = 0;  ///< sign * b
  double lower = 0;
  double upper = 0;
  double slope = 0;      ///< linear term of the dual: 1, or the target
  double ridge = 0;      ///< squared losses
  double curvature = 0;  ///< |x|^2 + B^2 + ridge
  Place place;           ///< of the row's values
  float sign = 1;
  bool rests = false;
};

/// Directions in which the dual falls, seen from one coefficient.
struct Slopes {
  double up;    ///< derivative when alpha grows
  double down;  ///< derivative when alpha falls, from the left
};

struct Range {
  double high = 0;  ///< largest projected gradient, >= 0
  double low = 0;   ///< smallest, <= 0
  double width() const { return high - low; }
};

// Every order equally likely up to 2^-32. Quicker than Random::shuffle, which shows here.
void shuffle(Random& random, std::span<Index> order) {
  for (std::size_t i = order.size(); i > 1; --i) {
    const std::uint64_t pick = i <= UINT32_MAX ? (random.next_u32() * std::uint64_t{i}) >> 32
                                               : usize(random.below(static_cast<Index>(i)));
    std::swap(order[i - 1], order[pick]);
  }
}

double values_a_row(const Matrix& features) {
  const double stored = static_cast<double>(
      features.is_sparse() ? features.num_stored() : features.rows() * features.cols());
  return stored / static_cast<double>(std::max<Index>(1, features.rows()));
}

template <bool kTube, typename Rows>
class Descent {
 public:
  Descent(const Problem& problem, qp::StopCheck& stop, std::uint64_t seed)
      : problem_(problem),
        stop_(stop),
        random_(seed),
        given_(shuffled_points(problem.size())),
        features_(shuffled_features()),
        rows_(features_),
        points_(usize(problem.size()), problem.store),
        active_(problem.store),
        weights_(usize(problem.features.cols()), 0.0),
        clipped_(problem.nonnegative ? weights_.size() : 0, 0.0),
        used_weights_(problem.nonnegative ? clipped_.data() : weights_.data()) {
    wake_all();
    const double values = values_a_row(features_);
    values_a_visit_ = kVisitValues + values;
    interior_work_ = interior_work(problem.size(), problem.features.cols(), values);
    parallel_ranges(problem.size(), kChunk, [&](Index begin, Index end) {
      for (Index k = begin; k < end; ++k) points_[usize(k)] = make_point(k);
    });
    set_bias();
    if (!problem_.start.empty()) set_alphas(problem_.start);
  }

  Solution run(const qp::StatusCallback& on_status) {
    Solution solution;
    while (!stop_.must_stop(solution.epochs)) {
      if (creeps()) {
        jump();
        if (violation_ > stop_.limits().eps && is_beyond_precision()) {
          stop_.note_precision_limit();
          break;
        }
      }
      const bool all = num_active() == problem_.size();
      bool moved = false;
      const Range range = epoch(&moved);
      if (stop_.must_stop()) break;
      ++solution.epochs;
      violation_ = range.width();
      if (on_status) on_status({solution.epochs, range.width(), num_active()});
      const bool moved_centre = move_centre(range);
      // Whoever rests must look again before the end, and once the offset has moved on.
      const bool settled = range.width() <= stop_.limits().eps || !moved;
      if (settled && !all) {
        wake_all();
      } else if (is_optimal(range) || (!moved && !moved_centre)) {
        solution.violation = range.width();
        if (!is_optimal(range)) stop_.note_precision_limit();  // steps are lost in rounding
        break;
      } else {
        shrink_above_ = range.high > 0 ? range.high : kInfinity;
        shrink_below_ = range.low < 0 ? range.low : -kInfinity;
      }
    }
    finish(&solution);
    return solution;
  }

 private:
  RowVector<Index> shuffled_points(Index count) {
    RowVector<Index> order(usize(count), problem_.store);
    std::iota(order.begin(), order.end(), 0);
    shuffle(random_, order);
    return order;
  }
  Matrix shuffled_features() const {
    if (!problem_.copies_rows) return problem_.features;
    RowVector<Index> rows(problem_.store);
    rows.reserve(given_.size());
    for (const Index i : given_) rows.push_back(problem_.row(i));
    if (problem_.control == nullptr) return problem_.features.select(rows);
    return copy_rows(problem_.features, rows, "a shuffled copy of the rows", *problem_.control);
  }

  Point make_point(Index k) const {
    const Index i = given_[usize(k)];
    const double target = problem_.target[usize(i)];
    Point point;
    point.place = rows_.place(problem_.copies_rows ? k : problem_.row(i));
    point.upper = dual_bound(problem_, i);
    point.lower = kTube ? -point.upper : 0;
    point.ridge = dual_ridge(problem_, i);
    point.slope = kTube ? target : 1;
    point.sign = kTube ? 1.0F : static_cast<float>(target);
    point.curvature = rows_.squared_norm(point.place) + point.ridge;
    return point;
  }

  // A free offset is found by the method of multipliers: it is penalised with respect to a centre
  // that follows it, offset = centre + strength * sum of b, until the sum vanishes. A strength of
  // the size of the rows keeps the bias from being the slowest or the stiffest column.
  void set_bias() {
    if (problem_.bias.rule == Bias::Rule::none) return;
    bias_strength_ = problem_.bias.value * problem_.bias.value;
    if (problem_.bias.rule == Bias::Rule::free) {
      double sum = 0;
      for (const Point& point : points_) sum += point.curvature - point.ridge;
      bias_strength_ = sum > 0 ? sum / static_cast<double>(points_.size()) : 1;
    }
    for (Point& point : points_) point.curvature += bias_strength_;
  }

  // To be called with weights and offset of 0.
  void set_alphas(std::span<const double> beta) {
    for (std::size_t k = 0; k < points_.size(); ++k) {
      Point& point = points_[k];
      const double b = beta[usize(given_[k])];
      point.alpha = std::clamp(sign(point) * b, point.lower, point.upper);
      if (point.alpha != 0) move(point, point.alpha);
    }
  }

  // True once an interior-point method would have been as quick.
  bool creeps() const {
    return !jumped_ && work_ > interior_work_ && has_interior_method(problem_);
  }

  void jump() {
    jumped_ = true;
    const std::optional<InteriorSolution> found = solve_interior(problem_, stop_);
    if (!found || found->violation >= violation_) return;
    std::fill(weights_.begin(), weights_.end(), 0.0);
    offset_ = 0;
    set_alphas(found->beta);
    centre_ = problem_.bias.rule == Bias::Rule::free ? found->offset : 0;
    offset_ += centre_;
    violation_ = found->violation;
    wake_all();
  }

  // The coefficients' terms of a value are so large that their rounding is beyond the tolerance.
  bool is_beyond_precision() const {
    double largest = 0;
    for (const Point& point : points_) {
      if (point.upper < kInfinity)
        largest = std::max(largest, point.upper * (point.curvature - point.ridge));
    }
    return largest * std::numeric_limits<double>::epsilon() > stop_.limits().eps;
  }

  static double sign(const Point& point) { return static_cast<double>(point.sign); }
  Index num_active() const { return static_cast<Index>(active_.size()); }

  // The rows' part of alpha += step.
  void move(const Point& point, double step) {
    rows_.add(point.place, sign(point) * step, weights_.data());
    if (!clipped_.empty()) rows_.clip(point.place, weights_.data(), clipped_.data());
    offset_ += bias_strength_ * sign(point) * step;
  }

  Slopes slopes(const Point& point) const {
    const double value = rows_.dot(point.place, used_weights_) + offset_;
    const double gradient = sign(point) * value + point.ridge * point.alpha - point.slope;
    if constexpr (!kTube) return {gradient, gradient};
    return {gradient + (point.alpha >= 0 ? problem_.tube : -problem_.tube),
            gradient + (point.alpha > 0 ? problem_.tube : -problem_.tube)};
  }

  static double projected(const Point& point, const Slopes& slopes) {
    if (slopes.up < 0 && point.alpha < point.upper) return slopes.up;
    if (slopes.down > 0 && point.alpha > point.lower) return slopes.down;
    return 0;
  }

  // Held at its place by slopes steeper than any that moved something in the epoch before.
  bool can_rest(const Point& point, const Slopes& slopes) const {
    return (point.alpha >= point.upper || slopes.up > shrink_above_) &&
           (point.alpha <= point.lower || slopes.down < shrink_below_);
  }

  // The minimum along one coefficient. With a tube, the dual has a kink at 0.
  double best_alpha(const Point& point, const Slopes& slopes) const {
    double alpha = point.alpha - slopes.up / point.curvature;
    if constexpr (kTube) {
      const double at_kink = point.curvature * point.alpha;
      // Slopes as they are on either side of the kink.
      const double above = slopes.up + (point.alpha >= 0 ? 0 : 2 * problem_.tube);
      const double below = above - 2 * problem_.tube;
      alpha = above < at_kink   ? point.alpha - above / point.curvature
              : below > at_kink ? point.alpha - below / point.curvature
                                : 0;
    }
    return std::clamp(alpha, point.lower, point.upper);
  }

  // Visits every active point once; leaves early when the time is up.
  Range epoch(bool* moved) {
    Range range;
    std::vector<Index> runs(usize((num_active() + kRun - 1) / kRun));
    std::iota(runs.begin(), runs.end(), 0);
    shuffle(random_, runs);
    resting_ = 0;
    work_ += kEpochValues + static_cast<double>(num_active()) * values_a_visit_;
    std::vector<Index> window;
    for (std::size_t first = 0; first < runs.size(); first += kWindowRuns) {
      window.clear();
      for (std::size_t r = first; r < std::min(first + kWindowRuns, runs.size()); ++r) {
        const Index begin = runs[r] * kRun;
        const Index end = std::min(begin + kRun, num_active());
        window.insert(window.end(), active_.begin() + begin, active_.begin() + end);
      }
      shuffle(random_, window);
      visit(window, &range, moved);
      if (stop_.interrupted()) break;
    }
    if (resting_ > 0) std::erase_if(active_, [&](Index i) { return points_[usize(i)].rests; });
    return range;
  }

  void visit(std::span<const Index> window, Range* range, bool* moved) {
    for (std::size_t s = 0; s < window.size(); ++s) {
      if (s + 2 * kAhead < window.size())
        __builtin_prefetch(&points_[usize(window[s + 2 * kAhead])]);
      if (s + kAhead < window.size()) rows_.prefetch(points_[usize(window[s + kAhead])].place);
      Point& point = points_[usize(window[s])];
      const Slopes at = slopes(point);
      const double gradient = projected(point, at);
      if (gradient == 0 && can_rest(point, at)) {
        point.rests = true;
        ++resting_;
        continue;
      }
      range->high = std::max(range->high, gradient);
      range->low = std::min(range->low, gradient);
      if (std::abs(gradient) <= kNoSlope) continue;
      const double alpha = best_alpha(point, at);
      if (alpha == point.alpha) continue;
      move(point, alpha - point.alpha);
      point.alpha = alpha;
      *moved = true;
    }
  }

  double drift() const { return problem_.bias.rule == Bias::Rule::free ? offset_ - centre_ : 0; }
  bool is_optimal(const Range& range) const {
    return range.width() <= stop_.limits().eps && std::abs(drift()) <= stop_.limits().eps;
  }
  void wake_all() {
    active_.resize(points_.size());
    std::iota(active_.begin(), active_.end(), 0);
    for (Point& point : points_) point.rests = false;
    shrink_above_ = kInfinity;
    shrink_below_ = -kInfinity;
  }
  // Once the points have settled around the present centre, the centre moves on.
  bool move_centre(const Range& range) {
    const double step = drift();
    if (std::abs(step) <= stop_.limits().eps ||
        range.width() > std::max(stop_.limits().eps, std::abs(step)))
      return false;
    centre_ = offset_;
    offset_ += step;
    return true;
  }

  struct Sums {
    double primal = 0;
    double dual = 0;
    double beta = 0;
    Range range;
    Index support_vectors = 0;
    Index bounded = 0;
  };

  Sums sum_chunk(Index begin, Index end, RowVector<double>* beta) const {
    Sums sums;
    for (Index k = begin; k < end; ++k) {
      const Point& point = points_[usize(k)];
      const Index i = given_[usize(k)];
      const double b = sign(point) * point.alpha;
      (*beta)[usize(i)] = b;
      const double value = rows_.dot(point.place, used_weights_) + offset_;
      sums.primal += primal_loss(problem_, i, value);
      sums.dual += dual_loss(problem_, i, b);
      sums.beta += b;
      const double gradient = projected(point, slopes(point));
      sums.range.high = std::max(sums.range.high, gradient);
      sums.range.low = std::min(sums.range.low, gradient);
      if (b != 0) ++sums.support_vectors;
      if (b != 0 && (point.alpha == point.upper || point.alpha == point.lower)) ++sums.bounded;
    }
    return sums;
  }

  // One more pass over the rows: objectives, and how far the answer is from the optimum.
  void finish(Solution* solution) {
    const Index chunks = (problem_.size() + kChunk - 1) / kChunk;
    std::vector<Sums> parts(usize(chunks));
    solution->beta = RowVector<double>(points_.size(), problem_.store);
    parallel_each(chunks, [&](Index c) {
      parts[usize(c)] =
          sum_chunk(c * kChunk, std::min((c + 1) * kChunk, problem_.size()), &solution->beta);
    });
    Sums all;
    for (const Sums& part : parts) {
      all.primal += part.primal;
      all.dual += part.dual;
      all.beta += part.beta;
      all.range.high = std::max(all.range.high, part.range.high);
      all.range.low = std::min(all.range.low, part.range.low);
      all.support_vectors += part.support_vectors;
      all.bounded += part.bounded;
    }
    double norm = 0;
    if (problem_.nonnegative) weights_.swap(clipped_);
    for (const double w : weights_) norm += w * w;
    // Penalised: the offset's share of |w|^2. Free: what the sum of b, which should be 0, is worth.
    const bool is_free = problem_.bias.rule == Bias::Rule::free;
    if (bias_strength_ > 0 && !is_free) norm += offset_ * offset_ / bias_strength_;
    solution->objective = norm / 2 + all.dual;
    const double gap = norm + all.primal + all.dual + (is_free ? offset_ * all.beta : 0);
    solution->gap = std::max(0.0, gap);
    solution->stop_reason = stop_.reason();
    if (solution->stop_reason != StopReason::converged)
      solution->violation = std::max(all.range.width(), std::abs(drift()));
    solution->support_vectors = all.support_vectors;
    solution->bounded_support_vectors = all.bounded;
    solution->offset = offset_;
    solution->weights = std::move(weights_);
  }

  const Problem& problem_;
  qp::StopCheck& stop_;
  Random random_;
  RowVector<Index> given_;  // points are kept in a random order: which one of the problem each is
  Matrix features_;         // their rows, in that order unless they are left where they are
  Rows rows_;
  RowVector<Point> points_;
  RowVector<Index> active_;  // the points that do not rest, in about the order of their rows
  Index resting_ = 0;        // of these, put to rest in this epoch
  double values_a_visit_ = 0;
  double interior_work_ = 0;      // values for which an interior-point method would be done
  double work_ = 0;               // values visited so far
  double violation_ = kInfinity;  // of the epoch before
  bool jumped_ = false;
  std::vector<double> weights_;  // sum of sign * alpha * row, always
  std::vector<double> clipped_;  // nonnegative: the same, or 0 where that is negative
  const double* used_weights_;   // the w of the machine: one of the two
  double offset_ = 0;            // centre_ + bias_strength_ * sum of sign * alpha, always
  double centre_ = 0;
  double bias_strength_ = 0;
  double shrink_above_ = kInfinity;
  double shrink_below_ = -kInfinity;
};

bool has_indicators(const Matrix& features) {
  if (!features.is_sparse()) return false;
  const auto values = features.sparse_values();
  return std::all_of(values.begin(), values.end(), [](float v) { return v == 1.0F; });
}

template <bool kTube>
Solution solve_with(const Problem& problem, qp::StopCheck& stop, std::uint64_t seed,
                    const qp::StatusCallback& on_status) {
  if (has_indicators(problem.features))
    return Descent<kTube, IndicatorRows>(problem, stop, seed).run(on_status);
  if (problem.features.is_sparse())
    return Descent<kTube, SparseRows>(problem, stop, seed).run(on_status);
  return Descent<kTube, DenseRows>(problem, stop, seed).run(on_status);
}

}  // namespace

Solution solve(const Problem& problem, qp::StopCheck& stop, std::uint64_t seed,
               const qp::StatusCallback& on_status) {
  require_sound(problem);
  if (problem.task == Task::regression) return solve_with<true>(problem, stop, seed, on_status);
  return solve_with<false>(problem, stop, seed, on_status);
}

Index memory_bytes(Index points, Index cols) {
  // And the order of the runs of an epoch.
  return checked_product(cols, sizeof(double)) + interior_bytes(points, cols) +
         points / kRun * static_cast<Index>(sizeof(Index));
}

// Points, their order, the active ones, and the answer.
Index point_bytes(Index points, Index cols) {
  return checked_product(points, sizeof(Point) + 2 * sizeof(Index) + sizeof(double)) +
         interior_point_bytes(points, cols);
}

}  // namespace tamis::linear
