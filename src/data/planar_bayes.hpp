// The Bayes error of two equally likely classes in the plane, each a mixture of round Gaussians.
#pragma once

#include <vector>

namespace tamis {

struct PlanarGaussian {
  double x = 0;
  double y = 0;
  double sigma = 1;
};

/// Half the integral of min(p, q), where p and q weigh their Gaussians equally; to 2e-5.
/// Deterministic: the trapezoidal rule on a grid of an eighth of the smallest sigma.
double planar_bayes_error(const std::vector<PlanarGaussian>& p,
                          const std::vector<PlanarGaussian>& q);

}  // namespace tamis
