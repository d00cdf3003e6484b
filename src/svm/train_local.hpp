// Training the machine of a neighbourhood: what the FaLK methods do for each centre, and k-NN SVM
// for each query.
#pragma once

#include <span>
#include <vector>

#include "model/local_machine.hpp"
#include "svm/train_binary.hpp"

namespace tamis {

struct LocalResult {
  LocalMachine machine;
  MachineStats stats;  ///< summed over the pairs
};

/// Trains on some rows, given in ascending order. A neighborhood of one class becomes a constant;
/// several classes get an SVM for each pair.
LocalResult train_local(const LocalRows& data, std::span<const Index> rows,
                        const BinarySettings& settings, const RunControl& control);

/// The LocalTrainer of k-NN SVM: bounded in memory and pair updates, so that no model file can make
/// a query endless.
LocalMachine train_for_query(const LocalRows& data, std::span<const Index> rows,
                             const Kernel& kernel, const LazySettings& settings,
                             const RunControl& control);

/// The class with the largest cost among the rows; ties: the lowest.
std::int32_t majority_class(const LocalRows& data, std::span<const Index> rows);

}  // namespace tamis
