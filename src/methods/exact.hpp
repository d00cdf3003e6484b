// The exact machine: the optimum of the full problem, by the solver of src/qp.
#pragma once

#include <span>

#include "model/binary_task.hpp"
#include "qp/solver.hpp"
#include "tamis/kernel.hpp"
#include "tamis/options.hpp"

namespace tamis {

struct ExactSettings {
  Kernel kernel;
  Task task = Task::classification;
  SlackLoss loss = SlackLoss::l1;
  double tube = 0;  ///< regression only
  qp::Limits limits;
  Index cache_bytes = 0;
  std::uint64_t seed = 0;
};

/// Trains one machine on the rows of `task`. `cost` is C of every row of `features`.
BinaryResult train_exact(const Matrix& features, std::span<const double> cost,
                         const BinaryTask& task, const ExactSettings& settings,
                         const RunControl& control, const qp::StatusCallback& on_status);

/// Bytes that training on `rows` rows needs beside the data and the cache.
Index exact_work_bytes(const Matrix& features, Index rows);

}  // namespace tamis
