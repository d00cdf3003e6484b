// Checks whether a model is the optimum of the full problem, from the model and the rows alone:
// nothing that the solver reported is used.
#pragma once

#include <string>
#include <vector>

#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/export.hpp"
#include "tamis/model.hpp"
#include "tamis/options.hpp"

namespace tamis {

/// Result for one binary SVM of the model, on the rows of its classes. Everything is in the units
/// of its decision values, where the margin is 1.
struct MachineCertificate {
  std::string name;  ///< the decision column: "1/-1"
  Index rows = 0;
  Index support_vectors = 0;  ///< with a coefficient in this SVM
  /// Of these, the ones that match no row of the data; if there are any, the dual is not defined.
  Index foreign_vectors = 0;
  double primal = 0;         ///< 1/2 |w|^2 + C * slacks; infinite: a hard margin is violated
  double dual = 0;           ///< of the coefficients, NaN with foreign vectors; at most the optimum
  double gap = 0;            ///< primal - dual: at least the distance of each from the optimum
  double relative_gap = 0;   ///< gap / max(|primal|, |dual|)
  double violation = 0;      ///< largest violation of a KKT condition by a row
  Index worst_row = -1;      ///< of the data, counted from 0; -1: no row violates
  Index violating_rows = 0;  ///< rows whose violation exceeds eps
  double mean_violation = 0;  ///< over the violating rows
  double bound_breach = 0;    ///< largest distance of a coefficient from [0, C] of its row
  double sum_breach = 0;      ///< |sum of y alpha|
  double rounding = 0;        ///< estimate: largest error of the decision values used here
  bool certified = false;
};

struct Certificate {
  Index rows = 0;  ///< without rows of weight 0
  Index support_vectors = 0;
  Index foreign_vectors = 0;  ///< support vectors that match no row of the data
  double eps = 0;
  std::string problem;     ///< the problem checked: "C-SVC, C 10, l1 slacks"
  bool in_double = false;  ///< kernel values in double, because float32 is too coarse for eps
  double primal = 0;       ///< primal, dual and gap: sums over the binary SVMs
  double dual = 0;
  double gap = 0;
  double relative_gap = 0;
  double violation = 0;      ///< the largest of all binary SVMs
  Index violating_rows = 0;  ///< summed over binary SVMs
  double mean_violation = 0;
  std::vector<MachineCertificate> machines;
  bool certified = false;  ///< every binary SVM is certified
};

/// Checks a kernel expansion (any model of one kernel, LIBSVM's included) against the problem that
/// `options` state: cost (infinity: hard margin), loss, tube, class_weights, balanced and eps; a
/// model file does not contain them. Kernel, scaling and task are the model's. A binary SVM is
/// certified when every row satisfies its KKT condition within eps (plus the reported rounding),
/// every coefficient is within its bounds, and every support vector is one of the rows.
///
/// Support vectors are matched with rows by their values. Identical rows share the coefficients
/// found for them in the way that maximizes the dual objective.
///
/// Throws InvalidArgument for other kinds of models and bad options, DataError for rows whose label
/// the model does not have.
TAMIS_EXPORT Certificate certify(const Model& model, const Dataset& data,
                                 const TrainOptions& options, const RunControl& control = {});

/// Number of support vectors that two models of the same rows have in common. Identical vectors
/// count once; vectors that match no row of the data are counted but never shared.
struct SupportOverlap {
  Index own = 0;
  Index other = 0;
  Index shared = 0;
};
TAMIS_EXPORT SupportOverlap support_overlap(const Model& model, const Model& other,
                                            const Dataset& data, const RunControl& control = {});

}  // namespace tamis
