// What every method of src/methods looks like from outside. A method is one file pair that defines
//
//   Method NAME_method();
//
// and one line in src/methods/methods.inc. Registry, help, documents, contract tests, tune and auto
// read the descriptor.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "model/machine.hpp"
#include "svm/training_set.hpp"
#include "tamis/control.hpp"
#include "tamis/methods.hpp"
#include "tamis/options.hpp"
#include "tamis/report.hpp"

namespace tamis {

struct KernelMachine;  // kernel_machine.hpp

/// The options, the caller's wishes, and how long the training has been going on.
struct TrainContext {
  const TrainOptions& options;
  const RunControl& control;
  Stopwatch watch;
  /// A warm start, for `exact` on one rank; other methods have none. Rows are those of the training
  /// set, classes in its order. Null: from zero.
  const KernelMachine* start = nullptr;

  /// Until max_seconds; infinite when there is no limit, never quite 0 when there is one.
  double seconds_left() const {
    if (options.max_seconds == 0) return std::numeric_limits<double>::infinity();
    return std::max(1e-9, options.max_seconds - watch.seconds());
  }
  /// `converged` while the work may go on.
  StopReason must_stop() const {
    if (options.max_seconds > 0 && watch.seconds() >= options.max_seconds)
      return StopReason::time_limit;
    return control.cancelled() ? StopReason::interrupted : StopReason::converged;
  }
};

/// A method fills in of the report what it knows: stop reason, objective, gap, violation,
/// iterations, evaluations, machines, support rows, phases, details, tables, warnings. The engine
/// adds the rest.
struct MethodResult {
  std::shared_ptr<const Machine> machine;
  TrainReport report;
};

/// What a method promises beyond what every method does (same model for any number of threads, a
/// weight of 2 counts as two rows). The contract suite holds it to its word.
struct Promises {
  /// The optimum of the stated problem: a small change of the rows is a small change of the values.
  bool is_optimum = false;
  /// Shuffled rows give the same model, up to the rounding of sums.
  bool ignores_row_order = false;
  /// A row of weight w and w copies of it give the same labels.
  bool copies_are_weights = false;
  /// Refuses data that it cannot separate without error.
  bool needs_separable = false;
};

/// What a search tries unless the user says otherwise.
struct TuningAxes {
  bool chooses_itself = false;  ///< there is nothing to search
  bool cost = true;
  bool gamma = true;              ///< for kernels that have one
  std::vector<double> k = {};     ///< values of the option k
  bool shares_kernel = false;     ///< folds and costs share kernel values: a finer grid is cheap
  bool on_neighborhoods = false;  ///< can be tried on single neighborhoods
};

/// Training time grows like rows^p with p in this range.
struct Growth {
  double least = 1;
  double most = 2.5;
};

/// What `auto` knows of the rows before it tries anything.
struct DataFacts {
  Index rows = 0;
  double stored_per_row = 0;  ///< values per row that are not zero
};

struct CellRows;
struct CellResult;

struct Method {
  MethodInfo info;
  MethodResult (*train)(const TrainingSet& data, const TrainContext& context) = nullptr;
  /// The same for a part of the rows and those around it (src/methods/local/cell_training.hpp), if
  /// the method can put a model together from such parts; null: it needs all rows at once.
  CellResult (*train_cell)(const CellRows& cell, const TrainContext& context) = nullptr;
  Promises promises = {};
  TuningAxes tuning = {};
  Growth growth = {};
  /// Whether `auto` should try it on such rows; null: never.
  bool (*worth_a_trial)(const DataFacts& facts, const TrainOptions& options) = nullptr;
};

}  // namespace tamis
