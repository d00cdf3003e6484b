#include "data/planar_bayes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace tamis {
namespace {

constexpr double kReach = 6;  // sigmas after which a Gaussian counts as zero (1e-9)
constexpr double kStepsPerSigma = 8;
constexpr double kMaxSide = 4000;  // grid points a side: 128 MB for the two densities at most

struct Grid {
  double x0 = 0;
  double y0 = 0;
  double step = 1;
  std::ptrdiff_t width = 0;
  std::ptrdiff_t height = 0;
};

Grid make_grid(const std::vector<PlanarGaussian>& p, const std::vector<PlanarGaussian>& q) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  double x0 = kInf, x1 = -kInf, y0 = kInf, y1 = -kInf, sigma = kInf;
  for (const auto* mixture : {&p, &q}) {
    for (const PlanarGaussian& g : *mixture) {
      x0 = std::min(x0, g.x - kReach * g.sigma);
      x1 = std::max(x1, g.x + kReach * g.sigma);
      y0 = std::min(y0, g.y - kReach * g.sigma);
      y1 = std::max(y1, g.y + kReach * g.sigma);
      sigma = std::min(sigma, g.sigma);
    }
  }
  const double side = std::max(x1 - x0, y1 - y0);
  const double step = std::max(sigma / kStepsPerSigma, side / kMaxSide);
  return {x0, y0, step, static_cast<std::ptrdiff_t>((x1 - x0) / step) + 2,
          static_cast<std::ptrdiff_t>((y1 - y0) / step) + 2};
}

// exp(-((origin + k step) - centre)^2 / 2 sigma^2) for the grid lines within reach.
std::vector<double> profile(double origin, double step, std::ptrdiff_t first, std::ptrdiff_t last,
                            double centre, double sigma) {
  std::vector<double> values;
  for (std::ptrdiff_t k = first; k <= last; ++k) {
    const double t = (origin + static_cast<double>(k) * step - centre) / sigma;
    values.push_back(std::exp(-0.5 * t * t));
  }
  return values;
}

std::vector<double> density(const std::vector<PlanarGaussian>& mixture, const Grid& grid) {
  std::vector<double> sum(static_cast<std::size_t>(grid.width * grid.height), 0.0);
  for (const PlanarGaussian& g : mixture) {
    const auto line = [&](double value, double origin, std::ptrdiff_t count) {
      return std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>((value - origin) / grid.step),
                                        0, count - 1);
    };
    const double reach = kReach * g.sigma;
    const auto left = line(g.x - reach, grid.x0, grid.width);
    const auto right = line(g.x + reach, grid.x0, grid.width);
    const auto low = line(g.y - reach, grid.y0, grid.height);
    const auto high = line(g.y + reach, grid.y0, grid.height);
    const auto across = profile(grid.x0, grid.step, left, right, g.x, g.sigma);
    const auto down = profile(grid.y0, grid.step, low, high, g.y, g.sigma);
    const double peak =
        1 / (2 * std::numbers::pi * g.sigma * g.sigma * static_cast<double>(mixture.size()));
    for (std::size_t r = 0; r < down.size(); ++r) {
      double* row = sum.data() + (low + static_cast<std::ptrdiff_t>(r)) * grid.width + left;
      const double scale = peak * down[r];
      for (std::size_t c = 0; c < across.size(); ++c) row[c] += scale * across[c];
    }
  }
  return sum;
}

}  // namespace

double planar_bayes_error(const std::vector<PlanarGaussian>& p,
                          const std::vector<PlanarGaussian>& q) {
  const Grid grid = make_grid(p, q);
  const std::vector<double> a = density(p, grid);
  const std::vector<double> b = density(q, grid);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::min(a[i], b[i]);
  return 0.5 * sum * grid.step * grid.step;
}

}  // namespace tamis
