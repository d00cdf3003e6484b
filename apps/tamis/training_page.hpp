// The report page of `tamis train`: its options, and what is measured for it.
#pragma once

#include <functional>
#include <string>

#include "options.hpp"
#include "session.hpp"
#include "tamis/dataset.hpp"
#include "tamis/train.hpp"

namespace tamis::cli {

/// What is measured is honest: test rows that were given, or a hold-out set of the training rows
/// and a second model that was trained without them.
class TrainingPage {
 public:
  using Trainer = std::function<TrainResult(const Dataset&, const RunControl&)>;

  void declare(Options& options);
  bool is_wanted() const { return !path_.empty(); }
  bool goes_to_standard_output() const { return path_ == "-"; }
  FileRoles& add_files(FileRoles& files, const ReadOptions& read) const;
  /// UsageError for options that are of no use.
  void require_usable(const Session& session, bool is_stream) const;
  /// Before the training, so that a file that cannot be read is told at once.
  void read_test(Session& session, const Dataset& rows, const ReadOptions& read,
                 const TrainOptions& options);

  struct Trained {
    const Dataset& rows;
    const TrainOptions& options;
    const TrainResult& result;
    std::string data_path;
    std::string model_path;
  };
  /// Measures and writes the page. False: interrupted, and none is written, with a remark.
  bool write(Session& session, const Trained& trained, const Trainer& trainer) const;

 private:
  std::string path_;
  std::string test_path_;
  double split_ = 0.2;
  bool split_given_ = false;
  bool learning_curve_ = false;
  Dataset test_;
};

}  // namespace tamis::cli
