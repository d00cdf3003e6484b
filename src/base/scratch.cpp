#include "base/scratch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <system_error>
#include <utility>

#include "base/memory.hpp"
#include "base/platform.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr std::int64_t kSmallBytes = std::int64_t{1} << 20;  // nobody has to ask for

// From the heap, which costs less than pages of its own.
ScratchBytes small_piece(std::int64_t bytes) {
  static constexpr std::align_val_t kAlignment{64};
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(1, bytes));
  auto* const memory = static_cast<char*>(::operator new(count, kAlignment));
  std::fill_n(memory, count, '\0');
  return {std::shared_ptr<char[]>(memory, [](char* at) { ::operator delete(at, kAlignment); }),
          false};
}

ScratchBytes in_memory(std::int64_t bytes) {
  const auto count = static_cast<std::size_t>(bytes);
  auto* const memory = static_cast<char*>(reserve_pages(count));
  return {std::shared_ptr<char[]>(memory, [count](char* at) { release_pages(at, count); }), false};
}

// What went wrong is put into `reason`.
ScratchBytes on_disk(const std::string& folder, std::int64_t bytes, std::string* reason) {
  const int fd = open_nameless(folder);
  if (fd < 0) {
    *reason = std::generic_category().message(errno);
    return {};
  }
  const std::int64_t left = disk_space_left(fd);
  MappedPages pages;
  if (lies_in_memory(fd)) {
    *reason = "it lies in memory (tmpfs)";
  } else if (left < bytes) {
    *reason = fmt::format("it has {} left", format_bytes(left));
  } else if (const int error = take_disk_space(fd, bytes); error != 0) {
    *reason = std::generic_category().message(error);
  } else {
    pages = map_pages(fd, static_cast<std::size_t>(bytes), true);
    if (pages.begin == nullptr) *reason = "the file cannot be mapped";
  }
  close(fd);  // the mapping keeps the file
  if (pages.begin == nullptr) return {};
  return {std::shared_ptr<char[]>(pages.begin, [pages](char*) { unmap_pages(pages); }), true};
}

}  // namespace

int open_nameless(const std::string& folder) {
#ifdef O_TMPFILE
  const int fd = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return fd;
#endif
  std::string name = folder + "/tamis-scratch-XXXXXX";
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) unlink(name.c_str());
  return named;
}

std::string scratch_folder(const RunControl& control) {
  if (!control.scratch_folder.empty()) return control.scratch_folder;
  const char* const chosen = std::getenv("TMPDIR");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  return access("/var/tmp", W_OK) == 0 ? "/var/tmp" : "/tmp";
}

ScratchBytes scratch_bytes(const std::string& what, std::int64_t bytes, const RunControl& control,
                           double share) {
  if (bytes <= kSmallBytes) return small_piece(bytes);
  const std::int64_t left = memory_left(control.memory_bytes);
  if (static_cast<double>(bytes) <= share * static_cast<double>(left)) return in_memory(bytes);
  const std::string folder = scratch_folder(control);
  std::string reason;
  if (ScratchBytes taken = on_disk(folder, bytes, &reason); taken.bytes) return taken;
  if (bytes <= left) return in_memory(bytes);
  throw ResourceError(fmt::format(
      "{} needs {}, but the memory budget leaves {} and the scratch folder {} cannot take it: {}; "
      "raise the budget, or name a scratch folder with more space",
      what, format_bytes(bytes), format_bytes(left), folder, reason));
}

}  // namespace tamis
