// Is a model the optimum of the full problem? Answered from the model and the rows alone, without
// anything its trainer said.
#pragma once

#include <string>
#include <vector>

#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/export.hpp"
#include "tamis/model.hpp"
#include "tamis/options.hpp"

namespace tamis {

/// What was found for one machine of the model, on the rows it is meant for. Everything is in the
/// units of its decision values, where a margin is 1.
struct MachineCertificate {
  std::string name;  ///< the decision column: "1/-1"
  Index rows = 0;
  Index support_vectors = 0;  ///< with a coefficient in this machine
  /// Of these, the ones that are no row of the data: then there is no dual point to speak of.
  Index foreign_vectors = 0;
  double primal = 0;        ///< 1/2 |w|^2 + cost of the slacks; infinite: a hard margin is not kept
  double dual = 0;          ///< of the coefficients, NaN with foreign vectors; at most the optimum
  double gap = 0;           ///< primal - dual: at least the distance of each from the optimum
  double relative_gap = 0;  ///< gap / max(|primal|, |dual|)
  double violation = 0;     ///< largest breach of an optimality (KKT) condition by a row
  Index worst_row = -1;     ///< of the data, counted from 0; -1: no row violates
  Index violating_rows = 0;   ///< rows whose breach exceeds eps
  double mean_violation = 0;  ///< over the violating rows
  double bound_breach = 0;    ///< most by which a coefficient leaves [0, C] of its row
  double sum_breach = 0;      ///< |sum of y alpha|
  double rounding = 0;        ///< estimate: largest error of the decision values used here
  bool certified = false;
};

struct Certificate {
  Index rows = 0;  ///< rows of weight 0 left out
  Index support_vectors = 0;
  Index foreign_vectors = 0;  ///< support vectors that are no row of the data
  double eps = 0;
  std::string problem;     ///< what was assumed: "C-SVC, C 10, l1 slacks"
  bool in_double = false;  ///< kernel values in double: float32 would show beside eps
  double primal = 0;       ///< primal, dual and gap: sums over the machines
  double dual = 0;
  double gap = 0;
  double relative_gap = 0;
  double violation = 0;      ///< the largest of all machines
  Index violating_rows = 0;  ///< summed over machines
  double mean_violation = 0;
  std::vector<MachineCertificate> machines;
  bool certified = false;  ///< every machine is
};

/// Checks a kernel expansion (any model of one kernel, LIBSVM's included) against the problem that
/// `options` state: cost (infinity: hard margin), loss, tube, class_weights, balanced and eps; a
/// model does not hold them. Kernel, scaling and task are the model's. A machine is certified when
/// every row keeps its optimality condition to eps (plus the rounding that is reported), every
/// coefficient its bounds, and every support vector is among the rows.
///
/// Support vectors are found among the rows by their content. Rows of equal content share the
/// coefficients found for them in the way that is best for the dual objective.
///
/// Throws InvalidArgument for other kinds of models and bad options, DataError for rows whose label
/// the model does not have.
TAMIS_EXPORT Certificate certify(const Model& model, const Dataset& data,
                                 const TrainOptions& options, const RunControl& control = {});

/// How many support vectors two models of the same rows have in common. Vectors of equal content
/// count once, vectors that are no row of the data are counted but never shared.
struct SupportOverlap {
  Index own = 0;
  Index other = 0;
  Index shared = 0;
};
TAMIS_EXPORT SupportOverlap support_overlap(const Model& model, const Model& other,
                                            const Dataset& data, const RunControl& control = {});

}  // namespace tamis
