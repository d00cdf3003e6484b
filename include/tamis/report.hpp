// Report of a training run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tamis/dataset.hpp"
#include "tamis/export.hpp"

namespace tamis {

enum class StopReason {
  converged,        ///< the solution meets the requested tolerance
  precision_limit,  ///< float32 kernel values allow no better solution; the model is usable,
                    ///< `violation` says how far it is
  iteration_limit,  ///< max_iterations reached; the model is usable, `gap` says how far it is
  time_limit,       ///< max_seconds reached; likewise
  interrupted,      ///< cancelled by the caller; likewise
};

/// "converged", "precision limit", "iteration limit", "time limit", "interrupted".
TAMIS_EXPORT std::string_view stop_reason_name(StopReason reason);

/// Numbers by row and column: the rounds of a method, for example.
struct ReportTable {
  std::string name;                  ///< "rounds"
  std::vector<std::string> columns;  ///< "rows", "validation_error"
  std::vector<std::vector<double>> rows;
};

struct TrainReport {
  std::string method;
  Index rows = 0;
  Index features = 0;
  Index classes = 0;   ///< 0 for regression
  Index machines = 1;  ///< binary problems solved
  Index support_vectors = 0;
  Index bounded_support_vectors =
      0;  ///< of these, coefficients at their upper bound (summed over binary SVMs)
  /// The training row (from 0) of each support vector of the model, in the model's order. Empty
  /// when the model is not one kernel expansion over training rows.
  std::vector<Index> support_rows;
  /// The training rows (from 0, ascending) that the model was trained on, where a method, `auto` or
  /// a time limit chose them. Empty when nothing chose rows, when each part of the model has rows
  /// of its own (ensembles, local SVMs), and for leaders of a stream.
  std::vector<Index> chosen_rows;
  StopReason stop_reason = StopReason::converged;
  double objective = 0;         ///< dual objective as LIBSVM's "obj", summed over binary SVMs
  double gap = 0;               ///< primal minus dual objective, summed over binary SVMs
  double violation = 0;         ///< largest KKT violation; at most eps when converged
  std::int64_t iterations = 0;  ///< pair updates (linear: epochs), summed over binary SVMs
  /// Pair updates of each binary SVM of the model, in the training that produced it.
  std::vector<std::int64_t> machine_iterations;
  std::int64_t kernel_evaluations = 0;  ///< kernel values computed
  std::int64_t cached_evaluations = 0;  ///< kernel values taken from the row cache instead
  /// Seconds per phase in order of first use, and the whole.
  std::vector<std::pair<std::string, double>> phase_seconds;
  double train_seconds = 0;
  std::int64_t peak_memory_bytes = 0;
  /// Further numbers of a method, by name: "rows_used".
  std::vector<std::pair<std::string, double>> details;
  std::vector<ReportTable> tables;
  /// What was chosen and why, one sentence each.
  std::vector<std::string> remarks;
  /// What the user should know: unscaled columns, limits hit. One sentence each.
  std::vector<std::string> warnings;
};

}  // namespace tamis
