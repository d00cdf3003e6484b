// Training cell by cell (methods/local/cell_plan.hpp): memory for one cell, whatever the number of
// rows, and several ranks that own cells.
//
// 1. Classes, costs, scaling and gamma are learned in passes over the rows.
// 2. A sample, drawn by row numbers alone, says where the cells are.
// 3. All rows are scaled and written to the files of their cells.
// 4. Cell after cell is read and trained; what comes of it is a file again.
// 5. These are put together in the order of the cells.
//
// Nothing of this depends on threads, ranks or memory: neither does the model.
#pragma once

#include "methods/common/method.hpp"
#include "tamis/dataset.hpp"
#include "tamis/scaling.hpp"

namespace tamis {

struct TrainedInCells {
  MethodResult trained;
  Labels classes;
  Scaling scaling;
  Index rows = 0;  ///< that count, of all ranks
  double prepare_seconds = 0;
};

/// Whether a method trains such rows in cells: it can, and there are more than one cell takes, or
/// they are spread over several ranks.
bool trains_in_cells(const Method& method, const Dataset& data, const TrainContext& context);

/// `data` are the rows of this rank. Throws DataError, InvalidArgument, ResourceError and IoError;
/// when cancelled or out of time it returns what it has. `uses_weights`: learns feature weights, on
/// the sample.
TrainedInCells run_in_cells(const Method& method, const Dataset& data, const TrainContext& context,
                            bool learns_weights);

}  // namespace tamis
