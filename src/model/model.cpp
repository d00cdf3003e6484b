#include "tamis/model.hpp"

#include <fmt/format.h>

#include "model/machine.hpp"
#include "tamis/text.hpp"

namespace tamis {

std::string_view task_name(Task task) {
  return task == Task::classification ? "classification" : "regression";
}

Model::Model(Task task, Labels classes, Scaling scaling, std::shared_ptr<const Machine> machine,
             std::string method)
    : task_(task),
      classes_(std::move(classes)),
      scaling_(std::move(scaling)),
      machine_(std::move(machine)),
      method_(std::move(method)) {}

Model Model::with_calibration(std::shared_ptr<const Calibration> calibration) const {
  Model model = *this;
  model.calibration_ = std::move(calibration);
  return model;
}

Index Model::num_features() const { return machine_->num_features(); }
Index Model::num_support_vectors() const { return machine_->num_support_vectors(); }

std::string Model::describe() const {
  return fmt::format("{}, {}, {}", task_name(task_), counted(num_features(), "feature"),
                     machine_->describe());
}

}  // namespace tamis
