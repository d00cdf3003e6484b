// Making an index for a settled metric.
#pragma once

#include "neighbors/distances.hpp"
#include "neighbors/neighbor_index.hpp"

namespace tamis {

/// Throws InvalidArgument if the structure cannot serve the space; not for `automatic`.
std::unique_ptr<NeighborIndex> make_structure(std::shared_ptr<const Space> space,
                                              Structure structure, const RunControl& control);

/// The structure that answers a few queries for `k` neighbours fastest on a sample of the points.
Structure fastest_structure(const Space& space, const RunControl& control, Index k);

}  // namespace tamis
