// One cell trained alone: here, or from bytes on a worker (tamis/tasks.hpp).
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "methods/local/cell_training.hpp"
#include "training/cell_results.hpp"

namespace tamis {

struct CellTask {
  TrainingSet set;  ///< own rows, then those of the halo
  Index own = 0;
  std::vector<Index> halo_positions;
  std::optional<CellBox> box = {};                           ///< none: there is one cell
  double seconds = std::numeric_limits<double>::infinity();  ///< that it may take
};

/// Within its time: what came of it says whether that was enough (`is_whole`).
FinishedCell train_cell_task(const Method& method, const CellTask& task,
                             const TrainOptions& options, const RunControl& control);
/// Not cut short by a limit of time or by cancelling.
bool is_whole(const FinishedCell& cell);

/// Whether run_cell_task() is for it.
bool is_cell_task(std::string_view task);
std::string cell_task_to_bytes(const CellTask& task);
/// Shared by the tasks of all cells. `kernel` and the number of classes are those of their sets.
std::string cell_options_to_bytes(const TrainOptions& options, const Kernel& kernel,
                                  Index num_classes);
/// train_cell_task() on both. Throws DataError.
std::string run_cell_task(std::string_view task, std::string_view shared);
/// What an answer must go with.
struct CellShape {
  Index rows = 0;      ///< of the cell, halo included
  Index all_rows = 0;  ///< of all cells, without halos
  Index cols = 0;
  Index num_classes = 0;
  bool is_sparse = false;
};
/// Throws DataError.
FinishedCell cell_from_answer(std::string_view answer, const CellShape& shape);

}  // namespace tamis
