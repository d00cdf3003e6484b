// Two-class SVMs on small parts of the rows, each trained and scored by one rank.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "methods/common/all_rows.hpp"
#include "methods/common/job_keeper.hpp"
#include "methods/common/method.hpp"
#include "svm/binary_task.hpp"
#include "tamis/tasks.hpp"

namespace tamis {

struct CandidateJob {
  std::vector<Index> rows;      ///< of all rows, in the order of the targets
  std::vector<double> targets;  ///< +1 or -1
  std::vector<double> cost;
  Kernel kernel;
  bool is_needed = false;  ///< trained even when the run must stop
};

struct TrainedCandidate {
  bool is_trained = false;
  TrainedMachine machine;  ///< rows are positions in the job's
  MachineStats stats;
  std::vector<double> values;  ///< of the rows it is scored on; empty: it was not scored
  double train_seconds = 0;
  double score_seconds = 0;
};

class CandidateJobs {
 public:
  /// Every rank makes one; all must outlive it. `context` has no group.
  CandidateJobs(const AllRows& rows, const TrainContext& context, Index cache_bytes);

  /// On the first rank, before the others: finished candidates of a checkpoint are not trained
  /// again.
  void open_checkpoint() { keeper_.open(); }

  /// On the first rank: candidates of binary problem `problem` are scored on these rows, until
  /// forget_score_rows(). On several ranks there is one such problem at a time.
  void set_score_rows(Index problem, std::span<const Index> rows);
  void forget_score_rows(Index problem);
  /// On the first rank. What a rank left undone is noted as a stop of the coordinator.
  std::vector<TrainedCandidate> run(Index problem, const std::vector<CandidateJob>& jobs) const;

  /// `converged` while the work may go on, on all ranks.
  StopReason must_stop() const {
    return std::max(context_.must_stop(), rows_.coordinator().stopped());
  }

 private:
  std::vector<TrainedCandidate> run_on_ranks(Index problem,
                                             const std::vector<CandidateJob>& jobs) const;
  /// What nobody trained is left as it is.
  std::vector<TrainedCandidate> run_elsewhere(TaskGroup& workers, Index problem,
                                              const std::vector<CandidateJob>& jobs) const;
  std::shared_ptr<const std::string> score_bytes(Index problem) const;
  Group::Message train(const TrainingSet& part, std::span<const std::byte> request) const;

  const AllRows& rows_;
  const TrainContext& context_;
  const Index cache_bytes_;
  int keep_scored_ = 0;
  JobKeeper keeper_;
  RowJobs jobs_;
  mutable std::mutex mutex_;
  std::map<Index, std::uint64_t> score_print_;                               // by problem
  std::map<Index, Matrix> scored_;                                           // by problem
  mutable std::map<Index, std::shared_ptr<const std::string>> score_bytes_;  // the same for workers
};

}  // namespace tamis
