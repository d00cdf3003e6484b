// The features of the points that random sampling draws from, on one rank or on many.
#pragma once

#include <span>
#include <vector>

#include "methods/common/all_rows.hpp"
#include "model/kernel_expansion.hpp"

namespace tamis {

/// Rows of a matrix, by number.
struct ChosenRows {
  Matrix features;
  std::vector<Index> rows;
};

class PointRows {
 public:
  virtual ~PointRows() = default;
  virtual Index count() const = 0;
  virtual ChosenRows choose(std::span<const Index> rows) const = 0;
  /// The values of an expansion with one SVM for every row. Throws Cancelled.
  virtual void values(const KernelExpansion& expansion, bool in_double, std::span<double> values,
                      const RunControl& control) const = 0;
  /// The largest K(x, x).
  virtual double largest_diagonal(const Kernel& kernel) const = 0;
};

/// All of them here.
class LocalPointRows : public PointRows {
 public:
  explicit LocalPointRows(Matrix features) : features_(std::move(features)) {}
  Index count() const override { return features_.rows(); }
  ChosenRows choose(std::span<const Index> rows) const override {
    return {features_, {rows.begin(), rows.end()}};
  }
  void values(const KernelExpansion& expansion, bool in_double, std::span<double> values,
              const RunControl& control) const override;
  double largest_diagonal(const Kernel& kernel) const override;

 private:
  Matrix features_;
};

/// What the ranks do for SpreadPointRows. Every rank makes one.
class PointWork {
 public:
  /// `context` has no group. Both must outlive it.
  PointWork(const AllRows& rows, const TrainContext& context);

 private:
  friend class SpreadPointRows;
  /// This rank's rows of some classes (none named: of all).
  const Matrix& rows_of(const std::vector<std::int32_t>& classes);
  Group::Message values(std::span<const std::byte> request);

  const AllRows& rows_;
  const TrainContext& context_;
  int values_ = 0;
  int diagonal_ = 0;
  std::vector<std::int32_t> classes_;  // those of part_
  Matrix part_;
};

/// The rows of one binary problem where they are; every pass over them runs on all ranks. On the
/// first rank.
class SpreadPointRows : public PointRows {
 public:
  /// `task_rows`: ascending numbers among all rows; `classes`: which these have, none: all rows.
  SpreadPointRows(const AllRows& rows, const PointWork& work, RowVector<Index> task_rows,
                  std::vector<std::int32_t> classes)
      : rows_(rows), work_(work), task_rows_(std::move(task_rows)), classes_(std::move(classes)) {}
  Index count() const override { return std::ssize(task_rows_); }
  ChosenRows choose(std::span<const Index> rows) const override;
  void values(const KernelExpansion& expansion, bool in_double, std::span<double> values,
              const RunControl& control) const override;
  double largest_diagonal(const Kernel& kernel) const override;

 private:
  const AllRows& rows_;
  const PointWork& work_;
  RowVector<Index> task_rows_;
  std::vector<std::int32_t> classes_;
};

}  // namespace tamis
