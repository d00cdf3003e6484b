// Neighborhoods that cover the training rows (Segata and Blanzieri 2010, section 4.1).
#pragma once

#include <functional>
#include <memory>
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
                                            ///< rank (eq. 14); ties: the first chosen; -1: none has
                                            ///< it, cancelled too early

  Index size() const { return static_cast<Index>(centres.size()); }
  std::span<const Index> rows_of(Index centre) const {
    return {rows.data() + centre * k, static_cast<std::size_t>(k)};
  }
};

/// Goes through the rows of `features`, which `index` is over, from coarse to fine and takes each
/// one that no centre covers yet. Copies of a row are covered together. 1 <= k' <= k <= rows.
class CoverSearch {
 public:
  /// Only the first `own` rows are covered and become centres (0: all); the others are neighbours.
  /// Index and features must outlive this.
  CoverSearch(const NeighborIndex& index, const Matrix& features, Index k, Index k_prime,
              const RunControl& control, Index own = 0);
  ~CoverSearch();
  CoverSearch(const CoverSearch&) = delete;
  CoverSearch& operator=(const CoverSearch&) = delete;

  /// Goes on until all rows are covered, `pause` says so, or it is cancelled, after which it must
  /// not be called again. A pause does not show in the result.
  void advance(const std::function<bool()>& pause = [] { return false; });
  bool is_complete() const;
  /// So far: spread over the data.
  const Neighborhoods& found() const;

 private:
  class Cover;
  std::unique_ptr<Cover> cover_;
};

/// The whole search at once. Cancelled, it returns the centres it has, perhaps none.
Neighborhoods cover_rows(const NeighborIndex& index, const Matrix& features, Index k, Index k_prime,
                         const RunControl& control);

}  // namespace tamis
