// Several methods on the same rows, compared with the exact SVM on all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/export.hpp"
#include "tamis/model.hpp"
#include "tamis/options.hpp"
#include "tamis/report.hpp"

namespace tamis {

struct ComparedMethod {
  std::string name;      ///< of the row: the method's, or any other
  TrainOptions options;  ///< with the method
};

struct CompareOptions {
  std::vector<ComparedMethod> methods;
  /// Number of times each method is trained, with seeds options.seed, options.seed + 1, ...
  Index runs = 1;
  /// Classification with two features: also compute the decision regions of each method.
  bool regions = false;
};

/// Over the runs of a method.
struct Spread {
  double mean = std::numeric_limits<double>::quiet_NaN();  ///< NaN: unknown
  double deviation = 0;  ///< sample standard deviation; 0 for one run
};

/// NaN without values, or when the first one is.
TAMIS_EXPORT Spread spread_of(std::span<const double> values);

/// The class predicted at each point of a grid over two features, row by row from the lowest
/// second feature.
struct DecisionRegions {
  Index width = 0;
  Index height = 0;
  double low[2] = {0, 0};  ///< the middle of the first cell
  double high[2] = {0, 0};
  std::vector<std::int32_t> classes;  ///< position in Comparison::classes
  /// Feature 1 and 2 of support vectors, unscaled; a sample when there are many.
  std::vector<std::pair<float, float>> support_vectors;
};

struct ComparisonRow {
  std::string name;
  std::string method;
  /// Why there is no result: bad parameters, not applicable, memory, interrupted. Empty: none.
  std::string failure;
  /// What to know about the result: stopped by a limit, fewer runs than asked for.
  std::string note;
  Index runs = 0;               ///< finished
  Spread error;                 ///< share of wrong rows, or mean squared error
  Spread train_seconds;         ///< wall time
  Spread predict_seconds;       ///< of all test rows
  Spread support_vectors;       ///< distinct
  Spread full_support_vectors;  ///< fraction of the exact SVM's that are among them
  Spread model_bytes;           ///< of the model file
  Spread rows_used;             ///< rows the final model was trained on
  std::vector<double> errors;   ///< by run
  std::vector<double> seconds;  ///< training, by run
  TrainReport report;           ///< of the first run
  DecisionRegions regions;      ///< of the first run; empty unless asked for
  /// Columns and the weights that the first run learned for them (metric-rounds), the largest
  /// first, 100 at most; empty: it learned none.
  std::vector<std::pair<std::string, double>> feature_weights;
  std::vector<std::string> parameters;  ///< "cost 10", those that differ from the defaults
};

struct TAMIS_EXPORT Comparison {
  Task task = Task::classification;
  Index train_rows = 0;  ///< of the first run
  Index test_rows = 0;
  Index features = 0;
  std::vector<std::string> classes;  ///< empty for a regression
  Index runs = 0;                    ///< asked for
  bool interrupted = false;
  std::vector<ComparisonRow> rows;  ///< in the order asked for
  /// Sample of test rows for the picture of regions: two features and the class.
  std::vector<std::pair<float, float>> sample;
  std::vector<std::int32_t> sample_classes;

  /// The row of the method `exact` that finished, or null.
  const ComparisonRow* full() const;
};

/// A method that fails keeps its row, with the reason; a cancelled comparison keeps the rows that
/// are done. `on_row` sees each row as it is finished. Throws InvalidArgument when the methods do
/// not share one task, and DataError when the test rows have no labels.
TAMIS_EXPORT Comparison compare(const Dataset& train, const Dataset& test,
                                const CompareOptions& options, const RunControl& control = {},
                                const std::function<void(const ComparisonRow&)>& on_row = {});

/// The same, with a random fraction of the rows as the test set: a different one in each run, the
/// same for all methods.
TAMIS_EXPORT Comparison compare_split(const Dataset& data, double test_share,
                                      const CompareOptions& options, const RunControl& control = {},
                                      const std::function<void(const ComparisonRow&)>& on_row = {});

}  // namespace tamis
