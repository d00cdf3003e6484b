// Training the machine of a neighbourhood: what the FaLK methods do for each centre, and k-NN SVM
// for each query.
#pragma once

#include <span>
#include <vector>

#include "model/binary_machine.hpp"

namespace tamis {

/// A machine for two of the classes of a neighbourhood, or for a regression (classes 0 and 1).
struct LocalPair {
  std::int32_t first = 0;  ///< favoured by positive values
  std::int32_t second = 1;
  TrainedMachine machine;
};

struct LocalMachine {
  /// The only class of the neighbourhood, which then has no pairs; else -1.
  std::int32_t only_class = -1;
  std::vector<LocalPair> pairs;  ///< (a, b), a < b, ascending, of the classes that occur
  MachineStats stats;            ///< summed over the pairs
};

/// The labelled rows local machines are trained on. Spans must outlive it.
struct LocalRows {
  const Matrix& features;
  std::span<const std::int32_t> codes;  ///< class positions; empty for a regression
  std::span<const double> targets;      ///< of a regression
  std::span<const double> cost;         ///< C of each row
  /// hash_rows(features), for who trains many machines; empty: made for each machine's rows.
  std::span<const std::uint64_t> hashes;
};

/// Trains on some rows, given in ascending order. A neighbourhood of one class becomes a constant;
/// several classes get a machine for each pair.
LocalMachine train_local(const LocalRows& data, std::span<const Index> rows,
                         const BinarySettings& settings, const RunControl& control);

/// The class with the largest cost among the rows; ties: the lowest.
std::int32_t majority_class(const LocalRows& data, std::span<const Index> rows);

}  // namespace tamis
