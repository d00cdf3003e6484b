#include "methods/common/job_keeper.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "base/message.hpp"
#include "base/mix.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t hash) {
  for (std::size_t k = 0; k < bytes.size(); k += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + k, std::min(sizeof word, bytes.size() - k));
    hash = mix(hash ^ word) + bytes.size();
  }
  return hash;
}

template <typename List>
std::uint64_t hash_list(const List& values, std::uint64_t hash) {
  return hash_bytes(std::as_bytes(std::span(values)), hash);
}

std::string file_name(int number) { return fmt::format("members-{}", number); }

[[noreturn]] void refuse() {
  throw DataError(
      "the checkpoint is of other rows or options; give another folder, or remove it to begin "
      "anew");
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span<const char>(text));
}

}  // namespace

std::uint64_t print_of_rows(std::span<const Index> rows) {
  return hash_bytes(std::as_bytes(rows), 5);
}

JobKeeper::JobKeeper(const AllRows& rows, const TrainContext& context)
    : rows_(rows), context_(context), store_(context.control.checkpoint) {
  if (store_ == nullptr) return;
  save_ = rows.coordinator().add([this](std::span<const std::byte> request) {
    MessageReader reader(request);
    const std::string name = file_name(reader.get<int>());
    const bool is_first = rows_.coordinator().group().rank() == 0;
    const std::vector<char> bytes = reader.get_list<char>();
    store_->save(name, is_first ? std::string(bytes.begin(), bytes.end()) : std::string());
    return Group::Message();
  });
}

// Of rows, labels, costs, and the options that a request does not name.
std::uint64_t JobKeeper::print() const {
  const TrainingSet& facts = rows_.facts();
  const TrainOptions& options = context_.options;
  const RowStore store =
      RowStore::for_bytes(checked_product(rows_.total(), sizeof(std::uint64_t)), context_.control);
  std::uint64_t hash = hash_list(rows_.hashes(store), 1);
  hash = hash_list(facts.codes, hash);
  hash = hash_list(facts.targets, hash);
  hash = hash_list(facts.cost, hash);
  hash = hash_bytes(std::as_bytes(std::span(&facts.kernel.type, 1)), hash);
  for (const double number :
       {facts.kernel.gamma, facts.kernel.coef0, static_cast<double>(facts.kernel.degree),
        options.eps, static_cast<double>(options.loss), static_cast<double>(options.max_iterations),
        static_cast<double>(options.multiclass)})
    hash = mix(hash ^ std::bit_cast<std::uint64_t>(number));
  return mix(hash ^ options.seed);
}

JobKeeper::Key JobKeeper::key_of(const RowJobs::Job& job) {
  const std::uint64_t rows = print_of_rows(job.rows);
  return {hash_bytes(job.request, rows), hash_bytes(job.request, mix(rows + 1))};
}

void JobKeeper::open() {
  if (store_ == nullptr) return;
  print_ = print();
  for (;; ++files_) {
    const std::vector<std::string> parts = store_->load(file_name(files_));
    if (parts.empty()) return;
    if (parts[0].size() < sizeof print_) refuse();
    MessageReader reader(bytes_of(parts[0]));
    if (reader.get<std::uint64_t>() != print_) refuse();
    while (!reader.empty()) {
      const Key key{reader.get<std::uint64_t>(), reader.get<std::uint64_t>()};
      known_[key] = reader.get_list<std::byte>();
    }
  }
}

std::optional<Group::Message> JobKeeper::find(const RowJobs::Job& job) const {
  if (store_ == nullptr) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(key_of(job));
  if (found == known_.end()) return std::nullopt;
  return found->second;
}

void JobKeeper::keep(const std::vector<RowJobs::Job>& jobs,
                     const std::vector<Group::Message>& answers) {
  if (store_ == nullptr) return;
  const std::lock_guard lock(mutex_);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    MessageReader reader(answers[j]);
    if (reader.get<StopReason>() != StopReason::converged || reader.empty()) continue;
    MessageWriter writer;
    const Key key = key_of(jobs[j]);
    writer.put(key.first);
    writer.put(key.second);
    writer.put_list(answers[j]);
    const Group::Message bytes = writer.take();
    pending_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  if (pending_.empty() || watch_.seconds() < context_.control.checkpoint_seconds) return;
  std::string file(reinterpret_cast<const char*>(&print_), sizeof print_);
  save(file + pending_);
  pending_.clear();
  watch_ = {};
}

void JobKeeper::save(const std::string& bytes) {
  MessageWriter request;
  request.put(files_++);
  request.put_list(std::span<const char>(bytes));
  rows_.coordinator().ask(save_, request.take());
}

}  // namespace tamis
