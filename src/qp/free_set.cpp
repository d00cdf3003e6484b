#include "qp/free_set.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "base/check.hpp"
#include "base/checked.hpp"
#include "base/cholesky.hpp"
#include "base/infinity.hpp"

namespace tamis::qp {
namespace {

// Added to the diagonal, relative to it: free points that depend on each other leave the matrix
// singular, and rounding leaves it indefinite. It shortens steps, and moves no optimum.
constexpr double kRidge = 1e-12;

class FreeSetSolver {
 public:
  FreeSetSolver(const Problem& problem, RowSource& source, StopCheck& stop)
      : problem_(problem),
        source_(source),
        stop_(stop),
        size_(usize(problem.size())),
        rows_(usize(problem.size())) {}

  bool prepare();
  std::optional<Solution> solve(double most_work);

 private:
  enum class Step { none, to_optimum, to_bound };

  /// For points whose row was fetched: all that are free or have a coefficient.
  double kernel(std::size_t i, std::size_t j) const { return rows_[i][j]; }
  bool fetch_rows(std::span<const Index> points);
  int group(std::size_t i) const { return problem_.group_at(static_cast<Index>(i)); }
  bool at_bound(std::size_t i) const {
    return beta_[i] == problem_.lower[i] || beta_[i] == problem_.upper[i];
  }
  double score(std::size_t i) const { return problem_.target[i] - sums_[i]; }
  bool set_free(std::size_t i);
  std::vector<double> find_direction() const;
  Step move();
  void update_sums();
  void measure();
  bool free_the_worst();
  Solution finish() const;

  const Problem& problem_;
  RowSource& source_;
  StopCheck& stop_;
  std::size_t size_;
  std::vector<std::vector<double>> rows_;  // of K and ridge; empty: not fetched yet
  RowVector<double> beta_;
  std::vector<double> sums_;       // F; without `changes_`
  std::vector<double> changes_;    // of beta, since the sums were made
  std::vector<std::size_t> free_;  // in the order of the factor
  std::vector<std::uint8_t> is_free_;
  std::vector<double> free_scores_;  // of the free points, up to a constant for each group
  ChangingCholesky factor_;          // of their kernel matrix, with shift_ within each group
  double shift_ = 1e-300;            // the largest kernel(i, i)
  double work_ = 0;                  // multiplications, about
  double max_up_[2] = {0, 0};        // largest score of what may grow, by group
  double min_down_[2] = {0, 0};      // smallest score of what may fall
  std::size_t argmax_up_[2] = {0, 0};
  std::size_t argmin_down_[2] = {0, 0};
  double gap_ = kInfinity;
};

bool FreeSetSolver::prepare() {
  beta_ = problem_.start;
  sums_.assign(size_, 0.0);
  changes_.assign(size_, 0.0);
  is_free_.assign(size_, 0);
  std::vector<Index> used;
  Index free = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    free += at_bound(i) ? 0 : 1;
    // 0 may lie between the bounds, as in a regression: a free point needs its row there too.
    if (beta_[i] != 0 || !at_bound(i)) used.push_back(static_cast<Index>(i));
  }
  if (free > kMostFree || !fetch_rows(used)) return false;
  for (const Index i : used) changes_[usize(i)] = beta_[usize(i)];
  update_sums();
  work_ = 0;  // of the steps
  for (const double own : source_.diagonal()) shift_ = std::max(shift_, own);
  for (std::size_t i = 0; i < size_ && !stop_.must_stop(); ++i) {
    if (!at_bound(i) && !set_free(i)) return false;
  }
  return true;
}

// Makes sure that the kernel rows of these points are there.
bool FreeSetSolver::fetch_rows(std::span<const Index> points) {
  std::vector<Index> missing;
  for (const Index i : points) {
    if (rows_[usize(i)].empty()) missing.push_back(i);
  }
  if (missing.empty()) return true;
  std::vector<double> values(missing.size() * size_);
  if (!source_.precise_rows(missing, values.data())) return false;
  for (std::size_t r = 0; r < missing.size(); ++r) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(r * size_);
    std::vector<double>& row = rows_[usize(missing[r])];
    row.assign(first, first + static_cast<std::ptrdiff_t>(size_));
    row[usize(missing[r])] += problem_.ridge_at(missing[r]);
  }
  return true;
}

std::optional<Solution> FreeSetSolver::solve(double most_work) {
  // Each coefficient comes and goes a few times; more means that rounding has it going in circles.
  const std::size_t most_steps = 10 * (free_.size() + 50);
  bool has_moved = false;  // since the sums were made
  for (std::size_t step = 0; step < most_steps && work_ <= most_work; ++step) {
    if (stop_.must_stop() || static_cast<Index>(free_.size()) > kMostFree) return std::nullopt;
    const Step taken = move();
    has_moved = has_moved || taken != Step::none;
    if (taken == Step::to_bound) continue;
    update_sums();
    measure();
    if (gap_ <= stop_.limits().eps) return finish();
    const std::size_t free = free_.size();
    if (!free_the_worst()) return std::nullopt;
    if (!has_moved && free_.size() == free) return std::nullopt;
    has_moved = false;
  }
  return std::nullopt;
}

// The sums of directions are 0 in each group, so a constant added to the kernel of a group changes
// no step; without it, points that do not depend on each other could have a singular matrix. False
// where the kernel is not positive semidefinite.
bool FreeSetSolver::set_free(std::size_t i) {
  const double own = kernel(i, i) + shift_;
  if (!(own > 0)) return false;
  std::vector<double> values;
  values.reserve(free_.size() + 1);
  for (const std::size_t j : free_)
    values.push_back(kernel(i, j) + (group(i) == group(j) ? shift_ : 0));
  values.push_back((1 + kRidge) * own);
  work_ += static_cast<double>(free_.size() * free_.size()) / 2;
  factor_.add(std::move(values), kRidge / 2 * own);
  free_.push_back(i);
  free_scores_.push_back(score(i));
  is_free_[i] = 1;
  return true;
}

// Newton's direction within the free coefficients whose sum in each group is 0.
std::vector<double> FreeSetSolver::find_direction() const {
  std::vector<double> direction = factor_.solve(free_scores_);
  double sums[2] = {0, 0};  // of the direction, and of the columns of the constants, by group
  double of_columns[2][2] = {{0, 0}, {0, 0}};
  std::vector<double> columns[2];
  double count[2] = {0, 0};
  const auto sum_of = [&](const std::vector<double>& x, double* by_group) {
    by_group[0] = by_group[1] = 0;
    for (std::size_t k = 0; k < free_.size(); ++k) by_group[group(free_[k])] += x[k];
  };
  for (const std::size_t i : free_) ++count[group(i)];
  for (const int g : {0, 1}) {
    if (count[g] == 0) {
      of_columns[g][g] = 1;
      continue;
    }
    std::vector<double> constant(free_.size());
    for (std::size_t k = 0; k < free_.size(); ++k) constant[k] = group(free_[k]) == g ? 1 : 0;
    columns[g] = factor_.solve(std::move(constant));
    sum_of(columns[g], of_columns[g]);
  }
  sum_of(direction, sums);
  const double determinant =
      of_columns[0][0] * of_columns[1][1] - of_columns[0][1] * of_columns[1][0];
  const double factors[2] = {
      (sums[0] * of_columns[1][1] - sums[1] * of_columns[1][0]) / determinant,
      (sums[1] * of_columns[0][0] - sums[0] * of_columns[0][1]) / determinant};
  for (const int g : {0, 1}) {
    for (std::size_t k = 0; k < columns[g].size(); ++k) direction[k] -= factors[g] * columns[g][k];
  }
  sum_of(direction, sums);  // what rounding left
  for (std::size_t k = 0; k < free_.size(); ++k)
    direction[k] -= sums[group(free_[k])] / count[group(free_[k])];
  return direction;
}

// None: there is nothing to gain, as the factor of an indefinite matrix may say as well.
FreeSetSolver::Step FreeSetSolver::move() {
  if (free_.empty()) return Step::none;
  const std::vector<double> direction = find_direction();
  work_ += 3 * static_cast<double>(free_.size() * free_.size());
  const double gain =
      std::inner_product(direction.begin(), direction.end(), free_scores_.begin(), 0.0);
  if (!(gain > 0) || !std::isfinite(gain)) return Step::none;
  double length = 1;
  std::size_t blocking = free_.size();
  for (std::size_t k = 0; k < free_.size(); ++k) {
    const std::size_t i = free_[k];
    if (direction[k] == 0) continue;
    const double bound = direction[k] > 0 ? problem_.upper[i] : problem_.lower[i];
    const double room = (bound - beta_[i]) / direction[k];
    if (room >= length) continue;
    length = std::max(0.0, room);
    blocking = k;
  }
  for (std::size_t k = 0; k < free_.size(); ++k) {
    const double change = length * direction[k];
    beta_[free_[k]] += change;
    changes_[free_[k]] += change;
    free_scores_[k] *= 1 - length;  // they have come nearer to the same one in each group
  }
  if (blocking == free_.size()) return Step::to_optimum;
  const std::size_t i = free_[blocking];
  const double bound = direction[blocking] > 0 ? problem_.upper[i] : problem_.lower[i];
  changes_[i] += bound - beta_[i];
  beta_[i] = bound;
  const auto place = static_cast<std::ptrdiff_t>(blocking);
  const auto left = static_cast<double>(free_.size() - blocking);
  work_ += 2 * left * left;
  factor_.remove(blocking);
  free_.erase(free_.begin() + place);
  free_scores_.erase(free_scores_.begin() + place);
  is_free_[i] = 0;
  return Step::to_bound;
}

void FreeSetSolver::update_sums() {
  for (std::size_t i = 0; i < size_; ++i) {
    const double change = std::exchange(changes_[i], 0.0);
    if (change == 0) continue;
    const double* row = rows_[i].data();
    for (std::size_t j = 0; j < size_; ++j) sums_[j] += change * row[j];
    work_ += static_cast<double>(size_);
  }
  for (std::size_t k = 0; k < free_.size(); ++k) free_scores_[k] = score(free_[k]);
}

void FreeSetSolver::measure() {
  for (int g = 0; g < 2; ++g) {
    max_up_[g] = -kInfinity;
    min_down_[g] = kInfinity;
  }
  for (std::size_t i = 0; i < size_; ++i) {
    const int g = group(i);
    if (beta_[i] < problem_.upper[i] && score(i) > max_up_[g]) {
      max_up_[g] = score(i);
      argmax_up_[g] = i;
    }
    if (beta_[i] > problem_.lower[i] && score(i) < min_down_[g]) {
      min_down_[g] = score(i);
      argmin_down_[g] = i;
    }
  }
  gap_ = std::max(max_up_[0] - min_down_[0], max_up_[1] - min_down_[1]);
}

// The two ends of the wider gap. When both are free already, the next step makes up for the
// rounding and the ridge of the last.
bool FreeSetSolver::free_the_worst() {
  const int g = max_up_[1] - min_down_[1] > max_up_[0] - min_down_[0] ? 1 : 0;
  const std::size_t ends[2] = {argmax_up_[g], argmin_down_[g]};
  const Index points[2] = {static_cast<Index>(ends[0]), static_cast<Index>(ends[1])};
  if (!fetch_rows(points)) return false;
  for (const std::size_t i : ends) {
    if (is_free_[i] == 0 && !set_free(i)) return false;
  }
  return true;
}

Solution FreeSetSolver::finish() const {
  Solution solution;
  double sum[2] = {0, 0};
  double count[2] = {0, 0};
  for (const std::size_t i : free_) {
    if (at_bound(i)) continue;
    sum[group(i)] += score(i);
    ++count[group(i)];
  }
  for (int g = 0; g < problem_.num_groups(); ++g) {
    solution.bias[g] = count[g] > 0 ? sum[g] / count[g] : (max_up_[g] + min_down_[g]) / 2;
    if (!std::isfinite(solution.bias[g])) solution.bias[g] = 0;
  }
  for (std::size_t i = 0; i < size_; ++i)
    solution.objective += beta_[i] * (sums_[i] / 2 - problem_.target[i]);
  solution.beta = beta_;
  solution.violation = std::max(0.0, gap_);
  return solution;
}

}  // namespace

std::optional<Solution> solve_free_set(const Problem& problem, RowSource& source, StopCheck& stop,
                                       double most_work) {
  TAMIS_CHECK(problem.tube == 0 && problem.start.size() == problem.target.size());
  if (problem.size() > kFreeSetPoints) return std::nullopt;
  FreeSetSolver solver(problem, source, stop);
  if (!solver.prepare()) return std::nullopt;
  return solver.solve(most_work);
}

}  // namespace tamis::qp
