// Kernel rows kept between uses, least recently used out first.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tamis/dataset.hpp"

namespace tamis {

/// Rows of floats in a fixed budget of memory, which is touched only as rows come in. A row covers
/// a prefix of the columns: columns appended later (grow) are missing until somebody fills them.
///
/// Invariants: slot s holds row owner_[s] (-1: free) with valid columns [0, covered_[s]);
/// slot_of_[owner_[s]] == s.
class RowCache {
 public:
  /// Rows are named 0 .. num_rows - 1 and have `columns` columns.
  RowCache(Index num_rows, Index columns, Index budget_bytes);

  Index num_slots() const { return static_cast<Index>(owner_.size()); }
  Index columns() const { return columns_; }

  /// Where the row is and how many of its columns are there; null if it is not kept.
  float* find(Index row, Index* covered);
  /// A place for the row with no valid columns; may push out the least recently used row that is
  /// not `pinned` (used since the last call of begin_round). Null when every slot is pinned.
  float* insert(Index row);
  void set_covered(Index row, Index columns);
  /// Rows found or inserted from now on stay until the next round.
  void begin_round() { round_start_ = clock_; }

  /// The columns become old columns `kept` (ascending), followed by `added` new ones.
  void remap(std::span<const Index> kept, Index added);

 private:
  float* slot(Index s) const { return values_.get() + s * stride_; }
  void set_stride(Index stride);

  Index columns_;
  Index stride_;           // floats from slot to slot
  Index capacity_floats_;  // of values_
  std::unique_ptr<float[], std::function<void(float*)>> values_;
  std::vector<Index> slot_of_;
  std::vector<Index> owner_;
  std::vector<Index> covered_;
  std::vector<std::int64_t> last_use_;
  std::int64_t clock_ = 0;
  std::int64_t round_start_ = 0;
};

}  // namespace tamis
