// Neighborhoods that cover the training rows (Segata and Blanzieri 2010, section 4.1).
#pragma once

#include <span>
#include <vector>

#include "neighbors/neighbor_index.hpp"

namespace tamis {

/// The k nearest rows of each centre, such that every row is among the k' nearest of some centre.
struct Neighborhoods {
  Index k = 0;
  std::vector<Index> centres;               ///< in the order they were chosen
  std::vector<Index> rows;                  ///< k for each centre, nearest first
  std::vector<std::int32_t> centre_of_row;  ///< number of the centre that has the row at the lowest
                                            ///< rank (eq. 14); ties: the first chosen

  Index size() const { return static_cast<Index>(centres.size()); }
  std::span<const Index> rows_of(Index centre) const {
    return {rows.data() + centre * k, static_cast<std::size_t>(k)};
  }
};

/// Goes through the rows of `features`, which `index` is over, from coarse to fine and takes each
/// one that no centre covers yet. Copies of a row are covered together. 1 <= k' <= k <= rows.
/// Throws Cancelled.
Neighborhoods cover_rows(const NeighborIndex& index, const Matrix& features, Index k, Index k_prime,
                         const RunControl& control);

}  // namespace tamis
