// The kernel of tube regression: K(x, x') + y y', where the response is one more coordinate.
// J. Bi, K. P. Bennett, "Duality, geometry, and support vector regression", NIPS 2001.
#pragma once

#include "gram/computed_rows.hpp"

namespace tamis {

class TubeRows : public qp::RowSource {
 public:
  /// Point p is row rows[p] of `data` with response responses[p].
  TubeRows(const Kernel& kernel, const Matrix& data, std::vector<Index> rows,
           std::vector<double> responses, Index cache_bytes, std::function<bool()> interrupted);

  Index size() const override { return rows_.size(); }
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

  const EvaluationCounts& counts() const { return rows_.counts(); }

 private:
  double response(Index point) const { return responses_[static_cast<std::size_t>(point)]; }
  void add_responses(std::span<const Index> points, std::span<const Index> rows,
                     std::span<const double> coefficients, std::span<double> sums) const;

  ComputedRows rows_;
  std::vector<double> responses_;
  std::vector<double> diagonal_;
  std::vector<Index> active_;
};

}  // namespace tamis
