// Which points the next block works on.
#pragma once

#include <vector>

#include "qp/active_set.hpp"

namespace tamis::qp {

/// Chooses blocks: half of each is what violates most now, the other half the newest points of the
/// block before, because coefficients that just moved are the likeliest to move again.
class WorkingSetChooser {
 public:
  explicit WorkingSetChooser(Index block_size) : block_size_(block_size) {}

  /// The points of the next block, the same on every rank; never empty while violation.gap > 0.
  std::vector<PointName> choose(const ActiveSet& active, const Problem& problem,
                                const Violation& violation);

  /// The keys of the points that entered with the last block, on all ranks; and back.
  std::vector<std::uint64_t> newest(const ActiveSet& active, const Problem& problem) const;
  void set_newest(std::span<const std::uint64_t> keys, const ActiveSet& active,
                  const Problem& problem);

 private:
  Index block_size_;
  std::vector<PointName> newest_;  // points that entered with the last block
};

}  // namespace tamis::qp
