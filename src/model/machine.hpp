// What a Model predicts with. One subclass per shape of model: kernel expansions, local machines,
// linear machines, ensembles.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/decision.hpp"
#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/model.hpp"

namespace tamis {

/// Multiplying sparse rows packs up to 64 of them side by side (src/kernels): that many floats for
/// every column, in each thread.
inline constexpr Index kPackedColumnBytes = 64 * sizeof(float);

/// Turns rows (already scaled, with num_features() columns) into decision values, and these into
/// class positions. Immutable and thread-safe. Loops inside run on the threads of the caller's
/// arena (see with_threads).
class Machine {
 public:
  virtual ~Machine() = default;

  /// Name of the shape in the model file: "kernel-expansion".
  virtual std::string_view kind() const = 0;
  virtual Index num_features() const = 0;
  virtual Index num_support_vectors() const = 0;
  /// The support vectors, scaled as the machine has them, each once; no rows when it keeps none.
  virtual Matrix support_points() const { return {}; }
  /// Whether it says the same of every row: nothing was trained.
  virtual bool is_constant() const { return num_support_vectors() == 0; }
  /// The rows with num_features() columns: missing ones are zero, surplus ones must hold only zeros
  /// (DataError). A machine that can use rows as they are overrides it.
  virtual Matrix fit_columns(const Matrix& features) const {
    return features.with_cols(num_features());
  }
  /// For people: "rbf, gamma 2; 3044 support vectors".
  virtual std::string describe() const = 0;

  virtual DecisionShape decision_shape() const = 0;
  /// Names of the decision columns, given the model's classes (empty for regression). Throws
  /// DataError when the machine does not go with that many classes.
  std::vector<std::string> decision_columns(const Labels& classes) const {
    return decision_column_names(decision_shape(), classes);
  }
  /// values[i * columns + m]: column m for row i.
  virtual void decision_values(const Matrix& features, std::span<double> values,
                               const RunControl& control) const = 0;
  /// Class position of each row (classification).
  virtual void classify(const Matrix& features, std::span<std::int32_t> classes,
                        const RunControl& control) const = 0;
};

}  // namespace tamis
