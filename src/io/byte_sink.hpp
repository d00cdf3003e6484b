// Where a writer puts its bytes: a file (output_file.hpp), or memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tamis {

class ByteSink {
 public:
  ByteSink() = default;
  virtual ~ByteSink() = default;
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;

  virtual void write(std::string_view bytes) = 0;
  void write(const void* data, std::size_t size) {
    write(std::string_view(static_cast<const char*>(data), size));
  }
};

class MemorySink : public ByteSink {
 public:
  using ByteSink::write;
  void write(std::string_view bytes) override { bytes_.append(bytes); }
  std::string release() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace tamis
