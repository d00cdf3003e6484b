#include "svm/choose_distances.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "kernels/distance_rounding.hpp"
#include "qp/solver.hpp"

namespace tamis {
namespace {

// With fewer columns, exponentials and sums take so much of the time that nothing is gained.
constexpr Index kFewestColumns = 16;
constexpr std::size_t kNormsAtOnce = 4096;

double largest_norm(const Kernel& kernel, const Matrix& features, std::span<const Index> rows) {
  float largest = 0;
  for (std::size_t first = 0; first < rows.size(); first += kNormsAtOnce) {
    const auto some = rows.subspan(first, std::min(kNormsAtOnce, rows.size() - first));
    for (const float norm : row_norms(kernel, features, some, DistanceBy::products))
      largest = std::max(largest, norm);
  }
  return static_cast<double>(largest);
}

// Infinite for squared slacks.
double largest_coefficient(const qp::Problem& problem) {
  double largest = 0;
  for (Index i = 0; i < problem.size(); ++i)
    largest = std::max({largest, problem.upper[usize(i)], -problem.lower[usize(i)]});
  return largest;
}

}  // namespace

DistanceBy choose_distances(const Kernel& kernel, const Matrix& features,
                            std::span<const Index> rows, const qp::Problem& problem, double eps,
                            Group& group) {
  // Next to the kernel values of a small problem, norms take time.
  if (kernel.type != KernelType::rbf || features.is_sparse() || features.cols() < kFewestColumns ||
      sum_of_all(group, problem.size()) <= qp::SolverOptions().stored_size)
    return DistanceBy::differences;
  const double norm = largest_of_all(group, largest_norm(kernel, features, rows));
  const double cost = largest_of_all(group, largest_coefficient(problem));
  const double rounding = dense_distance_rounding(norm, static_cast<double>(features.cols()));
  return shows_in_conditions(rounding, kernel, cost, eps) ? DistanceBy::differences
                                                          : DistanceBy::products;
}

}  // namespace tamis
