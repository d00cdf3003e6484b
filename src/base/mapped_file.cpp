#include "base/mapped_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "tamis/error.hpp"

namespace tamis {

std::shared_ptr<const MappedFile> MappedFile::map(std::string name, int descriptor) {
  const FileStamp stamp = file_stamp(descriptor);
  if (stamp.size <= 0) return nullptr;
  const int own = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (own < 0) return nullptr;
  const MappedPages pages = map_pages(own, static_cast<std::size_t>(stamp.size), false);
  if (pages.begin == nullptr) {
    close(own);
    return nullptr;
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(std::move(name), own, stamp, pages));
}

MappedFile::~MappedFile() {
  unmap_pages(pages_);
  close(descriptor_);
}

// Not by the time of any change: a file that is renamed or removed still holds what it did.
bool MappedFile::is_intact() const {
  const FileStamp now = file_stamp(descriptor_);
  return !failed_pages(pages_) && now.size == stamp_.size && now.written_ns == stamp_.written_ns;
}

void MappedFile::require_intact() const {
  if (is_intact()) return;
  throw DataError(name_ + ": the file changed while it was read; run again when it is complete");
}

}  // namespace tamis
