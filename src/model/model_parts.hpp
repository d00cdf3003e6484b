// What a Model holds, for the library itself.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "model/machine.hpp"
#include "tamis/model.hpp"

namespace tamis {

struct Calibration;  // src/calibration/calibration.hpp: turns decision values into probabilities

struct ModelParts {
  Task task = Task::classification;
  Labels classes;  ///< empty for a regression
  Scaling scaling;
  ColumnMap columns = {};
  std::shared_ptr<const Machine> machine;
  std::string method;
  std::shared_ptr<const Calibration> calibration;  ///< null: no probabilities
  std::shared_ptr<const MappedFile> file = {};     ///< where its arrays lie; null: in memory

  static Model wrap(ModelParts parts);
  /// Those of an empty model have no machine.
  static const ModelParts& of(const Model& model);
};

Model make_model(Task task, Labels classes, Scaling scaling, std::shared_ptr<const Machine> machine,
                 std::string method);
/// The same model for rows whose columns this map turns into those of the machine.
Model with_columns(const Model& model, ColumnMap columns);
/// Rows as the machine takes them, but for the scaling. Throws DataError for values that are not
/// finite, and for those that the model's columns do not allow.
Matrix machine_rows(const Model& model, const Matrix& features, const RunControl& control);
/// The same model with other probabilities, or with none (null).
Model with_calibration(const Model& model, std::shared_ptr<const Calibration> calibration);

/// The same model, whose arrays lie in this mapped file.
Model in_file(const Model& model, std::shared_ptr<const MappedFile> file);
/// Throws DataError if the mapped file of the model was truncated or changed.
void require_intact(const Model& model);

inline const Machine& machine_of(const Model& model) { return *ModelParts::of(model).machine; }
inline std::shared_ptr<const Machine> shared_machine(const Model& model) {
  return ModelParts::of(model).machine;
}
inline const Calibration& calibration_of(const Model& model) {
  return *ModelParts::of(model).calibration;
}

}  // namespace tamis
