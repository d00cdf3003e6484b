// The nearest anchor of each query, for local models of any number of anchors.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "base/shared_array.hpp"
#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/kernel.hpp"

namespace tamis {

class NeighborIndex;

/// Many anchors are searched in parts of consecutive ones, each with an index of its own that is
/// made when a query needs it, and kept while memory allows. A part is passed over by queries
/// that are farther from the box around it than from what they have found: where near anchors
/// have near numbers, as those of a training in cells, few parts are looked at. Safe from many
/// threads.
class AnchorSearch {
 public:
  /// `anchors` are row numbers; empty: every row is one. At most `whole` anchors have one index,
  /// and more parts of `part` anchors. Rows held sparse, and kernels whose neighbors are not
  /// Euclidean, always have one.
  AnchorSearch(const Matrix& rows, const SharedArray<Index>& anchors, const Kernel& kernel,
               Index whole = Index{4} << 20, Index part = Index{1} << 20);
  ~AnchorSearch();
  AnchorSearch(const AnchorSearch&) = delete;
  AnchorSearch& operator=(const AnchorSearch&) = delete;

  /// Number of the nearest anchor of each query; ties: the lowest. Throws DataError for rows that
  /// are not finite, ResourceError, Cancelled.
  std::vector<Index> nearest(const Matrix& queries, const RunControl& control) const;

 private:
  struct Part {
    Index begin = 0;  // anchors [begin, end)
    Index end = 0;
    std::vector<float> lower;  // the box around them, once it is known
    std::vector<float> upper;
    Matrix rows;
    std::unique_ptr<NeighborIndex> index;  // null: not made, or dropped
  };
  struct Found;

  Matrix rows_of(const Part& part) const;
  void set_boxes() const;
  const NeighborIndex& index_of(Part& part, const RunControl& control) const;
  std::vector<Index> nearest_of_parts(const Matrix& queries, const RunControl& control) const;
  void search_part(Part& part, const Matrix& queries, const std::vector<Index>& which,
                   const RunControl& control, Found* found) const;

  Matrix rows_;
  SharedArray<Index> anchors_;
  Kernel kernel_;
  mutable std::mutex mutex_;
  mutable bool is_checked_ = false;
  mutable std::vector<Part> parts_;
};

}  // namespace tamis
