// Kernel rows kept between uses, least recently used out first.
#pragma once

#include <list>
#include <span>
#include <vector>

#include "base/page_memory.hpp"
#include "base/row_vector.hpp"
#include "tamis/dataset.hpp"

namespace tamis {

/// Rows of floats in a fixed budget of memory, which is touched only as rows come in. A row covers
/// a prefix of the columns: columns appended later are missing until somebody fills them.
///
/// Invariants: slot s < used_ holds row owner_[s] (-1: none) with valid columns [0, covered_[s]);
/// slot_of_[owner_[s]] == s. Slots are linked from the most to the least recently used; slots from
/// used_ on were never touched since the stride last changed.
class RowCache {
 public:
  /// Rows are named 0 .. num_rows - 1 and have `columns` columns.
  RowCache(Index num_rows, Index columns, Index budget_bytes, const RowStore& store = {});

  Index columns() const { return columns_; }
  /// One more row that can be asked for, with the next number.
  void add_row() { slot_of_.push_back(-1); }

  /// Where the row is and how many of its columns are there; null if it is not kept.
  float* find(Index row, Index* covered);
  /// A place for the row with no valid columns, or null. Takes a fresh slot if that needs no fresh
  /// memory or `may_grow`; otherwise pushes out the least recently used row, unless that was found
  /// or inserted since begin_round(), or the cache is too small to hold rows from one round to the
  /// next.
  float* insert(Index row, bool may_grow);
  /// Seconds of one thread that a float of fresh memory has cost so far.
  double fresh_seconds() const { return fresh_seconds_; }
  void set_covered(Index row, Index columns);
  void begin_round(Index rows) {
    round_start_ = clock_;
    round_rows_ = rows;
  }

  /// The columns become old columns `kept` (ascending), followed by `added` new ones.
  void remap(std::span<const Index> kept, Index added);

 private:
  float* slot(Index s) const { return values_.get() + s * stride_; }
  void set_stride(Index stride);
  void touch_more(Index floats);
  void touch(Index s);

  Index columns_;
  Index stride_;              // floats from slot to slot
  Index capacity_floats_;     // of values_
  Index touched_floats_ = 0;  // of values_ from its beginning: using them again costs nothing
  double fresh_seconds_ = 0;
  PageFloats values_;
  RowVector<Index> slot_of_;
  Index used_ = 0;
  std::vector<Index> owner_;
  std::vector<Index> covered_;
  std::vector<std::int64_t> last_use_;
  std::list<Index> recent_;  // slots, most recently used first
  std::vector<std::list<Index>::iterator> position_;
  std::int64_t clock_ = 0;
  std::int64_t round_start_ = 0;
  Index round_rows_ = 0;
};

}  // namespace tamis
