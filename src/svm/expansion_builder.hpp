// From what a trainer has - rows of its data with a coefficient each - to a KernelExpansion.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/kernel_expansion.hpp"
#include "model/local_machine.hpp"
#include "tamis/control.hpp"

namespace tamis {

/// The rows some machine uses, each once, in the order make_expansion() keeps them.
std::vector<Index> expansion_rows(Index num_rows, std::span<const TrainedMachine> machines,
                                  Decision decision,
                                  std::span<const std::int32_t> class_of_row = {});

/// Stores every row that some machine uses once. `single` and `one_vs_rest` keep the rows in
/// ascending order. `one_vs_one` needs the class position of each training row, groups the rows by
/// class, and takes the machines of the pairs (0,1), (0,2) .. (1,2) .., where y is +1 in the first
/// class of the pair and rows belong to one of the two. Throws InvalidArgument when that is not so.
/// With `control`, the support vectors lie in a scratch file where its budget leaves no room for
/// them (ResourceError where there is no disk space either).
std::shared_ptr<const KernelExpansion> make_expansion(
    const Kernel& kernel, const Matrix& features, std::span<const TrainedMachine> machines,
    Decision decision, std::span<const std::int32_t> class_of_row = {}, Index num_classes = 0,
    const RunControl* control = nullptr);

}  // namespace tamis
