// Feature scaling, learnt on training rows and kept in the model.
#pragma once

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
};

TAMIS_EXPORT std::string_view scaling_name(ScalingMethod method);
TAMIS_EXPORT ScalingMethod parse_scaling_method(std::string_view name);

/// x' = (x - offset) * factor + lower, column by column. A constant column becomes `lower`.
struct TAMIS_EXPORT Scaling {
  ScalingMethod method = ScalingMethod::none;
  float lower = 0.0F;
  std::vector<float> offset;  ///< one per column; empty when method is none
  std::vector<float> factor;

  /// Learns from rows. `lower` and `upper` matter for minmax only.
  static Scaling fit(const Matrix& features, ScalingMethod method, double lower = 0,
                     double upper = 1, const RunControl& control = {});
  /// Sparse rows stay sparse only if zero maps to zero in every column; otherwise the result is
  /// dense.
  Matrix apply(const Matrix& features, const RunControl& control = {}) const;
  bool is_identity() const { return method == ScalingMethod::none; }
};

}  // namespace tamis
