// Which points the next block works on.
#pragma once

#include <algorithm>
#include <vector>

#include "qp/active_set.hpp"
#include "qp/top.hpp"

namespace tamis::qp {

/// What one pass over the active points of this rank finds, by place.
struct Candidates {
  std::vector<Ranked> rising;   ///< those that should rise most, in order
  std::vector<Ranked> falling;  ///< those that should fall most
  Index hopeless = 0;           ///< points that shrinking would set aside
};

/// Chooses blocks: half of each is what violates most now, the other half the newest points of the
/// block before, because coefficients that just moved are the likeliest to move again.
class WorkingSetChooser {
 public:
  explicit WorkingSetChooser(Index block_size) : block_size_(block_size) {}

  Candidates find_candidates(const ActiveSet& active, const Problem& problem,
                             const Violation& violation) const;

  /// The points of the next block, the same on every rank; never empty while the candidates are of
  /// a violation with a gap above 0.
  std::vector<PointName> choose(const ActiveSet& active, const Candidates& candidates);

  /// The keys of the points that entered with the last block, on all ranks; and back.
  std::vector<std::uint64_t> newest(const ActiveSet& active, const Problem& problem) const;
  void set_newest(std::span<const std::uint64_t> keys, const ActiveSet& active,
                  const Problem& problem);

 private:
  Index fresh() const { return std::max<Index>(2, block_size_ / 2); }

  void drop_inactive(const ActiveSet& active);

  Index block_size_;
  std::vector<PointName> newest_;  // points that entered with the last block
  int times_rested_ = 0;           // of the active set, when they entered
};

}  // namespace tamis::qp
