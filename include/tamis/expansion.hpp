// What a kernel machine is made of, for whoever wants to look inside a model: bindings, converters,
// curious people. Predicting needs none of it.
#pragma once

#include <vector>

#include "tamis/dataset.hpp"
#include "tamis/export.hpp"
#include "tamis/kernel.hpp"
#include "tamis/model.hpp"

namespace tamis {

enum class Decision {
  single,       ///< one value: a regression, or two classes (above 0: the first, else the second)
  one_vs_one,   ///< one machine a pair (i, j), i < j, ordered (0,1), (0,2) .. (1,2) ..; each votes
  one_vs_rest,  ///< one machine a class; the largest value wins
};

/// f_m(x) = sum over support vectors of coefficient * K(sv, x) + offset; l support vectors, m
/// machines.
struct ExpansionParts {
  Kernel kernel;
  /// Each distinct support vector once, dense or sparse, as the model's scaling made them.
  /// Precomputed kernel: column 0 alone counts, the serial number.
  Matrix support_vectors;
  Decision decision = Decision::single;
  /// single, one_vs_rest: m rows of l. one_vs_one with k classes: k - 1 rows of l, where machine
  /// (i, j) has the coefficients of class i's support vectors in row j - 1 and those of class j's
  /// in row i (LIBSVM's sv_coef).
  std::vector<double> coefficients;
  /// One a machine; LIBSVM's rho is -offset.
  std::vector<double> offsets;
  /// one_vs_one only: support vectors of each class. They are grouped by class, in class order.
  std::vector<Index> class_counts;
  /// Rows may have more columns than the support vectors, which are zero there: a LIBSVM model does
  /// not say how many features its data had.
  bool any_columns = false;
};

/// f_m(x) = w_m'x + offset; d features, m machines.
struct LinearParts {
  Index num_features = 0;
  Decision decision = Decision::single;
  std::vector<double> weights;  ///< m rows of d
  std::vector<double> offsets;  ///< one a machine
};

/// The parts of a model that is one kernel expansion; null for every other shape. They live as long
/// as the model's machine does.
TAMIS_EXPORT const ExpansionParts* expansion_parts(const Model& model);
/// The same for linear machines.
TAMIS_EXPORT const LinearParts* linear_parts(const Model& model);

}  // namespace tamis
