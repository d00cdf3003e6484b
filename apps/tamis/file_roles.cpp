#include "file_roles.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "options.hpp"
#include "tamis/error.hpp"

namespace tamis::cli {
namespace {

namespace fs = std::filesystem;

// A path that exists nowhere is compared as text, with every link on the way resolved.
std::string resolved(const std::string& path) {
  std::error_code error;
  fs::path current = fs::absolute(path, error);
  for (int hops = 0; hops < 40 && fs::is_symlink(current, error); ++hops) {
    const fs::path next = fs::read_symlink(current, error);
    if (error) break;
    current = current.parent_path() / next;  // an absolute one replaces all
  }
  const fs::path canonical = fs::weakly_canonical(current, error);
  return error ? current.lexically_normal().string() : canonical.string();
}

// What a path or "-" stands for.
struct Place {
  bool exists = false;
  bool plain = true;  // a file, or to become one
  dev_t device = 0;
  ino_t number = 0;
  std::string path;

  Place(const std::string& name, bool is_output) {
    struct stat info {};
    const int stream = is_output ? STDOUT_FILENO : STDIN_FILENO;
    exists = (name == "-" ? fstat(stream, &info) : stat(name.c_str(), &info)) == 0;
    plain = exists ? S_ISREG(info.st_mode) : name != "-";
    device = info.st_dev;
    number = info.st_ino;
    if (name != "-") path = resolved(name);
  }

  bool operator==(const Place& other) const {
    if (!plain || !other.plain) return false;
    if (exists && other.exists) return device == other.device && number == other.number;
    return !path.empty() && path == other.path;
  }
};

std::string labels_of(const std::string& role) { return "the labels of " + role; }

}  // namespace

FileRoles& FileRoles::add(const Entry& entry) {
  if (!entry.path.empty()) entries_.push_back(entry);
  return *this;
}

FileRoles& FileRoles::reads(const std::string& role, const std::string& path) {
  return add({role, path, false, ""});
}

FileRoles& FileRoles::reads(const std::string& role, const std::string& path,
                            const ReadOptions& read) {
  if (path.empty()) return *this;
  const std::size_t num_data = data_files(path, read).size();
  const std::vector<std::string> files = files_read(path, read);
  for (std::size_t f = 0; f < files.size(); ++f)
    reads(f < num_data ? role : labels_of(role), files[f]);
  return *this;
}

FileRoles& FileRoles::writes(const std::string& role, const std::string& path,
                             const std::string& replaces) {
  return add({role, path, true, replaces});
}

FileRoles& FileRoles::writes(const std::string& role, const std::string& path,
                             const WriteOptions& write, const std::string& replaces) {
  for (const std::string& file : files_written(path, write)) {
    if (file == path)
      writes(role, file, replaces);
    else
      writes(labels_of(role), file, labels_of(replaces));
  }
  return *this;
}

const FileRoles& FileRoles::require_distinct() const {
  std::vector<Place> places;
  for (const Entry& entry : entries_) places.emplace_back(entry.path, entry.is_output);
  for (std::size_t b = 0; b < entries_.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      const Entry& output = entries_[a].is_output ? entries_[a] : entries_[b];
      const Entry& other = entries_[a].is_output ? entries_[b] : entries_[a];
      if (!output.is_output && output.path == "-" && other.path == "-")
        throw UsageError(fmt::format("{} and {} cannot both be standard input: give one a file",
                                     other.role, output.role));
      if (!output.is_output || output.replaces == other.role) continue;
      if (other.is_output && output.path == "-" && other.path == "-")
        throw UsageError(fmt::format("{} and {} cannot both be standard output: give one a file",
                                     output.role, other.role));
      if (places[a] == places[b])
        throw UsageError(
            fmt::format("{} would replace {}, which is the same file ({}): give {} "
                        "another name",
                        output.role, other.role, other.path, output.role));
    }
  }
  return *this;
}

void FileRoles::require_writable() const {
  for (const Entry& entry : entries_) {
    const Place place(entry.path, true);
    // What has a name there may be an open descriptor, which needs no folder.
    const bool is_special = entry.path.starts_with("/dev/") || entry.path.starts_with("/proc/");
    if (!entry.is_output || entry.path == "-" || is_special) continue;
    const auto fail = [&](const std::string& what) {
      throw IoError(fmt::format("{}: {}", entry.path, what));
    };
    const auto require = [&](const std::string& path, const char* what) {
      if (access(path.c_str(), W_OK) != 0)
        fail(fmt::format("{}: {}", what, std::generic_category().message(errno)));
    };
    std::error_code error;
    if (fs::is_directory(place.path, error)) fail("cannot write: it is a folder");
    if (!place.plain) continue;  // a pipe is written directly
    if (place.exists) require(place.path, "cannot write");
    require(fs::path(place.path).parent_path().string(), "cannot create");
  }
}

}  // namespace tamis::cli
