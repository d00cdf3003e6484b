// A file that is either written completely or not at all.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "io/byte_sink.hpp"
#include "tamis/control.hpp"

namespace tamis {

/// Buffers, checks every write, and puts the file in place with commit(). Until then the bytes go
/// to a temporary name in the same folder, so an older file of that name survives any failure.
/// "-" is standard output. What is no plain file - a pipe, a device, an open descriptor by its name
/// (/dev/stdout, /dev/fd/5) - is written directly. A symbolic link keeps pointing where it did: its
/// target is replaced. Every failure throws IoError with the path and the system's reason.
///
/// A pipe may block for as long as nobody reads it. A signal that interrupts this ends it with
/// Cancelled if RunControl::cancel is set by then; otherwise it goes on waiting.
class OutputFile : public ByteSink {
 public:
  explicit OutputFile(const std::string& path, const RunControl& control = {});
  /// Removes the temporary file unless commit() succeeded.
  ~OutputFile() override;

  using ByteSink::write;
  void write(std::string_view bytes) override;
  /// Flushes to the disk and renames. Call once, last.
  void commit();

 private:
  void open_directly();
  void open_temporary();
  void flush();
  void write_all(std::string_view bytes);
  /// After a call was interrupted by a signal: throws Cancelled, or returns to try again.
  void require_wanted() const;
  void close_now();
  [[noreturn]] void fail(const char* what) const;

  const std::atomic<bool>* cancel_;  // may be null
  std::string path_;                 // as the caller wrote it, for messages
  std::string target_;               // links resolved
  std::string temporary_;            // empty: written directly
  std::string buffer_;
  int fd_ = -1;
  bool borrowed_ = false;  // standard output: not ours to close
};

}  // namespace tamis
