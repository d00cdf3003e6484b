// Support vectors, dual coefficients and intercepts of a trained model, for bindings, converters
// and inspection. Prediction does not need this header.
#pragma once

#include <vector>

#include "tamis/dataset.hpp"
#include "tamis/export.hpp"
#include "tamis/kernel.hpp"
#include "tamis/model.hpp"

namespace tamis {

enum class Decision {
  single,       ///< one value: a regression, or two classes (above 0: the first, else the second)
  one_vs_one,   ///< one SVM per pair (i, j), i < j, ordered (0,1), (0,2) .. (1,2) ..; majority vote
  one_vs_rest,  ///< one SVM per class; the largest decision value wins
};

/// f_m(x) = sum over support vectors of coefficient * K(sv, x) + intercept, with l support vectors
/// and m binary SVMs.
struct ExpansionParts {
  Kernel kernel;
  /// Each distinct support vector once, dense or sparse, as the model's scaling made them.
  /// Precomputed kernel: only column 0 is used, the serial number of the row.
  Matrix support_vectors;
  Decision decision = Decision::single;
  /// single, one_vs_rest: m rows of l. one_vs_one with k classes: k - 1 rows of l, where the
  /// SVM of (i, j) has the coefficients of class i's support vectors in row j - 1 and those of
  /// class j's in row i (LIBSVM's sv_coef).
  std::vector<double> coefficients;
  /// Intercepts (biases), one per binary SVM; LIBSVM's rho is the negative of it.
  std::vector<double> offsets;
  /// one_vs_one only: support vectors of each class. They are grouped by class, in class order.
  std::vector<Index> class_counts;
  /// Rows may have more columns than the support vectors, which are zero there: a LIBSVM model does
  /// not say how many features its data had.
  bool any_columns = false;
};

/// f_m(x) = w_m'x + intercept, with d features and m binary SVMs.
struct LinearParts {
  Index num_features = 0;
  Decision decision = Decision::single;
  std::vector<double> weights;  ///< m rows of d
  std::vector<double> offsets;  ///< one per binary SVM
};

/// The parts of a model that is one kernel expansion; null for all others. They live as long as the
/// model and its copies.
TAMIS_EXPORT const ExpansionParts* expansion_parts(const Model& model);
/// The same for linear models.
TAMIS_EXPORT const LinearParts* linear_parts(const Model& model);

}  // namespace tamis
