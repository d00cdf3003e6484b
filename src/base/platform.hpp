// What the operating system is asked beyond POSIX. Only platform.cpp and bus_guard.cpp know Linux;
// on other systems each of these has a fallback, so that a port is these files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace tamis {

/// Of memory and of address space.
inline constexpr std::int64_t kUnlimitedBytes = std::numeric_limits<std::int64_t>::max();

/// CPUs that this process may run on, and that its control group pays for; at least 1.
int usable_cpus();

/// What the machine could hand out without swapping.
std::int64_t machine_available_bytes();
/// What the control group of this process still allows; kUnlimitedBytes if it has no limit.
std::int64_t group_available_bytes();
/// Address space in use; 0 where the system does not say.
std::int64_t mapped_bytes();
/// Memory of this process that is in use. Pages of mapped files are not counted where the system
/// tells them apart: it can take them back at any time.
std::int64_t resident_bytes();
/// The most that was ever resident, pages of mapped files included.
std::int64_t peak_resident_bytes();

/// Address space that becomes memory only where it is touched, in large pages where that is
/// possible. Throws std::bad_alloc. release_pages gives it back.
void* reserve_pages(std::size_t bytes);
void release_pages(void* memory, std::size_t bytes);

/// Tells one state of a file from another.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t written_ns = 0;  ///< when the content changed last (mtime)
  std::int64_t altered_ns = 0;  ///< when anything of it changed last (ctime), which nobody can set
  bool operator==(const FileStamp&) const = default;
};
/// All zero if the system does not say.
FileStamp file_stamp(int descriptor);

struct GuardedRange;
/// A file that lies in the address space, from its beginning on. Where the file has no bytes any
/// more (truncated, or the disk fails), the pages become zeros and failed_pages() says so, instead
/// of the signal that would end the process (SIGBUS). The handler is installed with the first
/// mapping; addresses that are not of such a mapping go to the handler that was there before.
struct MappedPages {
  char* begin = nullptr;  ///< null: not mapped
  std::size_t bytes = 0;
  GuardedRange* guard = nullptr;
};
/// Not mapped where the system cannot. Writable pages are those of the file, for everyone who maps
/// it.
MappedPages map_pages(int descriptor, std::size_t bytes, bool is_writable);
void unmap_pages(const MappedPages& pages);
bool failed_pages(const MappedPages& pages);

/// Takes disk space for so many bytes now, so that writing to mapped pages cannot fail for lack of
/// it. Returns 0 or the number of the error.
int take_disk_space(int descriptor, std::int64_t bytes);
/// What a user may still write to the file system of an open file; kUnlimitedBytes: not known.
std::int64_t disk_space_left(int descriptor);
/// Whether the file lies in memory and not on a disk (tmpfs).
bool lies_in_memory(int descriptor);

/// Lets the system read a file ahead. A hint: nothing depends on it.
void will_read(int descriptor);

}  // namespace tamis
