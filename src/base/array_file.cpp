#include "base/array_file.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/scratch.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 18;

[[noreturn]] void fail(const std::string& folder, const char* what) {
  throw IoError(fmt::format("{}: {}: {}", folder, what, std::generic_category().message(errno)));
}

}  // namespace

NamelessFile::NamelessFile(const std::string& folder)
    : folder_(folder), fd_(open_nameless(folder)) {
  if (fd_ < 0) fail(folder, "cannot make a temporary file");
}

NamelessFile::~NamelessFile() {
  if (fd_ >= 0) close(fd_);
}

void NamelessFile::append(std::span<const std::byte> bytes) {
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  if (buffer_.size() >= kBufferBytes) flush();
}

void NamelessFile::flush() {
  std::span<const std::byte> left(buffer_);
  while (!left.empty()) {
    const ssize_t done = write(fd_, left.data(), left.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(folder_, "cannot write a temporary file");
    left = left.subspan(static_cast<std::size_t>(done));
    written_ += done;
  }
  buffer_.clear();
}

std::shared_ptr<const std::byte> NamelessFile::map() {
  flush();
  if (written_ == 0) return nullptr;
  const auto size = static_cast<std::size_t>(written_);
  void* const pages = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd_, 0);
  if (pages == MAP_FAILED) fail(folder_, "cannot map a temporary file");
  return {static_cast<const std::byte*>(pages),
          [pages, size](const std::byte*) { munmap(pages, size); }};
}

}  // namespace tamis
