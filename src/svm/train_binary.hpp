// One machine - two classes or a regression - at the optimum of its problem, by the solver of
// src/qp.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "qp/solver.hpp"
#include "svm/binary_task.hpp"
#include "tamis/kernel.hpp"
#include "tamis/options.hpp"

namespace tamis {

struct BinarySettings {
  Kernel kernel;
  Task task = Task::classification;
  SlackLoss loss = SlackLoss::l1;
  double tube = 0;  ///< regression only
  qp::Limits limits;
  Index cache_bytes = 0;
  std::uint64_t seed = 0;
  /// Whether values of far pairs of rows are left out (gram/near_points.hpp); not set: found out
  /// from the rows.
  std::optional<bool> leaves_far_out;
  /// Keeps the state of large problems in RunControl::checkpoint, if there is one, under this name;
  /// empty: does not. Needs the keys of the task.
  std::string checkpoint_name;
};

/// Trains one machine on the rows of `task`. `cost` is C of every row of `features`. `start`, when
/// given, is a machine of a similar problem to begin from: coefficients of other rows are left out,
/// and the rest made feasible.
BinaryResult train_binary(const Matrix& features, std::span<const double> cost,
                          const BinaryTask& task, const TrainedMachine* start,
                          const BinarySettings& settings, const RunControl& control,
                          const qp::StatusCallback& on_status);

/// The same with the rows of `task` spread over the ranks of control.group, which all have the same
/// settings, with leaves_far_out set. The result holds what belongs to this rank's rows; offset and
/// stats are those of all. task.keys must be there.
BinaryResult train_binary_together(const Matrix& features, std::span<const double> cost,
                                   const BinaryTask& task, const BinarySettings& settings,
                                   const RunControl& control, const qp::StatusCallback& on_status);

/// The same, with kernel values from a source that somebody else keeps; its points are the rows of
/// `task` in their order. `start_sums`, unless empty, are the sums of a result
/// with the machine `start` and the same rows. Counts of kernel values are left at 0.
BinaryResult train_binary(qp::RowSource& source, std::span<const double> cost,
                          const BinaryTask& task, const TrainedMachine* start,
                          std::span<const double> start_sums, const BinarySettings& settings,
                          const RunControl& control);

/// Bytes that training on `rows` rows needs on top of data and cache: the packed rows and numbers
/// for each row (state). Both may lie in scratch files, the second by the RowStore of the task;
/// then the least is what must fit into memory.
Index binary_work_bytes(const Matrix& features, Index rows);
Index binary_state_bytes(Index rows);
Index binary_least_bytes(const Matrix& features, Index rows, bool keeps_state);

}  // namespace tamis
