#include "io/temporary_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/folder.hpp"
#include "io/descriptors.hpp"

namespace tamis {
namespace {

constexpr std::string_view kBeginning = ".tamis-";
constexpr std::string_view kEnding = ".tmp";
constexpr int kNames = 1000;  // files of one target at the same time
constexpr int kSwept = 16;    // of these, so many are looked at for files left behind

// Short, whatever the length of the target's name, which may be as long as a name can be (FNV-1a).
std::string hash_of(const std::string& name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

// Whether the name still stands for the open file.
bool is_named(int fd, const std::string& path) {
  struct stat open_file {};
  struct stat named {};
  return fstat(fd, &open_file) == 0 && lstat(path.c_str(), &named) == 0 &&
         open_file.st_ino == named.st_ino && open_file.st_dev == named.st_dev;
}

// Whoever writes holds the lock until the file has its final name, and a lock ends with its
// process. Only the holder of the lock removes a name, so it cannot be that of a newer file. Where
// the file system has no locks, nothing is removed.
void remove_if_abandoned(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return;
  struct stat info {};
  const bool is_ours = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  if (is_ours && flock(fd, LOCK_EX | LOCK_NB) == 0 && is_named(fd, path)) unlink(path.c_str());
  close(fd);
}

// False if another process took the new file for an abandoned one before it was locked.
bool lock_new_file(int fd, const std::string& path) {
  if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  return is_named(fd, path);
}

}  // namespace

std::string folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

OutputTemporary make_temporary_file(const std::string& target) {
  const std::string stem = fmt::format("{}/{}{}", folder_of(target), kBeginning,
                                       hash_of(std::filesystem::path(target).filename().string()));
  const auto name = [&stem](int n) { return fmt::format("{}-{}{}", stem, n, kEnding); };
  for (int n = 0; n < kSwept; ++n) remove_if_abandoned(name(n));
  for (int n = 0; n < kNames; ++n) {
    std::string path = name(n);
    const int fd =
        beyond_standard_streams(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (fd < 0 && errno == EEXIST) continue;
    if (fd < 0) break;
    if (lock_new_file(fd, path)) return {std::move(path), fd};
    close(fd);
  }
  return {};
}

void remove_abandoned_files(const std::string& folder) {
  visit_folder(folder, 0, [&](int /*parent*/, std::string_view name) {
    if (name.starts_with(kBeginning) && name.ends_with(kEnding))
      remove_if_abandoned(fmt::format("{}/{}", folder, name));
  });
}

}  // namespace tamis
