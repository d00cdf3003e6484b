// Random ensembles, and the formula they must follow.
#pragma once

#include <cmath>
#include <vector>

#include "model/expansion_fixtures.hpp"
#include "model/weighted_ensemble.hpp"

namespace tamis {

/// Up to six members a machine, of three kernel widths, with up to half of the support vectors
/// each; every fourth member weighs nothing.
inline EnsembleParts random_ensemble(const Kernel& kernel, Matrix support_vectors,
                                     Decision decision, Index machines, Random& random) {
  EnsembleParts parts;
  parts.kernel = kernel;
  parts.decision = decision;
  parts.support_vectors = std::move(support_vectors);
  parts.member_begin = {0};
  parts.term_begin = {0};
  const Index l = parts.support_vectors.rows();
  for (Index p = 0; p < machines; ++p) {
    parts.offsets.push_back(random.uniform(-1, 1));
    const Index members = random.below(7);
    for (Index m = 0; m < members; ++m) {
      parts.weights.push_back(m % 4 == 3 ? 0 : random.uniform(-1, 1));
      parts.gammas.push_back(0.25 * static_cast<double>(1 + random.below(3)));
      parts.member_offsets.push_back(random.uniform(-1, 1));
      for (const Index v : sample_without_replacement(l, random.below(l / 2 + 1), random)) {
        parts.term_vectors.push_back(v);
        parts.coefficients.push_back(random.uniform(-2, 2));
      }
      parts.term_begin.push_back(static_cast<Index>(parts.coefficients.size()));
    }
    parts.member_begin.push_back(static_cast<Index>(parts.weights.size()));
  }
  return parts;
}

/// The same members with kernels of their own and sigmoids.
inline EnsembleParts with_kernels_and_sigmoids(EnsembleParts parts, Random& random) {
  for (std::size_t m = 0; m < parts.weights.size(); ++m) {
    parts.kernel_types.push_back(random.below(4));
    parts.sigmoid_slopes.push_back(random.uniform(-2, 0));
    parts.sigmoid_intercepts.push_back(random.uniform(-1, 1));
  }
  return parts;
}

/// Machine p on row i, by the definition in weighted_ensemble.hpp and nothing else.
inline double naive_value(const EnsembleParts& parts, Index machine, const Matrix& rows, Index i) {
  const auto at = [](Index k) { return static_cast<std::size_t>(k); };
  double sum = parts.offsets[at(machine)];
  for (Index m = parts.member_begin[at(machine)]; m < parts.member_begin[at(machine) + 1]; ++m) {
    Kernel kernel = parts.kernel;
    if (!parts.kernel_types.empty())
      kernel.type = static_cast<KernelType>(parts.kernel_types[at(m)]);
    kernel.gamma = parts.gammas[at(m)];
    double value = parts.member_offsets[at(m)];
    for (Index t = parts.term_begin[at(m)]; t < parts.term_begin[at(m) + 1]; ++t) {
      value += parts.coefficients[at(t)] *
               kernel_value(kernel, rows, i, parts.support_vectors, parts.term_vectors[at(t)]);
    }
    if (!parts.sigmoid_slopes.empty()) {
      const double exponent = parts.sigmoid_slopes[at(m)] * value + parts.sigmoid_intercepts[at(m)];
      value = 2 / (1 + std::exp(exponent)) - 1;
    }
    sum += parts.weights[at(m)] * value;
  }
  return sum;
}

}  // namespace tamis
