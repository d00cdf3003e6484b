// The method leader on a file that need not fit into memory.
#pragma once

#include "tamis/stream.hpp"

namespace tamis {

/// train_stream() with options that are valid.
TrainResult run_leader_stream(const std::string& path, const ReadOptions& read,
                              const TrainOptions& options, const RunControl& control);

}  // namespace tamis
