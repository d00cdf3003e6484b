// Feature scaling, learned from the training rows and kept in the model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/export.hpp"

namespace tamis {

enum class ScalingMethod {
  none,
  minmax,    ///< each column to [lower, upper]
  standard,  ///< each column to mean 0 and standard deviation 1
  maxabs,    ///< each column divided by its largest magnitude; keeps sparse data sparse
  robust,    ///< each column to median 0 and the quartiles of a normal distribution
  quantile,  ///< each column to its normal scores; sparse rows: shifted so that zero stays zero
  weighted,  ///< feature weights alone: what `none` becomes when a model learns them
};

TAMIS_EXPORT std::string_view scaling_name(ScalingMethod method);
TAMIS_EXPORT ScalingMethod parse_scaling_method(std::string_view name);
/// "none, minmax, .. or weighted", for messages.
TAMIS_EXPORT std::string scaling_names();

/// The piecewise linear functions of quantile scaling, one per column: those of column j are the
/// points [begin[j], begin[j + 1]), constant outside of them.
struct ScalingKnots {
  std::vector<Index> begin;   ///< columns + 1 numbers; every column has a knot
  std::vector<float> values;  ///< ascending in each column, finite
  std::vector<float> scores;  ///< never falling in each column, finite

  bool operator==(const ScalingKnots&) const = default;
};

/// `x' = (g(x) - offset) * factor + lower`, column by column, where g is the column's function of
/// `knots` for the method quantile, and g(x) = x for the others. A constant column becomes `lower`.
struct TAMIS_EXPORT Scaling {
  /// Largest number of knots per column.
  static constexpr Index kMaxKnots = 128;
  /// Largest number of columns of a full metric.
  static constexpr Index kMaxMatrixColumns = 300;

  ScalingMethod method = ScalingMethod::none;
  float lower = 0.0F;
  std::vector<float> offset;  ///< one per column; empty when method is none
  std::vector<float> factor;
  ScalingKnots knots;  ///< quantile only
  /// Feature weights learned by the model; empty: none. They are part of `factor`, but for the
  /// lengths of the rows of `matrix`, if there is one.
  std::vector<float> weights;
  /// A full metric learned by the model: a symmetric matrix, row by row, that each scaled row is
  /// multiplied by. Empty: none.
  std::vector<float> matrix;

  /// Learns from rows. `lower` and `upper` matter for minmax only. Quantile and robust look at
  /// 262,144 rows at most, drawn at random.
  static Scaling fit(const Matrix& features, ScalingMethod method, double lower = 0,
                     double upper = 1, const RunControl& control = {});
  /// Sparse rows stay sparse only if zero maps to zero in every column; otherwise the result is
  /// dense.
  Matrix apply(const Matrix& features, const RunControl& control = {}) const;
  /// One value, before the matrix.
  float scaled(std::size_t column, float value) const;
  /// The value that scaled() maps to this one; where several do, or none does, one near to it.
  float unscaled(std::size_t column, float value) const;
  /// This scaling with each column multiplied by its weight, one weight per column. `lower` must
  /// be 0. Existing weights are multiplied.
  Scaling with_weights(const std::vector<float>& weights) const;
  /// This scaling followed by a symmetric matrix, columns x columns numbers. `lower` must be 0, and
  /// there must be no matrix yet.
  Scaling with_matrix(const std::vector<float>& matrix) const;
  /// Throws DataError unless `knots`, `offset`, `factor`, `weights` and `matrix` fit together and
  /// are finite.
  void validate() const;
  bool is_identity() const { return method == ScalingMethod::none; }
  bool operator==(const Scaling&) const = default;
};

}  // namespace tamis
