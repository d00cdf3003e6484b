#include "linear/coordinate_descent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "base/infinity.hpp"
#include "base/message.hpp"
#include "base/parallel.hpp"
#include "base/random.hpp"
#include "data/copy_rows.hpp"
#include "linear/block_sums.hpp"
#include "linear/descent_point.hpp"
#include "linear/interior_point.hpp"
#include "linear/rows.hpp"

namespace tamis::linear {
namespace {

constexpr double kNoSlope = 1e-12;  // LIBLINEAR's: below it a coefficient stays
constexpr Index kAhead = 8;         // points whose memory is asked for in advance
// The random order is one of runs of neighbours, and one within each window of so many runs: the
// rows of a window stay in the cache.
constexpr Index kRun = 16;
constexpr Index kWindowRuns = 128;
constexpr double kVisitValues = 10;   // what visiting a row takes beside its values, in values
constexpr double kEpochValues = 500;  // the same for an epoch, which may be one of very few rows
constexpr Index kChunk = 4096;        // points a task takes, and sums, at a time
// Epochs in which the violation must fall by a hundredth. Steps of a coefficient that are small
// next to its bound, as of rows with large values, would take for ever; so would steps lost in
// rounding.
constexpr std::int64_t kEpochsToProgress = 100'000;
constexpr double kLeastProgress = 0.99;

template <bool kTube, typename Rows>
class Descent {
 public:
  Descent(const Problem& problem, qp::StopCheck& stop, std::uint64_t seed, double most_epochs)
      : problem_(problem),
        stop_(stop),
        group_(problem.group == nullptr ? alone() : *problem.group),
        sums_(problem.blocks.empty()
                  ? std::vector<Index>{0, problem.size()}
                  : std::vector<Index>(problem.blocks.begin(), problem.blocks.end()),
              group_),
        order_random_(Random(seed).split(usize(kMostBlocks))),
        blocks_(random_streams(seed)),
        given_(shuffled_points()),
        features_(shuffled_features()),
        rows_(features_),
        points_(usize(problem.size()), problem.store),
        weights_(usize(problem.features.cols()), 0.0),
        clipped_(problem.nonnegative ? weights_.size() : 0, 0.0),
        used_weights_(problem.nonnegative ? clipped_.data() : weights_.data()) {
    parallel_ranges(problem.size(), kChunk, [&](Index begin, Index end) {
      for (Index k = begin; k < end; ++k) points_[usize(k)] = make_point(k);
    });
    wake_all();
    count_values();
    most_work_ = most_epochs * static_cast<double>(total_) * values_a_visit_;
    set_bias();
    if (!problem_.start.empty()) set_alphas(problem_.start);
  }

  /// `is_done` says whether there is more to it than that it took too many epochs.
  Solution run(const qp::StatusCallback& on_status, bool* is_done) {
    Solution solution;
    *is_done = true;
    while (!must_stop(solution.epochs)) {
      if (work_ > most_work_) {
        *is_done = false;
        break;
      }
      if (converges_slowly()) {
        jump();
        if (violation_ > stop_.limits().eps && is_beyond_precision()) {
          stop_.note_precision_limit();
          break;
        }
      }
      if (solution.epochs > 0 && solution.epochs % kEpochsToProgress == 0) {
        if (lowest_ > kLeastProgress * lowest_before_) {
          stop_.note_precision_limit();
          break;
        }
        lowest_before_ = lowest_;
      }
      const bool all = active_ == total_;
      const auto [range, active, offset, moved, interrupted] = epoch();
      active_ = active;
      if (must_stop(0)) break;
      ++solution.epochs;
      violation_ = range.width();
      lowest_ = std::min(lowest_, violation_);
      if (on_status) on_status({solution.epochs, range.width(), active_});
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
  /// Points that are visited together, in an order of their own.
  struct Block {
    Random random;
    RowVector<Index> active;  // those that do not rest, in about the order of their rows
    std::vector<Index> runs;  // of these, in the order of this epoch
  };

  std::vector<Block> random_streams(std::uint64_t seed) const {
    std::vector<Block> blocks;
    for (Index k = 0; k < sums_.blocks(); ++k)
      blocks.push_back({sums_.blocks() == 1 ? Random(seed) : Random(seed).split(usize(k)),
                        RowVector<Index>(problem_.store),
                        {}});
    return blocks;
  }
  RowVector<Index> shuffled_points() {
    RowVector<Index> order(usize(problem_.size()), problem_.store);
    std::iota(order.begin(), order.end(), 0);
    for (Index k = 0; k < sums_.blocks(); ++k) {
      const Index begin = sums_.block_begin(k);
      shuffle(blocks_[usize(k)].random,
              std::span(order).subspan(usize(begin), usize(sums_.block_begin(k + 1) - begin)));
    }
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
      const double sum = sums_.sum(1, [&](Index begin, Index end, double* out) {
        for (Index k = begin; k < end; ++k)
          out[0] += points_[usize(k)].curvature - points_[usize(k)].ridge;
      })[0];
      bias_strength_ = sum > 0 ? sum / static_cast<double>(total_) : 1;
    }
    for (Point& point : points_) point.curvature += bias_strength_;
  }

  void count_values() {
    const std::vector<double> counts = sums_.sum(2, [&](Index begin, Index end, double* out) {
      for (Index k = begin; k < end; ++k)
        out[0] += static_cast<double>(points_[usize(k)].place.length);
      out[1] += static_cast<double>(end - begin);
    });
    total_ = static_cast<Index>(counts[1]);
    active_ = total_;
    const double values = counts[0] / std::max(1.0, counts[1]);
    values_a_visit_ = kVisitValues + values;
    interior_work_ = interior_work(total_, problem_.features.cols(), values);
  }

  // All ranks end together.
  bool must_stop(std::int64_t epochs) {
    stop_.must_stop(epochs);
    if (group_.size() > 1) stop_.adopt_reason(largest_of_all(group_, stop_.reason()));
    return stop_.reason() != StopReason::converged;
  }

  void set_alphas(std::span<const double> beta) {
    const std::size_t cols = weights_.size();
    std::vector<double> sums = sums_.sum(cols + 1, [&](Index begin, Index end, double* out) {
      for (Index k = begin; k < end; ++k) {
        Point& point = points_[usize(k)];
        const double b = beta[usize(given_[usize(k)])];
        point.alpha = std::clamp(sign(point) * b, point.lower, point.upper);
        if (point.alpha == 0) continue;
        rows_.add(point.place, sign(point) * point.alpha, out);
        out[cols] += sign(point) * point.alpha;
      }
    });
    offset_ = bias_strength_ * sums.back();
    std::copy_n(sums.begin(), cols, weights_.begin());
    for (std::size_t j = 0; j < clipped_.size(); ++j) clipped_[j] = std::max(0.0, weights_[j]);
  }

  // True once an interior-point method would have been as quick.
  bool converges_slowly() const {
    return !jumped_ && work_ > interior_work_ && problem_.blocks.empty() &&
           has_interior_method(problem_);
  }

  void jump() {
    jumped_ = true;
    const std::optional<InteriorSolution> found = solve_interior(problem_, stop_);
    if (!found || found->violation >= violation_) return;
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
    largest = largest_of_all(group_, largest);
    return largest * std::numeric_limits<double>::epsilon() > stop_.limits().eps;
  }

  static double sign(const Point& point) { return static_cast<double>(point.sign); }

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

  // Held at its place by slopes steeper than any that moved something in the epoch before.
  bool can_rest(const Point& point, const Slopes& slopes) const {
    return (point.alpha >= point.upper || slopes.up > shrink_above_) &&
           (point.alpha <= point.lower || slopes.down < shrink_below_);
  }

  // Visits every active point once; leaves early when the time is up. The blocks are visited in
  // pieces, in a random order: whole blocks, or always the same order, would need many times the
  // epochs (measured). The weights go to the rank that has the next piece.
  Token epoch() {
    Token token;
    work_ += kEpochValues + static_cast<double>(active_) * values_a_visit_;
    for (Block& block : blocks_) {
      block.runs.resize((block.active.size() + kRun - 1) / kRun);
      std::iota(block.runs.begin(), block.runs.end(), 0);
      shuffle(block.random, block.runs);
    }
    int holder = 0;  // all ranks have the weights
    for (const Piece& piece : pieces_in_random_order(sums_.blocks(), order_random_)) {
      const int owner = owner_of_block(piece.block, sums_.blocks(), group_.size());
      if (owner != holder) hand_on(holder, owner, &token);
      holder = owner;
      if (owner == group_.rank() && !token.interrupted) visit_piece(piece, &token);
    }
    if (group_.size() > 1) tell_all(holder, &token);
    Index active = 0;
    for (Block& block : blocks_) {
      std::erase_if(block.active, [&](Index i) { return points_[usize(i)].rests; });
      active += std::ssize(block.active);
    }
    token.active = sum_of_all(group_, active);
    return token;
  }

  Group::Message packed(Token* token) const {
    token->offset = offset_;
    MessageWriter writer;
    writer.put(*token);
    writer.put_list(weights_);
    return writer.take();
  }

  void unpack(const Group::Message& message, Token* token) {
    MessageReader reader(message);
    *token = reader.get<Token>();
    const std::vector<double> weights = reader.get_list<double>();
    std::copy(weights.begin(), weights.end(), weights_.begin());
    offset_ = token->offset;
  }

  void hand_on(int from, int to, Token* token) {
    std::vector<Group::Message> to_each(usize(group_.size()));
    if (from == group_.rank()) to_each[usize(to)] = packed(token);
    const std::vector<Group::Message> received = group_.exchange(std::move(to_each));
    if (to == group_.rank()) unpack(received[usize(from)], token);
  }

  void tell_all(int from, Token* token) {
    unpack(group_.broadcast(from == group_.rank() ? packed(token) : Group::Message{}, from), token);
  }

  void visit_piece(const Piece& piece, Token* token) {
    Block& block = blocks_[usize(piece.block)];
    const Index active = std::ssize(block.active);
    const std::size_t all = block.runs.size();
    const std::size_t begin_run = all * usize(piece.part) / usize(piece.parts);
    const std::size_t end_run = all * (usize(piece.part) + 1) / usize(piece.parts);
    std::vector<Index> window;
    for (std::size_t first = begin_run; first < end_run; first += kWindowRuns) {
      window.clear();
      for (std::size_t r = first; r < std::min(first + kWindowRuns, end_run); ++r) {
        const Index begin = block.runs[r] * kRun;
        const Index end = std::min(begin + kRun, active);
        window.insert(window.end(), block.active.begin() + begin, block.active.begin() + end);
      }
      shuffle(block.random, window);
      visit(window, &token->range, &token->moved);
      token->interrupted = stop_.interrupted();
      if (token->interrupted) break;
    }
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
        continue;
      }
      range->include(gradient);
      if (std::abs(gradient) <= kNoSlope) continue;
      const double alpha = best_alpha<kTube>(point, at, problem_.tube);
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
    for (Index k = 0; k < sums_.blocks(); ++k) {
      const Index begin = sums_.block_begin(k);
      RowVector<Index>& active = blocks_[usize(k)].active;
      active.resize(usize(sums_.block_begin(k + 1) - begin));
      std::iota(active.begin(), active.end(), begin);
    }
    active_ = total_;
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

  Range range_of_all() const {
    const Index chunks = (problem_.size() + kChunk - 1) / kChunk;
    std::vector<Range> parts(usize(chunks));
    parallel_each(chunks, [&](Index c) {
      for (Index k = c * kChunk; k < std::min((c + 1) * kChunk, problem_.size()); ++k)
        parts[usize(c)].include(projected(points_[usize(k)], slopes(points_[usize(k)])));
    });
    Range all;
    for (const Range& part : parts) {
      all.include(part.high);
      all.include(part.low);
    }
    for (const Range& part : gather_values(group_, all)) {
      all.include(part.high);
      all.include(part.low);
    }
    return all;
  }

  // One more pass over the rows: objectives, and how far the answer is from the optimum.
  void finish(Solution* solution) {
    solution->beta = RowVector<double>(points_.size(), problem_.store);
    enum : std::size_t { kPrimal, kDual, kBeta, kSupport, kBounded, kSums };
    const std::vector<double> all = sums_.sum(kSums, [&](Index begin, Index end, double* out) {
      for (Index k = begin; k < end; ++k) {
        const Point& point = points_[usize(k)];
        const Index i = given_[usize(k)];
        const double b = sign(point) * point.alpha;
        solution->beta[usize(i)] = b;
        const double value = rows_.dot(point.place, used_weights_) + offset_;
        out[kPrimal] += primal_loss(problem_, i, value);
        out[kDual] += dual_loss(problem_, i, b);
        out[kBeta] += b;
        if (b == 0) continue;
        out[kSupport] += problem_.copies_of(i);
        if (point.alpha == point.upper || point.alpha == point.lower)
          out[kBounded] += problem_.copies_of(i);
      }
    });
    double norm = 0;
    if (problem_.nonnegative) weights_.swap(clipped_);
    for (const double w : weights_) norm += w * w;
    // Penalised: the offset's share of |w|^2. Free: what the sum of b, which should be 0, is worth.
    const bool is_free = problem_.bias.rule == Bias::Rule::free;
    if (bias_strength_ > 0 && !is_free) norm += offset_ * offset_ / bias_strength_;
    solution->objective = norm / 2 + all[kDual];
    const double gap = norm + all[kPrimal] + all[kDual] + (is_free ? offset_ * all[kBeta] : 0);
    solution->gap = std::max(0.0, gap);
    solution->stop_reason = stop_.reason();
    if (solution->stop_reason != StopReason::converged)
      solution->violation = std::max(range_of_all().width(), std::abs(drift()));
    solution->support_vectors = static_cast<Index>(all[kSupport]);
    solution->bounded_support_vectors = static_cast<Index>(all[kBounded]);
    solution->offset = offset_;
    solution->weights = std::move(weights_);
  }

  const Problem& problem_;
  qp::StopCheck& stop_;
  Group& group_;
  BlockSums sums_;
  Random order_random_;  // of the pieces, the same on all ranks
  std::vector<Block> blocks_;
  RowVector<Index> given_;  // points are kept in a random order: which one of the problem each is
  Matrix features_;         // their rows, in that order unless they are left where they are
  Rows rows_;
  RowVector<Point> points_;
  Index total_ = 0;   // points of all ranks
  Index active_ = 0;  // of these, do not rest
  double most_work_ = 0;
  double values_a_visit_ = 0;
  double interior_work_ = 0;      // values for which an interior-point method would be done
  double work_ = 0;               // values visited so far
  double violation_ = kInfinity;  // of the epoch before
  bool jumped_ = false;
  double lowest_ = kInfinity;         // violation of an epoch so far
  double lowest_before_ = kInfinity;  // the same, when progress was looked at last
  std::vector<double> weights_;       // sum of sign * alpha * row, always
  std::vector<double> clipped_;       // nonnegative: the same, or 0 where that is negative
  const double* used_weights_;        // the w of the machine: one of the two
  double offset_ = 0;                 // centre_ + bias_strength_ * sum of sign * alpha, always
  double centre_ = 0;
  double bias_strength_ = 0;
  double shrink_above_ = kInfinity;
  double shrink_below_ = -kInfinity;
};

template <bool kTube>
Descended descend_with(const Problem& problem, qp::StopCheck& stop, std::uint64_t seed,
                       const qp::StatusCallback& on_status, double most_epochs) {
  const auto run = [&](auto descent) {
    Descended result;
    result.solution = descent.run(on_status, &result.is_done);
    return result;
  };
  // Indicators are summed as the values would be: ranks need not agree on it.
  if (problem.features.has_only_ones())
    return run(Descent<kTube, IndicatorRows>(problem, stop, seed, most_epochs));
  if (problem.features.is_sparse())
    return run(Descent<kTube, SparseRows>(problem, stop, seed, most_epochs));
  return run(Descent<kTube, DenseRows>(problem, stop, seed, most_epochs));
}

}  // namespace

Descended descend(const Problem& problem, qp::StopCheck& stop, std::uint64_t seed,
                  const qp::StatusCallback& on_status, double most_epochs) {
  if (problem.task == Task::regression)
    return descend_with<true>(problem, stop, seed, on_status, most_epochs);
  return descend_with<false>(problem, stop, seed, on_status, most_epochs);
}

Index descent_bytes(Index points, Index cols) {
  // And the order of the runs of an epoch.
  return checked_product(cols, sizeof(double)) + interior_bytes(points, cols) +
         points / kRun * static_cast<Index>(sizeof(Index));
}

// Points, their order, the active ones, and the answer.
Index descent_point_bytes(Index points, Index cols) {
  return checked_product(points, sizeof(Point) + 2 * sizeof(Index) + sizeof(double)) +
         interior_point_bytes(points, cols);
}

}  // namespace tamis::linear
