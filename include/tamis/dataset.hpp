// Matrix: immutable rows of features. Labels: classes or targets of the rows. Dataset: both, with
// weights. All three are values that share their storage when copied, and are safe to read from
// many threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/export.hpp"

namespace tamis {

/// Row and column counts and positions; signed so that differences are safe.
using Index = std::int64_t;

class MappedFile;  // of the library itself: a file that is looked at where it lies

/// The non-zero values of one row, columns strictly ascending.
struct SparseRow {
  std::span<const std::int32_t> columns;
  std::span<const float> values;
};

/// Immutable float32 rows, dense row-major or compressed sparse rows (CSR).
class TAMIS_EXPORT Matrix {
 public:
  Matrix() = default;

  /// Takes values of size rows * cols. Throws InvalidArgument on a size that does not match.
  static Matrix dense(Index rows, Index cols, std::vector<float> values);

  /// A view of memory owned elsewhere, without copying; `owner` is kept alive.
  static Matrix dense_view(Index rows, Index cols, const float* values,
                           std::shared_ptr<const void> owner);

  /// Row i has the entries row_begin[i] .. row_begin[i+1]. Throws DataError unless these
  /// ascend from 0 to the number of values and the columns of each row are strictly ascending in
  /// [0, cols).
  static Matrix sparse(Index cols, std::vector<Index> row_begin, std::vector<std::int32_t> columns,
                       std::vector<float> values);

  /// As sparse(), but without copying. The same checks are made.
  static Matrix sparse_view(Index cols, std::span<const Index> row_begin,
                            std::span<const std::int32_t> columns, std::span<const float> values,
                            std::shared_ptr<const void> owner);
  /// The same for arrays that passed these checks before; `only_ones`: all values are known to
  /// be 1.
  static Matrix checked_sparse_view(Index cols, std::span<const Index> row_begin,
                                    std::span<const std::int32_t> columns,
                                    std::span<const float> values,
                                    std::shared_ptr<const void> owner, bool only_ones = false);

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  bool is_sparse() const { return row_begin_ != nullptr; }
  /// Stored values: rows * cols when dense.
  Index num_stored() const { return is_sparse() ? row_begin_[rows_] : rows_ * cols_; }
  Index size_bytes() const;

  /// Whether the rows lie in a file that is mapped: they take no memory that the system could not
  /// take back, and are read from the disk when they are looked at.
  bool is_mapped() const { return file_ != nullptr; }
  /// Throws DataError if that file was truncated or changed since it was mapped: whatever was made
  /// of the rows meanwhile is worthless.
  void require_intact() const;
  /// Whether a reader has looked at every value and all of them are finite.
  bool is_known_finite() const { return known_finite_; }
  /// Whether all stored values of sparse rows are known to be 1, as those of one-hot columns are.
  bool has_only_ones() const { return only_ones_; }
  /// The same rows as those of a mapped file, which is kept alive.
  Matrix in_file(std::shared_ptr<const MappedFile> file, bool known_finite) const;

  /// Row i of a dense matrix.
  std::span<const float> dense_row(Index i) const {
    return {values_ + i * cols_, static_cast<std::size_t>(cols_)};
  }
  /// Row i of a sparse matrix.
  SparseRow sparse_row(Index i) const {
    const auto begin = row_begin_[i];
    const auto count = static_cast<std::size_t>(row_begin_[i + 1] - begin);
    return {{columns_ + begin, count}, {values_ + begin, count}};
  }
  /// All values of a dense matrix, row after row.
  std::span<const float> dense_values() const {
    return {values_, static_cast<std::size_t>(rows_ * cols_)};
  }

  /// The three arrays of a sparse matrix.
  std::span<const Index> row_offsets() const {
    return {row_begin_, static_cast<std::size_t>(rows_ + 1)};
  }
  std::span<const std::int32_t> sparse_columns() const {
    return {columns_, static_cast<std::size_t>(num_stored())};
  }
  std::span<const float> sparse_values() const {
    return {values_, static_cast<std::size_t>(num_stored())};
  }

  /// Writes row i, zeros included, into out[0 .. cols).
  void copy_row(Index i, std::span<float> out) const;
  /// The value at (i, j); logarithmic in the row's length when sparse.
  float at(Index i, Index j) const;

  /// The given rows, in that order; a row may be named more than once.
  Matrix select(std::span<const Index> rows) const;
  /// Rows [begin, end), without copying values.
  Matrix slice(Index begin, Index end) const;
  /// What messages call row i: its number, from 1, among the rows that slice() took it from.
  Index row_number(Index i) const { return first_row_ + i + 1; }
  /// The same rows with the row numbers of another matrix.
  Matrix numbered_as(const Matrix& other) const;
  Matrix to_dense() const;
  Matrix to_sparse() const;
  /// Sparse rows with other values in the same places, as many as num_stored(); those of this
  /// matrix are kept alive for their places.
  Matrix with_values(const float* values, std::shared_ptr<const void> owner) const;
  /// The same rows with more columns (zeros), or with columns that must hold only zeros cut off.
  Matrix with_cols(Index cols) const;

 private:
  Index rows_ = 0;
  Index cols_ = 0;
  const float* values_ = nullptr;
  const Index* row_begin_ = nullptr;  // null: dense
  const std::int32_t* columns_ = nullptr;
  Index first_row_ = 0;  // of the whole matrix that this is a slice of
  bool known_finite_ = false;
  bool only_ones_ = false;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<const MappedFile> file_;  // null: in memory
};

enum class LabelKind { none, numeric, text };

/// One label per row: numbers (class labels or regression targets) or text.
class TAMIS_EXPORT Labels {
 public:
  Labels() = default;
  static Labels numeric(std::vector<double> values);
  /// A view of numbers owned elsewhere, without copying; `owner` is kept alive. T is double, float
  /// or an integer of 8 to 64 bits; what a double would round must not occur.
  template <typename T>
  static Labels numeric_view(std::span<const T> values, std::shared_ptr<const void> owner);
  static Labels text(const std::vector<std::string>& values);
  /// Text labels as codes into a table of names.
  static Labels text(std::vector<std::int32_t> codes, std::vector<std::string> names);

  LabelKind kind() const { return kind_; }
  Index size() const;
  bool empty() const { return size() == 0; }

  /// Label i of a numeric column.
  double number(Index i) const { return doubles_ != nullptr ? doubles_[i] : stored_number(i); }
  /// Label i as it is written to a file, of either kind: the shortest text that reads back as the
  /// same number.
  std::string name(Index i) const;

  Labels select(std::span<const Index> rows) const;
  /// Those of the rows [begin, end); numbers are not copied.
  Labels slice(Index begin, Index end) const;
  bool operator==(const Labels& other) const;

  /// As Matrix has them.
  bool is_mapped() const { return file_ != nullptr; }
  void require_intact() const;
  Labels in_file(std::shared_ptr<const MappedFile> file) const;

 private:
  double stored_number(Index i) const;

  LabelKind kind_ = LabelKind::none;
  const double* doubles_ = nullptr;  // null: of another type
  const void* stored_ = nullptr;     // the numbers, as they lie
  int stored_type_ = 0;              // which type that is
  Index count_ = 0;                  // of numbers
  std::shared_ptr<const void> owner_;
  std::shared_ptr<const MappedFile> file_;  // null: in memory
  std::shared_ptr<const std::vector<std::int32_t>> codes_;
  std::shared_ptr<const std::vector<std::string>> names_;
};

/// Rows with labels (or none) and weights (or none: every weight is 1).
class TAMIS_EXPORT Dataset {
 public:
  Dataset() = default;
  /// Throws DataError when the counts differ, or a weight is negative or not finite.
  explicit Dataset(Matrix features, Labels labels = {}, std::vector<double> weights = {},
                   std::vector<std::string> feature_names = {});

  const Matrix& features() const { return features_; }
  const Labels& labels() const { return labels_; }
  /// Empty when every row weighs 1.
  std::span<const double> weights() const {
    return weights_ ? std::span<const double>(*weights_) : std::span<const double>();
  }
  double weight(Index i) const { return weights_ ? (*weights_)[static_cast<std::size_t>(i)] : 1.0; }
  /// Empty when the source had no names.
  std::span<const std::string> feature_names() const {
    return names_ ? std::span<const std::string>(*names_) : std::span<const std::string>();
  }
  /// The names of the categories of each text column, whose values are their numbers from 1 (0: any
  /// other, NaN: missing); those of a column of numbers are empty. Empty when there is no text.
  std::span<const std::vector<std::string>> categories() const {
    return categories_ ? std::span<const std::vector<std::string>>(*categories_)
                       : std::span<const std::vector<std::string>>();
  }
  Index rows() const { return features_.rows(); }
  Index cols() const { return features_.cols(); }

  /// Throws DataError if a mapped file of the features or of the labels changed meanwhile.
  void require_intact() const;

  Dataset select(std::span<const Index> rows) const;
  /// Rows [begin, end), without copying features.
  Dataset slice(Index begin, Index end) const;
  /// Names and categories are kept if the number of columns stays the same.
  Dataset with_features(Matrix features) const;
  /// Throws DataError unless there is a list for every column.
  Dataset with_categories(std::vector<std::vector<std::string>> categories) const;

 private:
  Matrix features_;
  Labels labels_;
  std::shared_ptr<const std::vector<double>> weights_;
  std::shared_ptr<const std::vector<std::string>> names_;
  std::shared_ptr<const std::vector<std::vector<std::string>>> categories_;
};

/// Throws DataError naming row and column of the first value that is NaN or infinite.
TAMIS_EXPORT void require_finite(const Matrix& features);

/// The distinct labels in the order a model lists its classes: ascending (numbers by value, words
/// by byte), but for two classes the larger first, so that a positive decision value means the
/// positive class.
TAMIS_EXPORT Labels distinct_classes(const Labels& labels);

/// The position in `classes` of the one that `text` names, or -1. Numbers are compared by value:
/// "+1" and "1.0" name class 1.
TAMIS_EXPORT Index find_class(const Labels& classes, std::string_view text);

/// The position of each label in `classes`, or -1 where it is not among them.
TAMIS_EXPORT std::vector<std::int32_t> encode_labels(const Labels& labels, const Labels& classes);

}  // namespace tamis
