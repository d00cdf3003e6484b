// The most urgent points of all ranks, whoever has them.
#pragma once

#include <cstdint>

#include "base/row_vector.hpp"
#include "tamis/dataset.hpp"
#include "tamis/group.hpp"

namespace tamis::qp {

/// Ordered by value, the largest first, and by key among equals.
struct Ranked {
  double value = 0;  ///< above 0
  std::uint64_t key = 0;
  Index index = 0;  ///< whatever the caller wants to find again
  bool operator<(const Ranked& other) const {
    return value != other.value ? value > other.value : key < other.key;
  }
};

/// Leaves of the lists of all ranks the `count` that come first; returns those of this rank that
/// were dropped. Nothing but counts is exchanged, however long the lists.
RowVector<Ranked> drop_all_but_top(Group& group, Index count, RowVector<Ranked>* mine);

}  // namespace tamis::qp
