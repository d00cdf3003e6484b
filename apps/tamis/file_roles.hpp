// Which files a command reads and writes, and that none of them is another one by mistake.
#pragma once

#include <string>
#include <vector>

#include "tamis/io.hpp"

namespace tamis::cli {

/// Collects the files of a command line by what they are called there ("DATA", "--output"). Empty
/// paths are left out.
class FileRoles {
 public:
  FileRoles& reads(const std::string& role, const std::string& path);
  /// Data, with the labels if these are a file of their own.
  FileRoles& reads(const std::string& role, const std::string& path, const ReadOptions& read);
  /// `replaces` is the role of an input that the output may be, to update it in place.
  FileRoles& writes(const std::string& role, const std::string& path,
                    const std::string& replaces = "");
  FileRoles& writes(const std::string& role, const std::string& path, const WriteOptions& write,
                    const std::string& replaces = "");

  /// Throws UsageError if an output is an input or another output. Links and other spellings of a
  /// path are seen through; pipes and devices may be named twice.
  const FileRoles& require_distinct() const;
  /// Throws IoError for an output that cannot be written as things are: its folder is missing or
  /// write-protected, or it is a folder. For commands that would find out hours later.
  void require_writable() const;

 private:
  struct Entry {
    std::string role;
    std::string path;
    bool is_output = false;
    std::string replaces;
  };

  FileRoles& add(const Entry& entry);

  std::vector<Entry> entries_;
};

}  // namespace tamis::cli
