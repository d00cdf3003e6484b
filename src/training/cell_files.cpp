#include "training/cell_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/checked.hpp"
#include "base/folder.hpp"
#include "base/platform.hpp"
#include "base/read_at.hpp"
#include "base/scratch.hpp"
#include "io/output_file.hpp"
#include "tamis/checkpoint.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kScratchName = "tamis-cells-";

[[noreturn]] void fail(const std::string& path, const char* what, int error) {
  throw IoError(fmt::format("{}: {}: {}", path, what, std::generic_category().message(error)));
}

// A descriptor that is closed in the end.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// A lock ends with its process: a folder whose lock is free was left by one that was killed.
void remove_abandoned(const std::string& scratch) {
  visit_folder(scratch, 0, [&](int /*parent*/, std::string_view name) {
    if (!name.starts_with(kScratchName)) return;
    const std::string folder = fmt::format("{}/{}", scratch, name);
    const Descriptor lock(open((folder + "/lock").c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (lock.get() >= 0 && flock(lock.get(), LOCK_EX | LOCK_NB) == 0)
      remove_folder_of_files(folder);
  });
}

}  // namespace

CellFiles::CellFiles(const RunControl& control, Group& group) {
  const std::string checkpoint =
      control.checkpoint == nullptr ? std::string() : control.checkpoint->folder();
  is_kept_ = !checkpoint.empty();
  if (is_kept_) {
    folder_ = checkpoint + "/cells";
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error) fail(folder_, "cannot make the folder", error.value());
    if (group.rank() == 0 && !lock_folder())
      throw IoError(folder_ +
                    ": another run uses this folder; wait for its end, or give another folder");
    return;
  }
  const std::string scratch = scratch_folder(control);
  remove_abandoned(scratch);
  // Until it is locked, another process may take the new folder for an abandoned one.
  do {
    folder_ = fmt::format("{}/{}XXXXXX", scratch, kScratchName);
    if (mkdtemp(folder_.data()) == nullptr) fail(scratch, "cannot make a folder in it", errno);
  } while (!lock_folder());
}

CellFiles::~CellFiles() {
  if (!is_kept_) remove_folder_of_files(folder_);
  if (lock_ >= 0) close(lock_);
}

// False if another process has the lock. Where the file system has none, it is done without.
bool CellFiles::lock_folder() {
  const std::string path = folder_ + "/lock";
  lock_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock_ < 0 && errno == ENOENT) return false;  // the folder is gone
  if (lock_ < 0) fail(path, "cannot open", errno);
  const bool is_taken = flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (!is_taken && access(path.c_str(), F_OK) == 0) return true;
  close(lock_);
  lock_ = -1;
  return false;
}

bool CellFiles::has_all_rows(std::uint64_t fingerprint) const {
  std::ifstream file(folder_ + "/rows");
  std::uint64_t found = 0;
  if (!(file >> std::hex >> found)) return false;
  if (found != fingerprint)
    throw DataError(
        "the checkpoint is of other rows or options; give another folder, or remove it to begin "
        "anew");
  std::string rest;
  return !(file >> rest);
}

void CellFiles::set_all_rows(std::uint64_t fingerprint, bool is_complete) const {
  OutputFile file(folder_ + "/rows");
  file.write(fmt::format("{:016x}{}", fingerprint, is_complete ? "" : " incomplete"));
  file.commit();
}

std::string CellFiles::rows_path(Index cell) const {
  return fmt::format("{}/{}.rows", folder_, cell);
}

std::string CellFiles::result_path(Index cell, bool is_whole) const {
  return fmt::format("{}/{}.{}", folder_, cell, is_whole ? "trained" : "part");
}

bool CellFiles::has_result(Index cell) const {
  return access(result_path(cell, true).c_str(), R_OK) == 0;
}

bool CellFiles::has_rows(Index cell) const { return access(rows_path(cell).c_str(), R_OK) == 0; }

void CellFiles::make_rows(Index cell, std::int64_t bytes, std::int64_t bytes_of_all) {
  if (std::ssize(written_) <= cell) written_.resize(usize(cell) + 1, 0);
  written_[usize(cell)] = 0;
  const std::string path = rows_path(cell);
  const Descriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() < 0) fail(path, "cannot create", errno);
  const int error = bytes == 0 ? 0 : take_disk_space(file.get(), bytes);
  if (error == 0) return;
  if (error != ENOSPC && error != EFBIG && error != EDQUOT) fail(path, "cannot write", error);
  throw IoError(fmt::format(
      "{}: no room for the rows of the cells: they need {} in all; free that much, or name a "
      "folder on another disk",
      folder_, format_bytes(bytes_of_all)));
}

void CellFiles::append_rows(Index cell, std::span<const std::byte> bytes) {
  const std::string path = rows_path(cell);
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file.get() < 0) fail(path, "cannot open", errno);
  std::int64_t& at = written_[usize(cell)];
  while (!bytes.empty()) {
    const ssize_t done = pwrite(file.get(), bytes.data(), bytes.size(), at);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(path, "cannot write", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    at += done;
  }
}

std::int64_t CellFiles::rows_bytes(Index cell) const {
  std::error_code error;
  const auto size = fs::file_size(rows_path(cell), error);
  if (error) fail(rows_path(cell), "cannot read", error.value());
  return static_cast<std::int64_t>(size);
}

void CellFiles::read_rows(Index cell, std::int64_t offset, std::span<std::byte> to) const {
  const std::string path = rows_path(cell);
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file.get() < 0) fail(path, "cannot open", errno);
  const std::int64_t got = read_at(file.get(), to, offset);
  if (got < 0) fail(path, "cannot read", errno);
  if (got < std::ssize(to)) throw DataError(path + ": the file is cut short; remove its folder");
}

void CellFiles::drop_rows(Index cell) const {
  std::error_code ignored;
  fs::remove(rows_path(cell), ignored);
}

}  // namespace tamis
