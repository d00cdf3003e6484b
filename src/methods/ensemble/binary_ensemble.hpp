// One two-class ensemble of machines on random parts of the rows: the work of random-subset for
// each of its binary problems.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/progress.hpp"
#include "methods/common/method.hpp"
#include "methods/ensemble/candidate_jobs.hpp"
#include "methods/ensemble/ensemble_weights.hpp"
#include "methods/ensemble/member_draw.hpp"
#include "model/weighted_ensemble.hpp"

namespace tamis {

struct EnsembleMember {
  TrainedMachine machine;  ///< rows are those of the training set
  Kernel kernel;
  double weight = 1;
  MemberSigmoid sigmoid;  ///< used when members contribute probabilities
};

/// What the phases took, and what each member was and did.
struct EnsembleRecord {
  double member_seconds = 0;
  double scoring_seconds = 0;
  double combining_seconds = 0;
  Index score_rows = 0;
  Index subset_rows = 0;
  std::int64_t combining_epochs = 0;
  /// Of the first kListedMachines binary problems: member, C, gamma, support vectors, accuracy on
  /// rows not seen, accuracy on all.
  std::vector<std::vector<double>> members;
  std::vector<std::vector<double>> search;  ///< C, gamma, error of the machines tried first
  MachineStats work;                        ///< sums over all machines that were trained
  std::vector<std::int64_t> iterations;     ///< of each of these
};

class BinaryEnsembleTrainer {
 public:
  /// All must outlive it. On the first rank.
  BinaryEnsembleTrainer(const AllRows& rows, CandidateJobs& jobs, const BinaryTask& task,
                        const TrainContext& context);
  ~BinaryEnsembleTrainer();
  BinaryEnsembleTrainer(const BinaryEnsembleTrainer&) = delete;  // parts of it refer to others
  BinaryEnsembleTrainer& operator=(const BinaryEnsembleTrainer&) = delete;

  /// Adds 1 to `meter` for each member. A run that must stop keeps the members it has, and trains
  /// at least one.
  void run(ProgressMeter& meter);

  /// Those with a weight.
  std::vector<EnsembleMember> members() const;
  double offset() const { return weights_.offset(); }
  const EnsembleRecord& record() const { return record_; }

 private:
  struct Candidate {
    MemberDraw draw;
    TrainedCandidate trained;  // rows are those of the training set
    MemberValues said;  // probabilities, or divided by scale, so that members are of one size
    double scale = 1;
    MemberSigmoid sigmoid;
    Index support_vectors = 0;
    bool finished = false;  // trained and scored
  };

  void set_up_drawer();
  bool is_listed() const { return task_.index < kListedMachines; }
  bool draws_by_weight() const { return options_.subset_sampling == SubsetSampling::weights; }
  Index search_trials() const;
  ParameterRanges find_ranges();
  /// `each` SVMs on each of `count` subsets, one after the other.
  std::vector<Candidate> train_candidates(const MemberDrawer& drawer, Index first, Index count,
                                          const ParameterRanges& ranges, Index each);
  std::vector<Candidate> best_of_each_subset(std::vector<Candidate> candidates) const;
  CandidateJob job_of(const MemberDraw& draw) const;
  void score(std::span<Candidate> candidates);
  void score_one(Candidate& candidate) const;
  void divide_by_scale(Candidate& candidate, std::span<const double> values) const;
  void fit_probability(Candidate& candidate, std::span<const double> values) const;
  double error_on_unseen(const MemberValues& said) const;
  bool take_best(std::span<Candidate> candidates);
  void keep(Candidate& candidate);
  void combine(double eps);

  const TrainingSet& data_;  // without features
  CandidateJobs& jobs_;
  const BinaryTask& task_;
  const TrainContext& context_;
  const EnsembleOptions& options_;
  Random random_;
  RowVector<std::int32_t> class_of_row_;  // of the task: 0 for +1, 1 for -1
  std::vector<Index> score_rows_;         // positions in the task
  std::vector<double> score_targets_;
  std::vector<double> score_weights_;
  MemberDrawer drawer_;
  EnsembleWeights weights_;
  std::vector<EnsembleMember> members_;
  std::vector<double> scales_;
  EnsembleRecord record_;
};

}  // namespace tamis
