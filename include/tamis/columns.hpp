// What the columns of a table become before they are scaled: missing values filled in, text as
// one-hot columns. Learned on training rows and kept in the model, next to the scaling.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/export.hpp"

namespace tamis {

enum class MissingValues {
  refuse,
  impute,  ///< the median of the column, and a column that says where values were missing
};

enum class TextColumns {
  refuse,
  one_hot,  ///< a column of zeros and ones per category
};

struct ColumnOptions {
  MissingValues missing = MissingValues::refuse;
  TextColumns text = TextColumns::refuse;
  /// Categories of a text column that get a column of their own, the most frequent ones; all others
  /// share one.
  Index max_categories = 32;
};

/// From columns as the user has them ("inputs") to columns of numbers that the model is trained on
/// ("outputs"): every input in its order, a text column as one output per category, then one if it
/// has others; after them an indicator for every input with missing values in the training rows.
///
/// A missing value is NaN. A value of a text column is the number of its category, from 1; 0 is any
/// other category.
struct TAMIS_EXPORT ColumnMap {
  struct TAMIS_EXPORT Text {
    Index column = 0;                     ///< of the inputs
    std::vector<std::string> categories;  ///< ascending, distinct
    bool has_other = false;               ///< a training row had none of these

    Index width() const { return static_cast<Index>(categories.size()) + (has_other ? 1 : 0); }
    bool operator==(const Text&) const = default;
  };
  /// Largest number of categories that a text column of a data set may have.
  static constexpr Index kMostCategories = Index{1} << 20;

  Index inputs = 0;                ///< 0: nothing is known of the columns
  std::vector<std::string> names;  ///< of the inputs, distinct; empty: not known
  /// What a missing value becomes, one per input; empty: missing values are refused.
  std::vector<float> fills;
  std::vector<Index> indicators;  ///< inputs with an indicator, ascending
  std::vector<Text> texts;        ///< ascending by column

  /// Learns from the rows. Throws DataError for text columns that the options refuse,
  /// ResourceError, Cancelled.
  static ColumnMap fit(const Dataset& data, const ColumnOptions& options,
                       const RunControl& control = {});

  /// The rows with the columns of this map, in its order and with the numbers of its categories. By
  /// name where names are known on both sides, else by position. Other columns are ignored.
  /// Throws DataError for a column that is not there, or that is text here and was not before.
  Dataset match(const Dataset& data) const;

  /// The outputs of rows that have the inputs of this map. Throws DataError naming row and column
  /// of a value that is missing and must not be, infinite, or no category.
  Matrix apply(const Matrix& rows, const RunControl& control = {}) const;

  /// Whether outputs are inputs: at most names are known.
  bool is_identity() const { return fills.empty() && texts.empty(); }
  Index outputs() const;
  /// "age", "color=red", "color=other", "age missing"; without names "column 3".
  std::vector<std::string> output_names() const;
  /// "column 'age'", or "column 3" without names; `column` from 0.
  std::string describe_column(Index column) const;
  /// Throws DataError unless all parts fit together.
  void validate() const;
  bool operator==(const ColumnMap&) const = default;
};

}  // namespace tamis
