// A trained model: an immutable value, cheap to copy, safe to use from many threads.
#pragma once

#include <memory>
#include <string>

#include "tamis/dataset.hpp"
#include "tamis/kernel.hpp"
#include "tamis/scaling.hpp"

namespace tamis {

enum class Task { classification, regression };
std::string_view task_name(Task task);

class Machine;       // src/model/machine.hpp: what turns rows into decision values
struct Calibration;  // src/calibration/calibration.hpp: what turns these into probabilities

class Model {
 public:
  Model() = default;
  /// `classes` is empty for regression. `method` names the trainer, for people.
  Model(Task task, Labels classes, Scaling scaling, std::shared_ptr<const Machine> machine,
        std::string method);

  bool empty() const { return machine_ == nullptr; }
  Task task() const { return task_; }
  /// Class labels in the model's order; decision column (a, b) is positive where class a is
  /// favoured.
  const Labels& classes() const { return classes_; }
  const Scaling& scaling() const { return scaling_; }
  const std::string& method() const { return method_; }
  Index num_features() const;
  /// Distinct support vectors.
  Index num_support_vectors() const;
  /// For people: one line.
  std::string describe() const;

  /// Whether probabilities() of calibrate.hpp can be asked for.
  bool has_probabilities() const { return calibration_ != nullptr; }
  const Calibration& calibration() const { return *calibration_; }
  /// The same model with other probabilities, or with none (null).
  Model with_calibration(std::shared_ptr<const Calibration> calibration) const;

  const Machine& machine() const { return *machine_; }
  std::shared_ptr<const Machine> shared_machine() const { return machine_; }

 private:
  Task task_ = Task::classification;
  Labels classes_;
  Scaling scaling_;
  std::shared_ptr<const Machine> machine_;
  std::string method_;
  std::shared_ptr<const Calibration> calibration_;
};

}  // namespace tamis
