#include "tamis/model.hpp"

#include <fmt/format.h>

#include "base/mapped_file.hpp"
#include "model/model_parts.hpp"
#include "tamis/text.hpp"

namespace tamis {

std::string_view task_name(Task task) {
  return task == Task::classification ? "classification" : "regression";
}

Model ModelParts::wrap(ModelParts parts) {
  Model model;
  model.parts_ = std::make_shared<const ModelParts>(std::move(parts));
  return model;
}

const ModelParts& ModelParts::of(const Model& model) {
  static const ModelParts nothing;
  return model.empty() ? nothing : *model.parts_;
}

Model make_model(Task task, Labels classes, Scaling scaling, std::shared_ptr<const Machine> machine,
                 std::string method) {
  return ModelParts::wrap({task,
                           std::move(classes),
                           std::move(scaling),
                           {},
                           std::move(machine),
                           std::move(method),
                           nullptr,
                           nullptr});
}

Model with_columns(const Model& model, ColumnMap columns) {
  ModelParts parts = ModelParts::of(model);
  parts.columns = std::move(columns);
  return ModelParts::wrap(std::move(parts));
}

Model with_calibration(const Model& model, std::shared_ptr<const Calibration> calibration) {
  ModelParts parts = ModelParts::of(model);
  parts.calibration = std::move(calibration);
  return ModelParts::wrap(std::move(parts));
}

Model in_file(const Model& model, std::shared_ptr<const MappedFile> file) {
  ModelParts parts = ModelParts::of(model);
  parts.file = std::move(file);
  return ModelParts::wrap(std::move(parts));
}

void require_intact(const Model& model) {
  const auto& file = ModelParts::of(model).file;
  if (file) file->require_intact();
}

Task Model::task() const { return ModelParts::of(*this).task; }
const Labels& Model::classes() const { return ModelParts::of(*this).classes; }
const Scaling& Model::scaling() const { return ModelParts::of(*this).scaling; }
const ColumnMap& Model::columns() const { return ModelParts::of(*this).columns; }
const std::string& Model::method() const { return ModelParts::of(*this).method; }
bool Model::has_probabilities() const { return ModelParts::of(*this).calibration != nullptr; }

Index Model::num_features() const {
  if (empty()) return 0;
  return columns().inputs > 0 ? columns().inputs : machine_of(*this).num_features();
}
Index Model::num_support_vectors() const {
  return empty() ? 0 : machine_of(*this).num_support_vectors();
}

bool Model::is_constant() const { return empty() || machine_of(*this).is_constant(); }

std::string Model::describe() const {
  if (empty()) return "empty";
  return fmt::format("{}, {}, {}", task_name(task()), counted(num_features(), "feature"),
                     machine_of(*this).describe());
}

}  // namespace tamis
