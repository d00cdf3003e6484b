// What a first reading of a file tells, block by block, for those who cannot hold it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "svm/training_set.hpp"
#include "tamis/io.hpp"

namespace tamis {

class FileSurvey {
 public:
  /// Draws a uniform sample of up to `most_sampled` rows, fewer if they are large.
  FileSurvey(Index most_sampled, const Random& random)
      : most_sampled_(most_sampled), random_(random) {}

  /// Throws DataError for a block without labels, or with another kind of labels than those before.
  void add(const Dataset& block);

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  /// As a model lists them.
  Labels classes() const;
  /// Rows of each class.
  std::vector<Index> class_rows() const;
  /// 1 / (features * variance of all values).
  double scale_gamma() const;
  /// Whether rows are to be held dense.
  bool is_dense() const;
  /// Features and classes of the sample, at a cost of 1 each; the kernel is left to the caller.
  /// The survey does not have them any more.
  TrainingSet take_sample();

 private:
  void add_to_sample(const Matrix& features, std::span<const Index> slots);
  void thin_sample();

  Index most_sampled_;
  Random random_;
  Index rows_ = 0;
  Index cols_ = 0;
  Index stored_ = 0;  // values that are not zero
  double sum_ = 0;
  double squares_ = 0;
  LabelKind kind_ = LabelKind::none;
  std::map<std::string, Index> slot_of_;  // classes in the order they appear
  std::vector<double> numbers_;           // by slot, where labels are numbers
  std::vector<Index> slot_rows_;
  // The sample: the rows with the smallest of the random numbers given to all. It grows to twice
  // its size before it is cut back.
  std::vector<Matrix> sample_;  // blocks of rows
  Index sample_bytes_ = 0;
  std::vector<double> keys_;
  std::vector<Index> sample_slots_;
  double largest_key_ = 1;
};

}  // namespace tamis
