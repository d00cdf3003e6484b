// A kernel matrix that is kept whole, and parts of it as the solver asks for them: for many
// problems on the same rows.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "qp/row_source.hpp"
#include "tamis/kernel.hpp"

namespace tamis {

/// A square of values over all rows of a data set; float32. Copies share the values.
class StoredMatrix {
 public:
  /// Asked now and then; Cancelled is thrown when it says yes. Empty: never.
  using MustStop = std::function<bool()>;

  /// What the kernel is made of, for any of its parameters (see KernelBlocks::unfinished). On all
  /// threads of the caller's arena.
  static StoredMatrix unfinished(KernelType type, const Matrix& features,
                                 const MustStop& must_stop = {});
  /// Kernel values from those. On the calling thread alone.
  StoredMatrix finished(const Kernel& kernel, const MustStop& must_stop = {}) const;
  /// What storing so many rows takes.
  static Index size_bytes(Index rows);

  Index rows() const { return rows_; }
  const float* row(Index i) const { return values_.get() + i * stride_; }

 private:
  explicit StoredMatrix(Index rows);

  Index rows_;
  Index stride_;
  std::shared_ptr<float[]> values_;
};

/// Some rows of a StoredMatrix as the points of a problem. The rounding of its values to float32 is
/// part of the problem: precise_square() finds no rest. Works on the calling thread alone.
class StoredRows : public qp::RowSource {
 public:
  StoredRows(StoredMatrix matrix, std::vector<Index> rows);

  Index size() const override { return static_cast<Index>(rows_.size()); }
  std::span<const double> diagonal() const override { return diagonal_; }
  void square(std::span<const Index> points, float* block, Index stride) override;
  bool precise_square(std::span<const Index> points, float* block, float* rest,
                      Index stride) override;
  bool precise_rows(std::span<const Index> points, double* values) override;
  void set_active(std::span<const Index> points) override;
  bool accumulate(std::span<const Index> rows, std::span<const double> coefficients,
                  std::span<double> sums) override;
  bool accumulate_at(std::span<const Index> points, std::span<const Index> rows,
                     std::span<const double> coefficients, std::span<double> sums) override;

 private:
  void add(std::span<const Index> columns, std::span<const Index> rows,
           std::span<const double> coefficients, std::span<double> sums);

  StoredMatrix matrix_;
  std::vector<Index> rows_;
  std::vector<double> diagonal_;
  std::vector<Index> active_columns_;
  std::vector<double> all_sums_;  // work space
};

}  // namespace tamis
