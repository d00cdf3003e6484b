// Training on a file that need not fit into memory.
#pragma once

#include <string>

#include "tamis/export.hpp"
#include "tamis/io.hpp"
#include "tamis/train.hpp"

namespace tamis {

/// The method leader on a plain file of any format, read twice, block by block: once to count and
/// to draw the sample that the threshold is found on, once for the leaders, taken in the order of
/// the file. Only they are kept. Throws as read_dataset() and train() do, and InvalidArgument for
/// options that need all rows: other methods, scaling, precomputed kernels, cluster weights,
/// refining.
TAMIS_EXPORT TrainResult train_stream(const std::string& path, const ReadOptions& read,
                                      const TrainOptions& options, const RunControl& control = {});

}  // namespace tamis
