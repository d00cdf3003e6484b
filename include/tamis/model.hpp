// A trained model: an immutable value, cheap to copy, safe to use from many threads.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tamis/columns.hpp"
#include "tamis/dataset.hpp"
#include "tamis/export.hpp"
#include "tamis/scaling.hpp"

namespace tamis {

enum class Task { classification, regression };
TAMIS_EXPORT std::string_view task_name(Task task);

/// An empty model has no classes, no features and predicts nothing.
class TAMIS_EXPORT Model {
 public:
  Model() = default;

  bool empty() const { return parts_ == nullptr; }
  Task task() const;
  /// Class labels in the model's order; empty for a regression. Decision column (a, b) is positive
  /// where class a is favored.
  const Labels& classes() const;
  const Scaling& scaling() const;
  /// What the columns of the rows are made into before they are scaled, and their names if these
  /// are known.
  const ColumnMap& columns() const;
  /// The method that trained it, for display.
  const std::string& method() const;
  /// Columns of the rows that it predicts.
  Index num_features() const;
  /// Distinct support vectors.
  Index num_support_vectors() const;
  /// Whether it predicts the same for every row: training was stopped before anything was
  /// learned, or there was nothing to learn.
  bool is_constant() const;
  /// For people: one line.
  std::string describe() const;
  /// Whether probabilities() of calibrate.hpp can be asked for.
  bool has_probabilities() const;

 private:
  friend struct ModelParts;
  std::shared_ptr<const struct ModelParts> parts_;
};

}  // namespace tamis
