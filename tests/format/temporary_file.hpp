#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace tamis {

/// A path of its own that is removed in the end.
class TemporaryFile {
 public:
  TemporaryFile() {
    static int counter = 0;
    path_ = (std::filesystem::temp_directory_path() /
             ("tamis-test-" + std::to_string(getpid()) + "-" + std::to_string(counter++)))
                .string();
  }
  explicit TemporaryFile(const std::string& content) : TemporaryFile() { write(content); }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }
  void write(const std::string& content) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << content;
  }
  std::string read() const {
    std::ostringstream text;
    text << std::ifstream(path_, std::ios::binary).rdbuf();
    return text.str();
  }

 private:
  std::string path_;
};

}  // namespace tamis
