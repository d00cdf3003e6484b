#include "eval/claimed_problem.hpp"

#include <algorithm>
#include <cmath>

namespace tamis {
namespace {

// A coefficient this close to its bound, or to zero, relative to the cost, is at it: products of
// cost and weights may be rounded in another order, and what equal rows share leaves a rest.
constexpr double kAtBound = 1e-9;

// A piece of the dual along one coefficient: it grows by `length` and gains `slope` a unit.
struct Piece {
  double slope;
  std::size_t member;
  double length;
};

// Linear pieces, the steepest first.
void share_linear(const ClaimedProblem& problem, std::span<const std::size_t> members, double total,
                  std::span<double> beta) {
  std::vector<Piece> pieces;
  double left = total;
  for (const std::size_t k : members) {
    const double t = problem.targets[k];
    beta[k] = problem.lower(k);
    left -= beta[k];
    if (problem.lower(k) < 0) pieces.push_back({t + problem.tube, k, -problem.lower(k)});
    if (problem.upper(k) > 0) pieces.push_back({t - problem.tube, k, problem.upper(k)});
  }
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const Piece& a, const Piece& b) { return a.slope > b.slope; });
  for (const Piece& piece : pieces) {
    const double step = std::clamp(left, 0.0, piece.length);
    beta[piece.member] += step;
    left -= step;
  }
  beta[members.back()] += left;
}

// b_i maximises t b - tube |b| - ridge b^2 / 2 - multiplier b, and the multiplier makes the sum
// right: bisection, then the rounding is spread.
void share_squared(const ClaimedProblem& problem, std::span<const std::size_t> members,
                   double total, std::span<double> beta) {
  const auto at = [&](std::size_t k, double multiplier) {
    const double slope = problem.targets[k] - multiplier;
    const double beyond = std::max(0.0, std::abs(slope) - problem.tube);
    const double free = std::copysign(beyond / problem.ridge(k), slope);
    return std::clamp(free, problem.lower(k), problem.upper(k));
  };
  const auto sum = [&](double multiplier) {
    double result = 0;
    for (const std::size_t k : members) result += at(k, multiplier);
    return result;
  };
  double low = -1;
  double high = 1;
  while (sum(low) < total && low > -1e300) low *= 2;
  while (sum(high) > total && high < 1e300) high *= 2;
  for (int step = 0; step < 2000 && std::nextafter(low, high) < high; ++step) {
    const double middle = low + (high - low) / 2;
    (sum(middle) >= total ? low : high) = middle;
  }
  double left = total;
  for (const std::size_t k : members) {
    beta[k] = at(k, low);
    left -= beta[k];
  }
  beta[members.back()] += left;
}

struct Side {
  double up = 0;    // rate at which the dual grows with b_i, -inf where b_i cannot grow
  double down = 0;  // rate at which it falls when b_i falls, +inf where b_i cannot fall
};

Side rates(const ClaimedProblem& problem, std::size_t k, double beta, double value) {
  const double lower = problem.lower(k);
  const double upper = problem.upper(k);
  const double rest = problem.targets[k] - value - problem.ridge(k) * beta;
  Side side;
  const double widest = std::max(upper, -lower);
  const double near = std::isfinite(widest) ? kAtBound * widest : 0;
  if (std::abs(beta) <= near) beta = 0;
  const bool may_grow = !(beta >= upper - near);
  const bool may_fall = !(beta <= lower + near);
  side.up = may_grow ? rest - (beta >= 0 ? problem.tube : -problem.tube) : -kInfinity;
  side.down = may_fall ? rest - (beta > 0 ? problem.tube : -problem.tube) : kInfinity;
  return side;
}

double slack(const ClaimedProblem& problem, std::size_t k, double value) {
  const double miss = problem.targets[k] - value;
  if (problem.is_regression) return std::max(0.0, std::abs(miss) - problem.tube);
  return std::max(0.0, miss * problem.targets[k]);  // 1 - y f
}

bool is_hard_margin(const ClaimedProblem& problem) {
  return !problem.is_regression && problem.loss == SlackLoss::l1 &&
         std::any_of(problem.cost.begin(), problem.cost.end(),
                     [](double c) { return c == kInfinity; });
}

}  // namespace

double ClaimedProblem::limit(std::size_t k) const {
  return loss == SlackLoss::l2 ? kInfinity : cost[k];
}

void share_coefficient(const ClaimedProblem& problem, std::span<const std::size_t> members,
                       double total, std::span<double> beta) {
  if (members.size() == 1)
    beta[members[0]] = total;
  else if (problem.loss == SlackLoss::l2)
    share_squared(problem, members, total, beta);
  else if (std::isfinite(problem.cost[members[0]]))
    share_linear(problem, members, total, beta);
  else
    beta[*std::find_if(members.begin(), members.end() - 1, [&](std::size_t k) {
      return (total > 0 ? problem.upper(k) : -problem.lower(k)) > 0;
    })] = total;
}

void Assessment::add(const ClaimedProblem& part, std::span<const double> beta,
                     std::span<const double> values, double eps) {
  rows_ += std::ssize(part.rows);
  if (is_hard_margin(part)) has_hard_margin_ = 1;
  for (std::size_t k = 0; k < part.rows.size(); ++k) {
    const double b = beta[k];
    if (b != 0) {
      coefficients_.add(b);
      products_.add(b * values[k]);
      linear_.add(part.targets[k] * b - part.tube * std::abs(b) - part.ridge(k) * b * b / 2);
    }
    const double miss = slack(part, k, values[k]);
    if (miss > 0) costs_.add(part.cost[k] * (part.loss == SlackLoss::l2 ? miss * miss : miss));
    bound_breach_ = std::max({bound_breach_, part.lower(k) - b, b - part.upper(k)});
    smallest_margin_ = std::min(smallest_margin_, part.targets[k] * values[k]);
    const Side side = rates(part, k, b, values[k]);
    const double breach = std::max(side.up, -side.down);
    note_violation(breach, part.rows[k]);
    if (breach > eps) {
      ++violating_rows_;
      excess_.add(breach);
    }
  }
}

// Of the rows that violate most, the first.
void Assessment::note_violation(double breach, Index row) {
  if (!(breach > violation_ || (breach > 0 && breach == violation_ && row < worst_row_))) return;
  violation_ = breach;
  worst_row_ = row;
}

void Assessment::add(const Assessment& other) {
  coefficients_.add(other.coefficients_);
  products_.add(other.products_);
  linear_.add(other.linear_);
  costs_.add(other.costs_);
  excess_.add(other.excess_);
  rows_ += other.rows_;
  violating_rows_ += other.violating_rows_;
  note_violation(other.violation_, other.worst_row_);
  bound_breach_ = std::max(bound_breach_, other.bound_breach_);
  smallest_margin_ = std::min(smallest_margin_, other.smallest_margin_);
  has_hard_margin_ = std::max(has_hard_margin_, other.has_hard_margin_);
}

void Assessment::gather(Group& group) {
  Assessment all;
  for (const Assessment& part : gather_values(group, *this)) all.add(part);
  *this = all;
}

double Assessment::squared_norm(double offset) const {
  return std::max(0.0, products_.value() - offset * coefficients_.value());
}

MachineCertificate Assessment::result(double squared_norm) const {
  MachineCertificate result;
  result.rows = rows_;
  result.violation = violation_;
  result.worst_row = worst_row_;
  result.bound_breach = bound_breach_;
  result.violating_rows = violating_rows_;
  if (violating_rows_ > 0)
    result.mean_violation = excess_.value() / static_cast<double>(violating_rows_);
  result.sum_breach = std::abs(coefficients_.value());
  result.primal = squared_norm / 2 + costs_.value();
  const double linear = linear_.value();
  result.dual = linear - squared_norm / 2;
  if (has_hard_margin_ != 0) {
    // Only points that keep every margin are feasible. f scaled by 1 / (smallest y f) is one, with
    // objective 1/2 |w|^2 / (smallest y f)^2; the dual is likewise taken at its best scale.
    const double smallest = smallest_margin_;
    result.primal = smallest > 0 ? squared_norm / (2 * smallest * smallest) : kInfinity;
    result.dual = squared_norm > 0 ? linear * linear / (2 * squared_norm) : 0;
  }
  result.gap = result.primal - result.dual;
  const double scale = std::max(std::abs(result.primal), std::abs(result.dual));
  result.relative_gap = scale > 0 && std::isfinite(scale) ? result.gap / scale : result.gap;
  return result;
}

}  // namespace tamis
