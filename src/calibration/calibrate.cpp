// calibrate(): checks and scores. The fit is in calibration_fit.cpp.
#include "tamis/calibrate.hpp"

#include <fmt/format.h>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "calibration/calibration_fit.hpp"
#include "calibration/fold_calibration.hpp"
#include "model/model_parts.hpp"
#include "tamis/error.hpp"
#include "tamis/predict.hpp"

namespace tamis {
namespace {

// Class of each row; every class of the model must have a row that weighs something.
std::vector<std::int32_t> require_all_classes(const Labels& classes, const Dataset& data) {
  if (data.labels().kind() == LabelKind::none)
    throw DataError("the data has no labels to calibrate with");
  std::vector<std::int32_t> codes = encode_labels(data.labels(), classes);
  std::vector<bool> seen(usize(classes.size()), false);
  for (Index i = 0; i < data.rows(); ++i) {
    const std::int32_t code = codes[usize(i)];
    if (code < 0) {
      throw DataError(fmt::format("row {} has the label {}, which the model does not know", i + 1,
                                  data.labels().name(i)));
    }
    if (data.weight(i) > 0) seen[usize(code)] = true;
  }
  for (Index c = 0; c < classes.size(); ++c) {
    if (!seen[usize(c)])
      throw DataError(fmt::format("no row has the label {}: calibration needs some of every class",
                                  classes.name(c)));
  }
  return codes;
}

}  // namespace

void require_classification(Task task) {
  if (task != Task::classification)
    throw InvalidArgument("probabilities are for classes: a regression has none");
}

Model calibrate(const Model& model, const Dataset& held_out, CalibrationMethod method,
                const RunControl& control) {
  if (model.empty()) throw InvalidArgument("the model is empty: train or load one first");
  require_classification(model.task());
  if (model.classes().size() < 2) throw DataError("the model knows one class only");
  const auto codes = require_all_classes(model.classes(), held_out);
  const DecisionValues scores =
      decision_values(model, rows_for(model, held_out, control).features(), control);
  return with_threads(control.threads, [&] {
    return with_calibration(
        model, fit_calibration(method, machine_of(model).decision_shape().used(),
                               model.classes().size(), scores, codes, held_out.weights()));
  });
}

}  // namespace tamis
