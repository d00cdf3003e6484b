// Model files with another header than the writer gave them.
#pragma once

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

namespace tamis::testing {

inline std::string with_header(std::string text, const std::string& arrays = "") {
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + text + arrays;
}

inline std::uint64_t header_length(const std::string& saved) {
  std::uint64_t length = 0;
  std::memcpy(&length, saved.data(), sizeof length);
  return length;
}

inline nlohmann::json header_of(const std::string& saved) {
  return nlohmann::json::parse(saved.substr(8, header_length(saved)));
}

/// The file after `edit` of its header; the arrays stay.
template <typename Edit>
std::string edited(const std::string& saved, const Edit& edit) {
  auto header = header_of(saved);
  edit(header);
  return with_header(header.dump(), saved.substr(8 + header_length(saved)));
}

}  // namespace tamis::testing
