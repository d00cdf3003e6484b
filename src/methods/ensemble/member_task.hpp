// One member of an ensemble, trained and scored away from the ensemble: everything it needs as
// bytes, and what came of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "svm/train_binary.hpp"
#include "tamis/control.hpp"

namespace tamis {

struct MemberTask {
  Matrix features;
  std::vector<double> cost;     ///< of each row
  std::vector<double> targets;  ///< +1 or -1
  BinarySettings settings;      ///< of two classes
};

struct MemberResult {
  BinaryResult trained;        ///< rows are those of the task; without sums
  std::vector<double> values;  ///< decision values of the rows to score; empty: it was cut short
};

/// Trains on the rows, and computes the values of `scored` unless the training was cut short.
MemberResult train_member(const MemberTask& task, const Matrix& scored, const RunControl& control);

std::string member_task_to_bytes(const MemberTask& task);
std::string rows_to_bytes(const Matrix& rows);
/// train_member() on the bytes of a task and of the rows to score. Throws DataError.
std::string run_member_task(std::string_view task, std::string_view scored);
/// The answer to a task with these numbers of training and scored rows. Throws DataError.
MemberResult member_result_from_bytes(std::string_view bytes, Index task_rows, Index scored_rows);

}  // namespace tamis
