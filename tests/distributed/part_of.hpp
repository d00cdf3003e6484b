// The rows of one data set for each rank of a group.
#pragma once

#include <numeric>

#include "base/checked.hpp"
#include "tamis/dataset.hpp"
#include "tamis/group.hpp"

namespace tamis::testing {

// Rank r gets the rows that follow those of the ranks before; the parts are of unequal size.
inline Dataset part_of(const Dataset& data, const Group& group) {
  const auto begin = [&](Index r) {
    return data.rows() * r * (r + 1) / (Index{group.size()} * (group.size() + 1));
  };
  std::vector<Index> rows(usize(begin(group.rank() + 1) - begin(group.rank())));
  std::iota(rows.begin(), rows.end(), begin(group.rank()));
  return data.select(rows);
}

}  // namespace tamis::testing
