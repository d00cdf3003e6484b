#include "methods/ensemble/candidate_jobs.hpp"

#include <algorithm>
#include <numeric>

#include "base/check.hpp"
#include "base/checked.hpp"
#include "base/message.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "data/row_messages.hpp"
#include "kernels/plain_kernel.hpp"
#include "methods/common/binary_settings.hpp"
#include "methods/ensemble/member_task.hpp"
#include "svm/row_order.hpp"
#include "tamis/error.hpp"

namespace tamis {

CandidateJobs::CandidateJobs(const AllRows& rows, const TrainContext& context, Index cache_bytes)
    : rows_(rows),
      context_(context),
      cache_bytes_(cache_bytes),
      keep_scored_(rows.coordinator().add([this](std::span<const std::byte> request) {
        MessageReader reader(request);
        const auto problem = reader.get<Index>();
        Group::Message packed(reader.rest().begin(), reader.rest().end());
        scored_.clear();
        scored_[problem] = unpack_rows(std::move(packed), rows_.mine().features);
        return Group::Message();
      })),
      keeper_(rows, context),
      jobs_(
          rows,
          [this](const TrainingSet& part, std::span<const std::byte> request) {
            return train(part, request);
          },
          &keeper_) {}

void CandidateJobs::set_score_rows(Index problem, std::span<const Index> rows) {
  Matrix features = rows_.features(rows);
  {
    const std::lock_guard lock(mutex_);
    score_print_[problem] = print_of_rows(rows);
  }
  if (rows_.is_alone()) {
    const std::lock_guard lock(mutex_);
    scored_[problem] = std::move(features);
    return;
  }
  std::vector<Index> all(rows.size());
  std::iota(all.begin(), all.end(), 0);
  MessageWriter request;
  request.put(problem);
  request.put_rest(pack_rows(features, all));
  rows_.coordinator().ask(keep_scored_, request.take());
}

void CandidateJobs::forget_score_rows(Index problem) {
  const std::lock_guard lock(mutex_);
  scored_.erase(problem);
  score_bytes_.erase(problem);
}

std::vector<TrainedCandidate> CandidateJobs::run(Index problem,
                                                 const std::vector<CandidateJob>& jobs) const {
  auto* const workers = dynamic_cast<TaskGroup*>(&rows_.coordinator().group());
  if (workers == nullptr) return run_on_ranks(problem, jobs);
  std::vector<TrainedCandidate> results = run_elsewhere(*workers, problem, jobs);
  std::vector<std::size_t> left;
  std::vector<CandidateJob> jobs_left;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (results[j].is_trained) continue;
    left.push_back(j);
    jobs_left.push_back(jobs[j]);
  }
  std::vector<TrainedCandidate> done = run_on_ranks(problem, jobs_left);
  for (std::size_t k = 0; k < left.size(); ++k) results[left[k]] = std::move(done[k]);
  return results;
}

std::shared_ptr<const std::string> CandidateJobs::score_bytes(Index problem) const {
  const std::lock_guard lock(mutex_);
  auto& bytes = score_bytes_[problem];
  if (bytes == nullptr)
    bytes = std::make_shared<const std::string>(rows_to_bytes(scored_.at(problem)));
  return bytes;
}

std::vector<TrainedCandidate> CandidateJobs::run_elsewhere(
    TaskGroup& workers, Index problem, const std::vector<CandidateJob>& jobs) const {
  std::vector<std::string> tasks(jobs.size());
  parallel_each(std::ssize(jobs), [&](Index j) {
    const CandidateJob& job = jobs[usize(j)];
    MemberTask task{rows_.features(job.rows), job.cost, job.targets,
                    binary_settings(rows_.facts(), context_, cache_bytes_)};
    task.settings.kernel = job.kernel;
    tasks[usize(j)] = member_task_to_bytes(task);
  });
  const std::vector<std::string> answers =
      workers.run(tasks, score_bytes(problem), context_.control);
  TAMIS_CHECK(answers.size() == tasks.size());
  const Index scored_rows = [&] {
    const std::lock_guard lock(mutex_);
    return scored_.at(problem).rows();
  }();
  std::vector<TrainedCandidate> results(jobs.size());
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (answers[j].empty()) continue;
    MemberResult member =
        member_result_from_bytes(answers[j], std::ssize(jobs[j].rows), scored_rows);
    results[j].is_trained = true;
    results[j].machine = std::move(member.trained.machine);
    results[j].stats = member.trained.stats;
    results[j].values = std::move(member.values);
  }
  return results;
}

std::vector<TrainedCandidate> CandidateJobs::run_on_ranks(
    Index problem, const std::vector<CandidateJob>& jobs) const {
  const std::uint64_t score_print = [&] {
    const std::lock_guard lock(mutex_);
    return score_print_.at(problem);
  }();
  std::vector<RowJobs::Job> requests;
  std::vector<std::vector<Index>> places(jobs.size());  // where the ascending rows are in the job
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const CandidateJob& job = jobs[j];
    places[j].resize(job.rows.size());
    std::iota(places[j].begin(), places[j].end(), 0);
    std::sort(places[j].begin(), places[j].end(),
              [&](Index a, Index b) { return job.rows[usize(a)] < job.rows[usize(b)]; });
    RowJobs::Job& request = requests.emplace_back();
    for (const Index place : places[j]) request.rows.push_back(job.rows[usize(place)]);
    MessageWriter writer;
    writer.put(problem);
    writer.put(score_print);  // for a checkpoint: the answer depends on these rows
    writer.put(plain(job.kernel));
    writer.put(job.is_needed);
    writer.put_list(places[j]);
    writer.put_list(job.targets);
    writer.put_list(job.cost);
    request.request = writer.take();
  }
  std::vector<TrainedCandidate> results;
  for (const Group::Message& answer : jobs_.run(requests)) {
    TrainedCandidate& result = results.emplace_back();
    MessageReader reader(answer);
    const auto missed = reader.get<StopReason>();
    rows_.coordinator().note_stop(missed);
    if (reader.empty()) continue;
    result.is_trained = true;
    result.machine.rows = reader.get_list<Index>();
    result.machine.coefficients = reader.get_list<double>();
    result.machine.offset = reader.get<double>();
    result.stats = reader.get<MachineStats>();
    result.values = reader.get_list<double>();
    result.train_seconds = reader.get<double>();
    result.score_seconds = reader.get<double>();
  }
  return results;
}

Group::Message CandidateJobs::train(const TrainingSet& part,
                                    std::span<const std::byte> request) const {
  MessageReader reader(request);
  const auto problem = reader.get<Index>();
  reader.get<std::uint64_t>();
  const auto kernel = kernel_of(reader.get<PlainKernel>());
  const auto is_needed = reader.get<bool>();
  MessageWriter answer;  // begins with why something was left undone
  const StopReason stop = context_.must_stop();
  if (!is_needed && stop != StopReason::converged) {
    answer.put(stop);
    return answer.take();
  }
  const Stopwatch watch;
  // Back to the order of the job: equal rows keep their places.
  const auto places = reader.get_list<Index>();
  std::vector<Index> back(places.size());
  for (std::size_t k = 0; k < places.size(); ++k) back[usize(places[k])] = static_cast<Index>(k);
  const Matrix features = part.features.select(back);
  BinaryTask task;
  task.rows.resize(places.size());
  std::iota(task.rows.begin(), task.rows.end(), 0);
  const auto targets = reader.get_list<double>();
  task.targets.assign(targets.begin(), targets.end());
  const auto cost = reader.get_list<double>();
  BinarySettings settings = binary_settings(part, context_, cache_bytes_);
  settings.kernel = kernel;
  const BinaryResult trained =
      train_binary(features, cost, ordered_by_content(features, cost, task), nullptr, settings,
                   context_.control, {});
  const double train_seconds = watch.seconds();
  std::vector<double> values;
  const StopReason reason = trained.stats.stop_reason;
  const bool was_cut = reason == StopReason::interrupted || reason == StopReason::time_limit;
  if (!was_cut && context_.must_stop() == StopReason::converged) {
    const Matrix scored = [&] {
      const std::lock_guard lock(mutex_);
      return scored_.at(problem);
    }();
    values.resize(usize(scored.rows()));
    try {
      make_expansion(kernel, features, std::span(&trained.machine, 1), Decision::single)
          ->decision_values(scored, values, quiet(context_.control));
    } catch (const Cancelled&) {
      values.clear();
    }
  }
  answer.put(values.empty() ? context_.must_stop() : StopReason::converged);
  answer.put_list(trained.machine.rows);
  answer.put_list(trained.machine.coefficients);
  answer.put(trained.machine.offset);
  answer.put(trained.stats);
  answer.put_list(values);
  answer.put(train_seconds);
  answer.put(watch.seconds() - train_seconds);
  return answer.take();
}

}  // namespace tamis
