// What random sampling draws from: points with a sign, in the space of some kernel.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "gram/computed_rows.hpp"
#include "methods/sampling/point_rows.hpp"
#include "qp/solver.hpp"
#include "tamis/control.hpp"
#include "tamis/kernel.hpp"

namespace tamis {

/// sum of coefficients[s] * phi(points[s]): a direction w.
struct Direction {
  std::vector<Index> points;
  std::vector<double> coefficients;
};

struct DrawSolution {
  qp::Solution solution;
  bool by_free_set = false;  ///< by its free coefficients, in double: as exact as can be
};

class MarginPoints {
 public:
  virtual ~MarginPoints() = default;

  virtual Index size() const = 0;
  /// +1 or -1: the side of the margin it belongs to.
  virtual double sign(Index point) const = 0;
  /// A point of weight 2 counts as two.
  virtual double weight(Index point) const = 0;
  /// From now on the point counts half as much.
  virtual void halve_weight(Index point) = 0;
  /// The largest K(p, p): the scale against which a distance is called zero.
  virtual double largest_square() const = 0;

  /// Solves a problem over the points `draw`, which has a start: by pairs down to `coarse_eps`, and
  /// from there by its free coefficients if they are few. `counts` grows by the kernel values it
  /// took.
  virtual DrawSolution solve(qp::Problem problem, std::span<const Index> draw,
                             const qp::Limits& limits, double coarse_eps, const RunControl& control,
                             EvaluationCounts* counts) const = 0;
  /// values[p] = <w, phi(p)> for every point, in one pass on all cores; `in_double` at ten times
  /// the cost. Throws Cancelled.
  virtual void project(const Direction& w, bool in_double, std::span<double> values,
                       const RunControl& control, EvaluationCounts* counts) const = 0;
  /// Estimate of what rounding to float adds to the values of project().
  virtual double rounding(const Direction& w) const = 0;
  /// Violations are counted in margins. Where the user's unit is finer than a margin, this is the
  /// part of a margin it is; else 1.
  virtual double unit(const Direction& /*w*/) const { return 1; }
};

/// The rows of two classes.
class ClassPoints : public MarginPoints {
 public:
  /// `targets` are +1 or -1, one per row.
  ClassPoints(const Kernel& kernel, std::shared_ptr<const PointRows> rows,
              RowVector<double> targets, RowVector<double> weights, Index cache_bytes);

  Index size() const override { return rows_->count(); }
  double sign(Index point) const override { return targets_[static_cast<std::size_t>(point)]; }
  double weight(Index point) const override { return weights_[static_cast<std::size_t>(point)]; }
  void halve_weight(Index point) override { weights_[static_cast<std::size_t>(point)] /= 2; }
  double largest_square() const override { return largest_square_; }
  DrawSolution solve(qp::Problem problem, std::span<const Index> draw, const qp::Limits& limits,
                     double coarse_eps, const RunControl& control,
                     EvaluationCounts* counts) const override;
  void project(const Direction& w, bool in_double, std::span<double> values,
               const RunControl& control, EvaluationCounts* counts) const override;
  double rounding(const Direction& w) const override;

 private:
  Kernel kernel_;
  std::shared_ptr<const PointRows> rows_;
  RowVector<double> targets_;
  RowVector<double> weights_;
  Index cache_bytes_;
  double largest_square_ = 0;
};

/// The rows of a regression, each twice: point i is (x_i, y_i + tube) with sign +1, point n + i is
/// (x_i, y_i - tube) with sign -1, under the kernel K(x, x') + y y' (src/gram/tube_rows.hpp).
class TubePoints : public MarginPoints {
 public:
  /// `numbers` should have a mean near 0: a common shift changes no answer, only its rounding.
  TubePoints(const Kernel& kernel, std::shared_ptr<const PointRows> rows, RowVector<double> numbers,
             RowVector<double> weights, double tube, Index cache_bytes);

  Index size() const override { return 2 * rows_->count(); }
  double sign(Index point) const override { return point < rows_->count() ? 1 : -1; }
  double weight(Index point) const override {
    return weights_[static_cast<std::size_t>(row(point))];
  }
  void halve_weight(Index point) override { weights_[static_cast<std::size_t>(row(point))] /= 2; }
  double largest_square() const override { return largest_square_; }
  DrawSolution solve(qp::Problem problem, std::span<const Index> draw, const qp::Limits& limits,
                     double coarse_eps, const RunControl& control,
                     EvaluationCounts* counts) const override;
  void project(const Direction& w, bool in_double, std::span<double> values,
               const RunControl& control, EvaluationCounts* counts) const override;
  double rounding(const Direction& w) const override;
  /// One unit of the response is sigma = slope(w) margins, when w has margin 1.
  double unit(const Direction& w) const override { return slope(w); }

  Index row(Index point) const { return point % rows_->count(); }
  double response(Index point) const {
    return numbers_[static_cast<std::size_t>(row(point))] + sign(point) * tube_;
  }
  /// sigma: the part of w that belongs to the response.
  double slope(const Direction& w) const;
  /// The part that belongs to the features: rows, each once, with the coefficients of both points.
  Direction feature_part(const Direction& w) const;

 private:
  Kernel kernel_;
  std::shared_ptr<const PointRows> rows_;
  RowVector<double> numbers_;
  RowVector<double> weights_;
  double tube_;
  Index cache_bytes_;
  double largest_square_ = 0;
};

}  // namespace tamis
