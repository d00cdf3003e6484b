#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>

#include "base/folder.hpp"
#include "base/group.hpp"
#include "base/mix.hpp"
#include "io/output_file.hpp"
#include "io/temporary_file.hpp"
#include "tamis/checkpoint.hpp"

namespace tamis {
namespace {

constexpr std::string_view kEnding = ".checkpoint";

std::uint64_t hash_of(std::string_view bytes) {
  std::uint64_t hash = mix(bytes.size() + 1);
  for (const char byte : bytes) hash = mix(hash + static_cast<unsigned char>(byte) + 1);
  return hash;
}

void write_whole(const std::filesystem::path& path, std::string_view bytes) {
  OutputFile file(path.string());
  file.write(bytes);
  file.write(fmt::format("{:016x}", hash_of(bytes)));
  file.commit();
}

// Nothing if there is no such file. One that cannot be read is an error: to begin anew would
// replace it.
std::optional<std::string> read_whole(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::status(path, error).type() == std::filesystem::file_type::not_found)
    return std::nullopt;
  if (!std::filesystem::is_regular_file(path, error))
    throw DataError(path.string() + ": the checkpoint is not a file; remove it to begin anew");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw IoError(path.string() + ": cannot open the checkpoint");
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  constexpr std::size_t kHash = 16;
  const std::size_t size = bytes.size() < kHash ? 0 : bytes.size() - kHash;
  if (bytes.size() < kHash ||
      bytes.substr(size) !=
          fmt::format("{:016x}", hash_of(std::string_view(bytes).substr(0, size))))
    throw DataError(path.string() + ": the checkpoint is damaged; remove it to begin anew");
  bytes.resize(size);
  return bytes;
}

// The NAME of NAME.checkpoint and of NAME.7.0.checkpoint; empty: it is neither.
std::string name_of_state(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  if (!name.ends_with(kEnding)) return {};
  name.resize(name.size() - kEnding.size());
  std::string stem = name;
  for (int numbers = 0; numbers < 2; ++numbers) {
    const std::size_t dot = stem.find_last_not_of("0123456789");
    if (dot == std::string::npos || stem[dot] != '.' || dot + 1 == stem.size()) return name;
    stem.resize(dot);
  }
  return stem;
}

// Whether write_whole() wrote it: the folder may hold files of others, with any name.
bool is_ours(const std::filesystem::path& path) {
  try {
    return read_whole(path).has_value();
  } catch (const Error&) {
    return false;
  }
}

// lock, rows, and for a cell 7.rows, 7.trained, 7.part (src/training/cell_files.cpp).
bool is_file_of_cells(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  if (name == "lock" || name == "rows") return true;
  const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  const std::string_view ending = std::string_view(name).substr(digits);
  return digits > 0 && (ending == ".rows" || ending == ".trained" || ending == ".part");
}

// NAME.G.R.checkpoint is the part of rank R in generation G; NAME.checkpoint says which generation
// is whole, and of how many parts.
class CheckpointFiles : public CheckpointStore {
 public:
  CheckpointFiles(std::string folder, Group& group) : folder_(std::move(folder)), group_(group) {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error)
      throw IoError(
          fmt::format("{}: cannot make the folder: {}", folder_.string(), error.message()));
  }

  std::vector<std::string> load(const std::string& name) override {
    note_use(name);
    const Current current = read_current(name);
    std::vector<std::string> parts;
    for (int rank = 0; rank < current.parts; ++rank) {
      const auto path = part_path(name, current.generation, rank);
      auto part = read_whole(path);
      if (!part)
        throw DataError(path.string() + ": a part of the checkpoint is missing; remove " +
                        folder_.string() + " to begin anew");
      parts.push_back(*std::move(part));
    }
    return parts;
  }

  void save(const std::string& name, const std::string& part) override {
    note_use(name);
    const Current before = read_current(name);
    const Current now{before.generation + 1, group_.size()};
    write_whole(part_path(name, now.generation, group_.rank()), part);
    any_of_all(group_, false);  // all parts are there
    if (group_.rank() == 0) {
      write_whole(current_path(name), fmt::format("{} {}", now.generation, now.parts));
      for (int rank = 0; rank < before.parts; ++rank)
        remove(part_path(name, before.generation, rank));
    }
    any_of_all(group_, false);  // nobody reads the old generation any more
  }

  void clear() override {
    any_of_all(group_, false);
    if (group_.rank() != 0) return;
    remove_from(folder_, [&](const std::filesystem::path& path) {
      return used_.contains(name_of_state(path)) && is_ours(path);
    });
    if (!uses_folder_) return;
    remove_from(folder_ / "cells", is_file_of_cells);
    remove(folder_ / "cells");  // fails if it has files of others
  }

  std::string folder() const override {
    uses_folder_ = true;
    return folder_.string();
  }

 private:
  struct Current {
    std::int64_t generation = 0;
    int parts = 0;
  };

  static void remove(const std::filesystem::path& path) {
    std::error_code error;  // one that stays is not looked at again
    std::filesystem::remove(path, error);
  }
  // Also what processes left that were killed while they wrote.
  template <typename IsWanted>
  static void remove_from(const std::filesystem::path& folder, const IsWanted& is_wanted) {
    visit_folder(folder.string(), 0, [&](int /*parent*/, const char* name) {
      const std::filesystem::path path = folder / name;
      std::error_code error;
      if (std::filesystem::is_regular_file(path, error) && is_wanted(path)) remove(path);
    });
    remove_abandoned_files(folder.string());
  }
  // Several SVMs may keep their states at once.
  void note_use(const std::string& name) {
    const std::lock_guard lock(mutex_);
    used_.insert(name);
  }
  std::filesystem::path current_path(const std::string& name) const {
    return folder_ / (name + std::string(kEnding));
  }
  std::filesystem::path part_path(const std::string& name, std::int64_t generation,
                                  int rank) const {
    return folder_ / fmt::format("{}.{}.{}{}", name, generation, rank, kEnding);
  }
  Current read_current(const std::string& name) const {
    const auto text = read_whole(current_path(name));
    Current current;
    if (!text) return current;
    const char* const end = text->data() + text->size();
    const auto first = std::from_chars(text->data(), end, current.generation);
    const bool has_space = first.ptr != end && *first.ptr == ' ';
    const auto second = has_space ? std::from_chars(first.ptr + 1, end, current.parts) : first;
    if (!has_space || second.ptr != end || current.generation < 1 || current.parts < 1)
      throw DataError(current_path(name).string() +
                      ": the checkpoint is damaged; remove it to begin anew");
    return current;
  }

  std::filesystem::path folder_;
  Group& group_;
  // What this run has asked for: the folder may hold the state of another training, which stays.
  std::mutex mutex_;
  std::set<std::string> used_;
  mutable std::atomic<bool> uses_folder_ = false;
};

}  // namespace

CheckpointStore::~CheckpointStore() = default;

std::unique_ptr<CheckpointStore> file_checkpoints(const std::string& folder, Group* group) {
  return std::make_unique<CheckpointFiles>(folder, group == nullptr ? alone() : *group);
}

}  // namespace tamis
