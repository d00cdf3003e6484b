// Local SVMs of one cell (cell_plan.hpp). The local SVMs of all cells, one after the other, are the
// model.
#pragma once

#include <vector>

#include "methods/common/method.hpp"
#include "methods/local/cell_plan.hpp"
#include "model/local_models.hpp"

namespace tamis {

struct CellRows {
  const TrainingSet& set;        ///< own rows, then those of the halo
  Index own = 0;                 ///< how many are its own
  const CellBox* box = nullptr;  ///< null: there is one cell
};

struct CellResult {
  LocalParts parts;         ///< a model of the cell alone: the answers of the nearest anchor
  std::vector<Index> kept;  ///< row of the set for each row of the parts; empty: the same
  TrainReport report;
  Index inexact = 0;  ///< centers whose neighborhood may lack rows beyond the halo
};

}  // namespace tamis
