// What `tamis check` finds out about data.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tamis/control.hpp"
#include "tamis/dataset.hpp"

namespace tamis::cli {

/// A column with text, or with missing values.
struct TableColumn {
  std::string name;      ///< "column 'age'", or "column 3" without names
  Index categories = 0;  ///< distinct texts; 0 for a column of numbers
  Index missing = 0;     ///< rows without a value
};

struct DataSummary {
  Index rows = 0;
  Index features = 0;
  bool sparse = false;
  double density = 0;  ///< share of values that are not zero
  double smallest_value = 0;
  double largest_value = 0;
  Index constant_columns = 0;
  /// Widest over narrowest range of the columns that are not constant; 0 when there are none.
  double range_ratio = 0;
  std::vector<std::pair<std::string, Index>> classes;  ///< in label order; empty: none, or numbers
  bool has_targets = false;  ///< the labels are numbers to predict rather than classes
  double smallest_target = 0;
  double largest_target = 0;
  Index duplicate_rows = 0;      ///< rows equal to an earlier one in all features
  Index contradicting_rows = 0;  ///< of these, those whose label differs from the earlier one's
  std::vector<TableColumn> table_columns;  ///< those that training refuses without an option
};

/// Text is counted as one-hot columns, and missing values as the median of their column.
DataSummary summarize(const Dataset& data, const RunControl& control);

/// What to do about it, one sentence each; empty when all is well.
std::vector<std::string> advice(const DataSummary& summary, const std::string& path);

}  // namespace tamis::cli
