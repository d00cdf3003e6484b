// The kernel matrix of a data set as the solver asks for it: values computed in blocks, rows kept
// in a cache.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/row_vector.hpp"
#include "gram/near_points.hpp"
#include "gram/point_square.hpp"
#include "gram/row_cache.hpp"
#include "kernels/kernel_blocks.hpp"
#include "qp/row_source.hpp"
#include "tamis/group.hpp"

namespace tamis {

struct EvaluationCounts {
  std::int64_t computed = 0;   ///< kernel values
  std::int64_t cached = 0;     ///< kernel values taken from kept rows
  std::int64_t in_blocks = 0;  ///< of the computed ones, those among the points of a block
};

class ComputedRows : public qp::RowSource {
 public:
  /// The points are rows `rows` of `data` (which must outlive this). `interrupted` is asked from
  /// many threads while values are computed; true makes accumulate() give up.
  ComputedRows(const Kernel& kernel, const Matrix& data, std::span<const Index> rows,
               Index cache_bytes, std::function<bool()> interrupted);
  /// The same for this rank's points of a group, all of whose data are alike. `leaves_far_out`: see
  /// has_many_far_pairs(), for the points of all ranks. `distance_by`, `control`: see KernelBlocks;
  /// the latter must outlive this. Numbers of the points lie in the store of `rows`.
  ComputedRows(Group& group, const Kernel& kernel, const Matrix& data, RowVector<Index> rows,
               Index cache_bytes, bool leaves_far_out, DistanceBy distance_by,
               std::function<bool()> interrupted, const RunControl* control = nullptr);

  Index size() const override { return static_cast<Index>(rows_.size()); }
  std::span<const double> diagonal() const override { return diagonal_; }
  /// On several ranks, the named rows become guests: numbers from size() on, until the next call.
  std::vector<Index> bring(std::span<const qp::PointName> points) override;
  void square(std::span<const Index> points, float* block, Index stride) override {
    rest_of_square(points, 0, block, stride);
  }
  void rest_of_square(std::span<const Index> points, Index known, float* block,
                      Index stride) override;
  void rest_of_square_together(std::span<const Index> points, Index known, float* block,
                               Index stride) override;
  bool begin_block(std::span<const Index> points) override;
  void block_row(Index r, float* values) const override;
  void end_block(Index rows_used) override;
  bool precise_square(std::span<const Index> points, float* block, float* rest,
                      Index stride) override;
  bool precise_rows(std::span<const Index> points, double* values) override;
  void set_active(std::span<const Index> points) override;
  bool accumulate(std::span<const Index> rows, std::span<const double> coefficients,
                  std::span<double> sums) override;
  bool accumulate_at(std::span<const Index> points, std::span<const Index> rows,
                     std::span<const double> coefficients, std::span<double> sums) override;

  const EvaluationCounts& counts() const { return counts_; }

  // Values that are computed faster than this are not kept: to store them, and to move them
  // whenever points are set aside, takes as long (measured with 8, 22 and 123 columns: training is
  // 8 to 30 % faster without).
  static constexpr double kWorthKeepingSeconds = 4e-9;
  /// Seconds a kernel value takes one thread, as measured by the first set_active(); for tests.
  double value_seconds() const { return value_seconds_; }

 private:
  // A row asked for: where it is kept, if it is, and how much of it.
  struct Request {
    Index point = 0;
    double coefficient = 0;
    float* kept = nullptr;
    Index covered = 0;
  };

  void count_in_block(Index values);
  PointSquare square_of(std::span<const Index> points) const;
  /// Where the rows of these points lie: all in data_, or all among the guests.
  const Matrix& rows_matrix(std::span<const Index> points) const;
  std::vector<Index> data_rows(std::span<const Index> points) const;
  RowStore store() const { return rows_.get_allocator().store(); }
  Index data_row(Index point) const;
  bool has_norms() const { return needs_norms(kernel_, data_, distance_by_); }
  float norm(Index point) const;
  /// Some points of accumulate_at(), ready for rows.
  struct Piece {
    std::vector<Index> rows;
    KernelBlocks blocks;
    std::optional<NearPoints> near;
  };
  const Piece& piece_of(std::span<const Index> points);
  /// The number of a point's row in the cache.
  Index cached_row(Index point) const;
  /// Of these points; empty where evaluate() needs none.
  std::vector<float> norms_of(std::span<const Index> points) const;
  /// Gives guests their numbers in the cache.
  void number_for_cache(std::span<const qp::PointName> guests);
  void make_cache();
  double measure_value_seconds() const;
  std::vector<Request> look_up(std::span<const Index> rows, std::span<const double> coefficients);
  bool add_linear(std::span<const Index> points, std::span<const Index> rows,
                  std::span<const double> coefficients, std::span<double> sums);
  /// sums += requested rows over the points of `blocks`; fills the kept rows.
  bool add_requests(const KernelBlocks& blocks, const Matrix& rows_from,
                    std::span<const Request> requests, std::span<double> sums);
  void add_strip(const KernelBlocks& blocks, const Matrix& rows_from,
                 std::span<const Request> requests, Index begin, Index end, double* sums) const;
  /// The same with nothing kept, and without the points that are out of a row's reach.
  bool add_near(const KernelBlocks& blocks, const NearPoints& near, std::span<const Index> asked,
                std::span<const double> coefficients, std::span<double> sums);
  /// `rows`: where the rows asked for lie.
  Index add_reaching(const KernelBlocks& blocks, std::span<const Index> asked,
                     std::span<const Index> rows, const ReachingRows& reaching,
                     std::span<const double> coefficients, Index first_point,
                     std::span<double> sums) const;

  Group& group_;
  const RunControl* control_;  // null: active points are packed in memory
  const Kernel kernel_;
  const Matrix& data_;
  RowVector<Index> rows_;
  RowVector<double> diagonal_;
  const DistanceBy distance_by_;
  RowVector<float> norms_;  // for evaluate(); empty: it needs none
  std::function<bool()> interrupted_;
  Index cache_bytes_;
  const bool leaves_far_out_;
  RowVector<Index> active_;
  std::optional<KernelBlocks> active_blocks_;
  std::optional<PointSquare> square_;  // of the last begin_block()
  std::optional<NearPoints> near_;  // of the active points; none: the kernel reaches most of them
  std::optional<Piece> piece_;      // the last one, until the active points get their turn
  std::optional<RowCache> cache_;
  RowVector<std::uint8_t> times_asked_;  // by number in the cache; saturating
  Matrix guests_;                        // rows of points of any rank
  std::unordered_map<std::uint64_t, Index> guest_of_name_;
  std::vector<float> guest_norms_;
  std::vector<Index> guest_cached_rows_;              // their numbers in the cache
  std::unordered_map<std::uint64_t, Index> foreign_;  // the same of all that were ever guests
  double value_seconds_ = 0;
  EvaluationCounts counts_;
};

}  // namespace tamis
