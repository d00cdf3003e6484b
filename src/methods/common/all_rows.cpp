#include "methods/common/all_rows.hpp"

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "base/memory.hpp"
#include "base/message.hpp"
#include "base/parallel.hpp"
#include "data/row_messages.hpp"
#include "data/stack_rows.hpp"
#include "methods/common/job_keeper.hpp"
#include "multiclass/train_machines.hpp"
#include "svm/row_order.hpp"

namespace tamis {
namespace {

// The values of all ranks on the first, one list after the other.
template <typename T>
RowVector<T> gather_first(Group& group, const RowVector<T>& mine) {
  std::vector<Group::Message> to_each(usize(group.size()));
  const auto bytes = as_message(std::span<const T>(mine));
  to_each[0].assign(bytes.begin(), bytes.end());
  RowVector<T> all(mine.get_allocator());
  for (const Group::Message& message : group.exchange(std::move(to_each))) {
    const std::vector<T> part = from_message<T>(message);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

// The same matrix with its rows in the order that `rows`, of which it holds the ascending and
// different ones, has.
Matrix in_order(const Matrix& ascending, std::span<const Index> rows) {
  std::vector<Index> sorted(rows.begin(), rows.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  if (std::equal(sorted.begin(), sorted.end(), rows.begin(), rows.end())) return ascending;
  std::vector<Index> places;
  places.reserve(rows.size());
  for (const Index row : rows)
    places.push_back(std::lower_bound(sorted.begin(), sorted.end(), row) - sorted.begin());
  return ascending.select(places);
}

}  // namespace

AllRows::AllRows(const TrainingSet& mine, Coordinator& coordinator)
    : mine_(mine), coordinator_(coordinator) {
  Group& group = coordinator.group();
  first_ = sum_of_earlier(group, mine.rows());
  begins_ = gather_values(group, first_);
  total_ = sum_of_all(group, mine.rows());
  fetch_ = coordinator.add([this](std::span<const std::byte> request) {
    return pack_rows(mine_.features, own(from_message<Index>(request)));
  });
  hash_ = coordinator.add([this](std::span<const std::byte>) {
    const RowVector<std::uint64_t> hashes = hash_rows(mine_.features);
    const auto bytes = as_message(std::span<const std::uint64_t>(hashes));
    return Group::Message(bytes.begin(), bytes.end());
  });
  if (is_alone()) return;
  facts_.num_classes = mine.num_classes;
  facts_.classes = mine.classes;
  facts_.kernel = mine.kernel;
  facts_.codes = gather_first(group, mine.codes);
  facts_.targets = gather_first(group, mine.targets);
  facts_.cost = gather_first(group, mine.cost);
  facts_.features = Matrix::dense(std::ssize(facts_.cost), 0, {});
}

int AllRows::owner(Index row) const {
  const auto behind = std::upper_bound(begins_.begin(), begins_.end(), row);
  return static_cast<int>(behind - begins_.begin()) - 1;  // a rank without rows is passed over
}

std::vector<Index> AllRows::own(std::span<const Index> rows) const {
  std::vector<Index> result;
  for (const Index row : rows) {
    if (row >= first_ && row < first_ + mine_.rows()) result.push_back(row - first_);
  }
  return result;
}

Matrix AllRows::features(std::span<const Index> rows) const {
  if (is_alone()) return mine_.features.select(rows);
  std::vector<Index> sorted(rows.begin(), rows.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  const auto bytes = as_message(std::span<const Index>(sorted));
  return in_order(
      unpack_all(coordinator_.ask(fetch_, {bytes.begin(), bytes.end()}), mine_.features), rows);
}

TrainingSet AllRows::select(std::span<const Index> rows) const {
  TrainingSet part = facts().select(rows);
  if (!is_alone()) part.features = features(rows);
  return part;
}

RowVector<std::uint64_t> AllRows::hashes(const RowStore& store) const {
  if (is_alone()) return hash_rows(mine_.features, store);
  RowVector<std::uint64_t> all(store);
  for (const Group::Message& message : coordinator_.ask(hash_, {})) {
    const auto part = from_message<std::uint64_t>(message);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

// The support vectors as one small training set, on which the model is built as on one rank.
MethodResult expansion_result(const AllRows& rows, KernelMachine machine,
                              const RunControl& control) {
  if (rows.is_alone()) return expansion_result(rows.facts(), std::move(machine), control);
  const std::vector<Index> used = machine.support_rows();
  const TrainingSet support = rows.select(used);
  for (TrainedMachine& one : machine.machines) {
    for (Index& row : one.rows)
      row = std::lower_bound(used.begin(), used.end(), row) - used.begin();
  }
  MethodResult result = expansion_result(support, std::move(machine), control);
  for (Index& row : result.report.support_rows) row = used[usize(row)];
  return result;
}

std::vector<BinaryResult> train_machines_in_turn(const AllRows& rows, Decision decision,
                                                 const BinaryTrainer& trainer,
                                                 const RowStore& store) {
  const TrainingSet& data = rows.facts();
  if (rows.is_alone()) {
    RowVector<Index> all(usize(data.rows()), store);
    std::iota(all.begin(), all.end(), 0);
    return train_machines(data, all, decision, trainer, store);
  }
  std::vector<BinaryResult> results;
  for (Index m = 0; m < num_machines(decision, data.num_classes); ++m)
    results.push_back(trainer(binary_task(data, decision, m, store)));
  return results;
}

RowJobs::RowJobs(const AllRows& rows, Work work, JobKeeper* keeper)
    : rows_(rows), work_(std::move(work)), keeper_(keeper) {
  number_ = rows.coordinator().add(
      [this](std::span<const std::byte> request) { return run_own(request); });
}

// The request holds every job: its rows, of which each rank sends its own to the rank that has the
// job, and what else the work needs.
Group::Message RowJobs::run_own(std::span<const std::byte> request) const {
  Group& group = rows_.coordinator().group();
  const TrainingSet& mine = rows_.mine();
  const auto ranks = usize(group.size());
  struct Fact {
    double cost;
    double target;
    std::int64_t code;
  };
  std::vector<Job> own_jobs;
  std::vector<std::vector<Index>> send(ranks);
  MessageReader reader(request);
  for (std::size_t j = 0; !reader.empty(); ++j) {
    Job job{reader.get_list<Index>(), {}};
    job.request = reader.get_list<std::byte>();
    const std::vector<Index> here = rows_.own(job.rows);
    send[j % ranks].insert(send[j % ranks].end(), here.begin(), here.end());
    if (j % ranks == usize(group.rank())) own_jobs.push_back(std::move(job));
  }
  std::vector<Group::Message> rows;
  std::vector<Group::Message> facts;
  for (const std::vector<Index>& some : send) {
    rows.push_back(pack_rows(mine.features, some));
    std::vector<Fact> known;
    known.reserve(some.size());
    for (const Index row : some)
      known.push_back({mine.cost[usize(row)], mine.is_regression() ? mine.targets[usize(row)] : 0.0,
                       mine.is_regression() ? 0 : mine.codes[usize(row)]});
    const auto bytes = as_message(std::span<const Fact>(known));
    facts.emplace_back(bytes.begin(), bytes.end());
  }
  rows = group.exchange(std::move(rows));
  std::vector<Matrix> matrices;
  std::vector<Fact> known;
  std::vector<Index> next(ranks, 0);  // in the stacked rows, those of each rank for the next job
  facts = group.exchange(std::move(facts));
  for (std::size_t r = 0; r < ranks; ++r) {
    matrices.push_back(unpack_rows(std::move(rows[r]), mine.features));
    next[r] = std::ssize(known);
    const std::vector<Fact> part = from_message<Fact>(facts[r]);
    known.insert(known.end(), part.begin(), part.end());
  }
  const Matrix all = stack_rows(matrices);
  matrices.clear();
  std::vector<std::vector<Index>> places(own_jobs.size());
  for (std::size_t j = 0; j < own_jobs.size(); ++j) {
    for (const Index row : own_jobs[j].rows) places[j].push_back(next[usize(rows_.owner(row))]++);
  }
  std::vector<Group::Message> answers(own_jobs.size());
  parallel_each(std::ssize(own_jobs), [&](Index j) {
    TrainingSet part;
    part.features = all.select(places[usize(j)]);
    part.num_classes = mine.num_classes;
    part.classes = mine.classes;
    part.kernel = mine.kernel;
    for (const Index place : places[usize(j)]) {
      const Fact& fact = known[usize(place)];
      part.cost.push_back(fact.cost);
      if (mine.is_regression())
        part.targets.push_back(fact.target);
      else
        part.codes.push_back(static_cast<std::int32_t>(fact.code));
    }
    isolated([&] { answers[usize(j)] = work_(std::move(part), own_jobs[usize(j)].request); });
  });
  MessageWriter result;
  for (const Group::Message& answer : answers) result.put_list(answer);
  return result.take();
}

std::vector<Group::Message> RowJobs::run(const std::vector<Job>& jobs) const {
  if (keeper_ == nullptr) return run_all(jobs);
  std::vector<Group::Message> answers(jobs.size());
  std::vector<std::size_t> left;
  std::vector<Job> jobs_left;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (auto known = keeper_->find(jobs[j])) {
      answers[j] = *std::move(known);
    } else {
      left.push_back(j);
      jobs_left.push_back(jobs[j]);
    }
  }
  if (left.empty()) return answers;
  const std::vector<Group::Message> done = run_all(jobs_left);
  keeper_->keep(jobs_left, done);
  for (std::size_t k = 0; k < left.size(); ++k) answers[left[k]] = done[k];
  return answers;
}

std::vector<Group::Message> RowJobs::run_all(const std::vector<Job>& jobs) const {
  std::vector<Group::Message> answers(jobs.size());
  if (rows_.is_alone()) {
    parallel_each(std::ssize(jobs), [&](Index j) {
      const Job& job = jobs[usize(j)];
      isolated([&] { answers[usize(j)] = work_(rows_.mine().select(job.rows), job.request); });
    });
    return answers;
  }
  MessageWriter request;
  for (const Job& job : jobs) {
    request.put_list(job.rows);
    request.put_list(job.request);
  }
  const std::vector<Group::Message> of_ranks = rows_.coordinator().ask(number_, request.take());
  std::vector<MessageReader> readers(of_ranks.begin(), of_ranks.end());
  for (std::size_t j = 0; j < jobs.size(); ++j)
    answers[j] = readers[j % readers.size()].get_list<std::byte>();
  return answers;
}

}  // namespace tamis
