#include "tamis/stream.hpp"
#include "training/stream_training.hpp"

namespace tamis {

TrainResult train_stream(const std::string& path, const ReadOptions& read,
                         const TrainOptions& options, const RunControl& control) {
  options.validate();
  return run_leader_stream(path, read, options, control);
}

}  // namespace tamis
