#include "qp/free_set.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "base/check.hpp"
#include "base/checked.hpp"
#include "base/cholesky.hpp"
#include "base/infinity.hpp"

namespace tamis::qp {
namespace {

// Added to the diagonal, relative to its largest entry: free points that depend on each other leave
// the matrix singular. It shortens steps, and moves no optimum.
constexpr double kLeastRidge = 1e-13;

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
  enum class Step { to_optimum, to_bound, failed };

  /// For points whose row was fetched: all that are free or have a coefficient.
  double kernel(std::size_t i, std::size_t j) const { return rows_[i][j]; }
  bool fetch_rows(std::span<const Index> points);
  int group(std::size_t i) const { return problem_.group_at(static_cast<Index>(i)); }
  bool at_bound(std::size_t i) const {
    return beta_[i] == problem_.lower[i] || beta_[i] == problem_.upper[i];
  }
  double score(std::size_t i) const { return problem_.target[i] - sums_[i]; }
  bool find_direction(std::vector<double>* direction);
  Step move();
  void measure();
  bool free_the_worst();
  Solution finish() const;

  const Problem& problem_;
  RowSource& source_;
  StopCheck& stop_;
  std::size_t size_;
  std::vector<std::vector<double>> rows_;  // of K and ridge; empty: not fetched yet
  std::vector<double> beta_;
  std::vector<double> sums_;       // F
  std::vector<std::size_t> free_;  // ascending
  double max_up_[2] = {0, 0};      // largest score of what may grow, by group
  double min_down_[2] = {0, 0};    // smallest score of what may fall
  std::size_t argmax_up_[2] = {0, 0};
  std::size_t argmin_down_[2] = {0, 0};
  double gap_ = kInfinity;
};

bool FreeSetSolver::prepare() {
  beta_ = problem_.start;
  sums_.assign(size_, 0.0);
  std::vector<Index> used;
  for (std::size_t i = 0; i < size_; ++i) {
    if (!at_bound(i)) free_.push_back(i);
    // 0 may lie between the bounds, as in a regression: a free point needs its row there too.
    if (beta_[i] != 0 || !at_bound(i)) used.push_back(static_cast<Index>(i));
  }
  if (!fetch_rows(used)) return false;
  for (const Index i : used) {
    for (std::size_t j = 0; j < size_; ++j) sums_[j] += beta_[usize(i)] * kernel(usize(i), j);
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
  double work = 0;
  for (std::size_t step = 0; step < most_steps && work <= most_work; ++step) {
    const auto free = static_cast<double>(free_.size());
    work += free * free * free / 6 + free * static_cast<double>(size_);
    if (stop_.must_stop() || static_cast<Index>(free_.size()) > kMostFree) return std::nullopt;
    const Step taken = move();
    if (taken == Step::failed) return std::nullopt;
    if (taken == Step::to_bound) continue;
    measure();
    if (gap_ <= stop_.limits().eps) return finish();
    if (!free_the_worst()) return std::nullopt;
  }
  return std::nullopt;
}

// Newton's direction within the free coefficients. Their sums stay: what one gains, the first free
// one of its group gives, so the first ones are no variables of their own.
bool FreeSetSolver::find_direction(std::vector<double>* direction) {
  std::size_t first[2] = {size_, size_};
  std::vector<std::size_t> others;  // places in free_
  for (std::size_t k = 0; k < free_.size(); ++k) {
    std::size_t& own = first[group(free_[k])];
    if (own == size_)
      own = k;
    else
      others.push_back(k);
  }
  const std::size_t count = others.size();
  std::vector<double> matrix(count * count);
  std::vector<double> slope(count);
  double largest = 0;
  for (std::size_t r = 0; r < count; ++r) {
    const std::size_t i = free_[others[r]];
    const std::size_t from_i = free_[first[group(i)]];
    slope[r] = score(i) - score(from_i);
    for (std::size_t c = 0; c <= r; ++c) {
      const std::size_t j = free_[others[c]];
      const std::size_t from_j = free_[first[group(j)]];
      matrix[r * count + c] =
          kernel(i, j) - kernel(i, from_j) - kernel(from_i, j) + kernel(from_i, from_j);
    }
    largest = std::max(largest, matrix[r * count + r]);
  }
  Cholesky cholesky;
  bool is_factored = count == 0;
  for (double ridge = kLeastRidge; ridge < 1e-6 && !is_factored; ridge *= 100) {
    std::vector<double> with_ridge = matrix;
    for (std::size_t r = 0; r < count; ++r) with_ridge[r * count + r] += ridge * largest;
    is_factored = cholesky.factor(std::move(with_ridge), count);
  }
  if (!is_factored) return false;
  slope = cholesky.solve(std::move(slope));
  direction->assign(free_.size(), 0.0);
  for (std::size_t r = 0; r < count; ++r) {
    (*direction)[others[r]] = slope[r];
    (*direction)[first[group(free_[others[r]])]] -= slope[r];
  }
  return true;
}

FreeSetSolver::Step FreeSetSolver::move() {
  if (free_.empty()) return Step::to_optimum;
  std::vector<double> direction;
  if (!find_direction(&direction)) return Step::failed;
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
    for (std::size_t j = 0; j < size_ && change != 0; ++j) sums_[j] += change * kernel(free_[k], j);
  }
  if (blocking == free_.size()) return Step::to_optimum;
  const std::size_t i = free_[blocking];
  beta_[i] = direction[blocking] > 0 ? problem_.upper[i] : problem_.lower[i];
  free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(blocking));
  return Step::to_bound;
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
  for (const std::size_t i : {argmax_up_[g], argmin_down_[g]}) {
    const auto place = std::lower_bound(free_.begin(), free_.end(), i);
    if (place == free_.end() || *place != i) free_.insert(place, i);
  }
  const Index ends[2] = {static_cast<Index>(argmax_up_[g]), static_cast<Index>(argmin_down_[g])};
  return fetch_rows(ends);
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
