// The rows of all ranks, as the rank that decides sees them: what is one number per row at once,
// features when they are asked for.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "methods/common/coordinator.hpp"
#include "methods/common/kernel_machine.hpp"
#include "methods/common/method.hpp"
#include "model/decision.hpp"
#include "svm/binary_task.hpp"
#include "svm/training_set.hpp"

namespace tamis {

class JobKeeper;

/// Rows are numbered in the order of the ranks. On one rank nothing is copied or sent.
class AllRows {
 public:
  /// Every rank makes one, with its own rows, which must outlive it.
  AllRows(const TrainingSet& mine, Coordinator& coordinator);

  /// On the first rank. Labels and costs of all rows; the features have a row for each but, on
  /// several ranks, no columns.
  const TrainingSet& facts() const { return is_alone() ? mine_ : facts_; }
  bool is_alone() const { return coordinator_.is_alone(); }
  /// This rank's rows, and where they begin among all.
  const TrainingSet& mine() const { return mine_; }
  Index first() const { return first_; }
  Index total() const { return total_; }
  Index cols() const { return mine_.features.cols(); }
  Coordinator& coordinator() const { return coordinator_; }

  /// On the first rank: these rows, in this order.
  Matrix features(std::span<const Index> rows) const;
  TrainingSet select(std::span<const Index> rows) const;
  /// On the first rank: a hash of the values of every row.
  RowVector<std::uint64_t> hashes(const RowStore& store) const;
  /// The rank that has a row.
  int owner(Index row) const;
  /// This rank's rows among the given ones, as rows of mine().
  std::vector<Index> own(std::span<const Index> rows) const;

 private:
  const TrainingSet& mine_;
  Coordinator& coordinator_;
  std::vector<Index> begins_;  // the first row of each rank
  Index first_ = 0;
  Index total_ = 0;
  TrainingSet facts_;
  int fetch_ = 0;
  int hash_ = 0;
};

/// The context of a call with the group left out, for what a rank does alone.
class LocalContext {
 public:
  explicit LocalContext(const TrainContext& context)
      : control_(context.control), context_{context.options, control_, context.watch} {
    control_.group = nullptr;
  }
  LocalContext(const LocalContext&) = delete;
  LocalContext& operator=(const LocalContext&) = delete;
  const TrainContext& context() const { return context_; }

 private:
  RunControl control_;
  TrainContext context_;
};

/// expansion_result() of SVMs whose rows are those of all ranks. On the first rank.
MethodResult expansion_result(const AllRows& rows, KernelMachine machine,
                              const RunControl& control);

/// train_machines() on all rows; where the trainer has to ask other ranks, one after the other. On
/// the first rank.
std::vector<BinaryResult> train_machines_in_turn(const AllRows& rows, Decision decision,
                                                 const BinaryTrainer& trainer,
                                                 const RowStore& store = {});

/// Work that takes some rows each, done by one rank each: the rows travel there.
class RowJobs {
 public:
  struct Job {
    std::vector<Index> rows;  ///< ascending
    Group::Message request;
  };
  /// `part` holds the rows of the job. Called from many threads.
  using Work = std::function<Group::Message(TrainingSet part, std::span<const std::byte> request)>;

  /// Every rank makes one. `rows` must outlive it, and so must `keeper`, which has the answers that
  /// an earlier run left; null: there is none.
  RowJobs(const AllRows& rows, Work work, JobKeeper* keeper = nullptr);

  /// On the first rank: the answers, by job. Job number j runs on rank j modulo their number.
  std::vector<Group::Message> run(const std::vector<Job>& jobs) const;

 private:
  Group::Message run_own(std::span<const std::byte> request) const;
  std::vector<Group::Message> run_all(const std::vector<Job>& jobs) const;

  const AllRows& rows_;
  Work work_;
  JobKeeper* keeper_;
  int number_ = 0;
};

}  // namespace tamis
