#include "calibration/pairwise_coupling.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tamis {
namespace {

constexpr double kTolerance = 1e-6;  // of the optimality conditions, shared by the classes
constexpr std::size_t kMaxSweeps = 1000;

// Q of p'Qp, twice the objective: Q_ii = sum over j of r_ji^2, Q_ij = -r_ji r_ij.
std::vector<double> quadratic(std::span<const double> pairs, std::size_t k) {
  std::vector<double> q(k * k, 0.0);
  std::size_t pair = 0;
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = i + 1; j < k; ++j, ++pair) {
      const double r_ij = pairs[pair];
      const double r_ji = 1 - r_ij;
      q[i * k + i] += r_ji * r_ji;
      q[j * k + j] += r_ij * r_ij;
      q[i * k + j] = q[j * k + i] = -r_ji * r_ij;
    }
  }
  return q;
}

}  // namespace

void couple_pairs(std::span<const double> pairs, std::span<double> probabilities) {
  const std::size_t k = probabilities.size();
  const std::vector<double> q = quadratic(pairs, k);
  std::vector<double> qp(k);
  std::fill(probabilities.begin(), probabilities.end(), 1 / static_cast<double>(k));
  for (std::size_t sweep = 0; sweep < kMaxSweeps; ++sweep) {
    double pqp = 0;
    for (std::size_t i = 0; i < k; ++i) {
      qp[i] = 0;
      for (std::size_t j = 0; j < k; ++j) qp[i] += q[i * k + j] * probabilities[j];
      pqp += probabilities[i] * qp[i];
    }
    // At the optimum every component of Qp is p'Qp.
    double largest = 0;
    for (std::size_t i = 0; i < k; ++i) largest = std::max(largest, std::abs(qp[i] - pqp));
    if (largest < kTolerance / static_cast<double>(k)) break;
    for (std::size_t i = 0; i < k; ++i) {
      const double step = (pqp - qp[i]) / q[i * k + i];
      const double scale = 1 / (1 + step);  // keeps the sum at 1
      pqp = (pqp + step * (step * q[i * k + i] + 2 * qp[i])) * scale * scale;
      probabilities[i] += step;
      for (std::size_t j = 0; j < k; ++j) {
        qp[j] = (qp[j] + step * q[i * k + j]) * scale;
        probabilities[j] *= scale;
      }
    }
  }
}

}  // namespace tamis
