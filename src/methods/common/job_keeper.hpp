// Answers of jobs that are kept in a checkpoint: a run that was killed finds those it had.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "methods/common/all_rows.hpp"
#include "methods/common/method.hpp"
#include "tamis/checkpoint.hpp"

namespace tamis {

/// Answers begin with a StopReason: those that are not `converged` are unfinished, and not kept. An
/// answer must depend on the rows, options and request of its job alone.
class JobKeeper {
 public:
  /// Every rank makes one, in the same order as works of the coordinator. Without a checkpoint it
  /// keeps nothing.
  JobKeeper(const AllRows& rows, const TrainContext& context);

  /// On the first rank, before anything else: reads what is there. Throws DataError when that is of
  /// other rows or options.
  void open();
  /// On the first rank, from any thread.
  std::optional<Group::Message> find(const RowJobs::Job& job) const;
  /// Writes when it is time to.
  void keep(const std::vector<RowJobs::Job>& jobs, const std::vector<Group::Message>& answers);

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;
  static Key key_of(const RowJobs::Job& job);
  std::uint64_t print() const;
  void save(const std::string& bytes);

  const AllRows& rows_;
  const TrainContext& context_;
  CheckpointStore* store_;
  int save_ = 0;
  mutable std::mutex mutex_;
  std::map<Key, Group::Message> known_;
  std::string pending_;  // since the last file
  int files_ = 0;
  std::uint64_t print_ = 0;
  Stopwatch watch_;
};

/// A number for some rows of the data, to be part of requests.
std::uint64_t print_of_rows(std::span<const Index> rows);

}  // namespace tamis
