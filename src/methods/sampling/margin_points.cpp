#include "methods/sampling/margin_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "gram/tube_rows.hpp"
#include "model/precise_values.hpp"
#include "qp/free_set.hpp"
#include "svm/train_binary.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

KernelExpansion expansion_of(const Kernel& kernel, const PointRows& rows, const Direction& w) {
  const ChosenRows chosen = rows.choose(w.points);
  ExpansionParts parts;
  parts.kernel = kernel;
  parts.support_vectors = chosen.features.select(chosen.rows);
  parts.coefficients = w.coefficients;
  parts.offsets = {0.0};
  return KernelExpansion(std::move(parts));
}

// <w, phi(row)> for every row, by the code that predicts.
void project_rows(const Kernel& kernel, const PointRows& rows, const Direction& w, bool in_double,
                  std::span<double> values, const RunControl& control, EvaluationCounts* counts) {
  const KernelExpansion expansion = expansion_of(kernel, rows, w);
  rows.values(expansion, in_double, values, control);
  const auto each = expansion.is_collapsed() ? Index{1} : static_cast<Index>(w.points.size());
  counts->computed += rows.count() * each;
}

double rounding_of(const Kernel& kernel, const PointRows& rows, const Direction& w) {
  const KernelExpansion expansion = expansion_of(kernel, rows, w);
  return float_error(expansion, rows.choose(w.points).features, w.coefficients);
}

// What is left for kernel rows beside the solver's own numbers for the rows drawn. Throws
// ResourceError when these do not fit.
Index cache_beside(const ChosenRows& drawn, Index cache_bytes, const RunControl& control) {
  const Index count = std::ssize(drawn.rows);
  const Index budget = resolve_memory_budget(control.memory_bytes);
  const Index needed =
      checked_sum(resident_memory_bytes(), binary_work_bytes(drawn.features, count));
  require_memory(fmt::format("solving for {} at once", counted(count, "row")), needed, budget);
  return std::min(cache_bytes, budget - needed);
}

DrawSolution solve_rows(qp::Problem problem, auto& source, double coarse_eps, qp::StopCheck& stop,
                        const RunControl& control, EvaluationCounts* counts) {
  const qp::Limits& limits = stop.limits();
  DrawSolution result;
  std::int64_t iterations = 0;
  bool is_done = false;
  if (coarse_eps > limits.eps && problem.size() <= qp::kFreeSetPoints) {
    qp::StopCheck coarse({coarse_eps, limits.max_iterations, limits.max_seconds}, control);
    result.solution = qp::solve(problem, source, coarse);
    iterations = result.solution.iterations;
    problem.start = result.solution.beta;
    is_done = result.solution.stop_reason > StopReason::precision_limit;  // cut short
    if (!is_done) {
      if (auto exact = qp::solve_free_set(problem, source, stop)) {
        result.solution = std::move(*exact);
        result.by_free_set = is_done = true;
      }
    }
  }
  if (!is_done) {
    qp::Limits left = limits;
    if (left.max_iterations > 0) left.max_iterations -= iterations;
    qp::StopCheck rest(left, control);
    result.solution = qp::solve(problem, source, rest);
    iterations += result.solution.iterations;
  }
  result.solution.iterations = iterations;
  counts->computed += source.counts().computed;
  counts->cached += source.counts().cached;
  return result;
}

}  // namespace

ClassPoints::ClassPoints(const Kernel& kernel, std::shared_ptr<const PointRows> rows,
                         RowVector<double> targets, RowVector<double> weights, Index cache_bytes)
    : kernel_(kernel),
      rows_(std::move(rows)),
      targets_(std::move(targets)),
      weights_(std::move(weights)),
      cache_bytes_(cache_bytes),
      largest_square_(rows_->largest_diagonal(kernel)) {}

DrawSolution ClassPoints::solve(qp::Problem problem, std::span<const Index> draw,
                                const qp::Limits& limits, double coarse_eps,
                                const RunControl& control, EvaluationCounts* counts) const {
  qp::StopCheck stop(limits, control);
  const ChosenRows chosen = rows_->choose(draw);
  ComputedRows source(kernel_, chosen.features, chosen.rows,
                      cache_beside(chosen, cache_bytes_, control),
                      [&] { return stop.interrupted(); });
  return solve_rows(std::move(problem), source, coarse_eps, stop, control, counts);
}

void ClassPoints::project(const Direction& w, bool in_double, std::span<double> values,
                          const RunControl& control, EvaluationCounts* counts) const {
  project_rows(kernel_, *rows_, w, in_double, values, control, counts);
}

double ClassPoints::rounding(const Direction& w) const { return rounding_of(kernel_, *rows_, w); }

TubePoints::TubePoints(const Kernel& kernel, std::shared_ptr<const PointRows> rows,
                       RowVector<double> numbers, RowVector<double> weights, double tube,
                       Index cache_bytes)
    : kernel_(kernel),
      rows_(std::move(rows)),
      numbers_(std::move(numbers)),
      weights_(std::move(weights)),
      tube_(tube),
      cache_bytes_(cache_bytes),
      largest_square_(rows_->largest_diagonal(kernel)) {
  double largest = 0;
  for (const double number : numbers_) largest = std::max(largest, std::abs(number) + tube_);
  largest_square_ += largest * largest;
}

DrawSolution TubePoints::solve(qp::Problem problem, std::span<const Index> draw,
                               const qp::Limits& limits, double coarse_eps,
                               const RunControl& control, EvaluationCounts* counts) const {
  qp::StopCheck stop(limits, control);
  std::vector<Index> rows;
  std::vector<double> responses;
  for (const Index point : draw) {
    rows.push_back(row(point));
    responses.push_back(response(point));
  }
  ChosenRows chosen = rows_->choose(rows);
  const Index cache = cache_beside(chosen, cache_bytes_, control);
  TubeRows source(kernel_, chosen.features, std::move(chosen.rows), std::move(responses), cache,
                  [&] { return stop.interrupted(); });
  return solve_rows(std::move(problem), source, coarse_eps, stop, control, counts);
}

void TubePoints::project(const Direction& w, bool in_double, std::span<double> values,
                         const RunControl& control, EvaluationCounts* counts) const {
  const auto rows = rows_->count();
  project_rows(kernel_, *rows_, feature_part(w), in_double, values.first(usize(rows)), control,
               counts);
  const double sigma = slope(w);
  for (Index i = 0; i < rows; ++i) {
    values[usize(rows + i)] = values[usize(i)] + sigma * response(rows + i);
    values[usize(i)] += sigma * response(i);
  }
}

double TubePoints::rounding(const Direction& w) const {
  return rounding_of(kernel_, *rows_, feature_part(w));
}

double TubePoints::slope(const Direction& w) const {
  double sigma = 0;
  for (std::size_t s = 0; s < w.points.size(); ++s)
    sigma += w.coefficients[s] * response(w.points[s]);
  return sigma;
}

Direction TubePoints::feature_part(const Direction& w) const {
  std::map<Index, double> of_row;
  for (std::size_t s = 0; s < w.points.size(); ++s) of_row[row(w.points[s])] += w.coefficients[s];
  Direction result;
  for (const auto& [row, coefficient] : of_row) {
    if (coefficient == 0) continue;
    result.points.push_back(row);
    result.coefficients.push_back(coefficient);
  }
  return result;
}

}  // namespace tamis
