// Which way the kernel values of one machine are computed.
#pragma once

#include <span>

#include "kernels/kernel_blocks.hpp"
#include "qp/problem.hpp"
#include "tamis/group.hpp"
#include "tamis/kernel.hpp"

namespace tamis {

/// By products where that is faster and its rounding does not show next to the tolerance `eps`. The
/// points of `problem` are rows `rows` of `features`, on each rank its own; ranks agree.
DistanceBy choose_distances(const Kernel& kernel, const Matrix& features,
                            std::span<const Index> rows, const qp::Problem& problem, double eps,
                            Group& group);

}  // namespace tamis
