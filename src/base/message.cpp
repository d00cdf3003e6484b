#include "base/message.hpp"

namespace tamis {

void MessageWriter::put_bytes(std::span<const std::byte> bytes) {
  message_.insert(message_.end(), bytes.begin(), bytes.end());
}

}  // namespace tamis
