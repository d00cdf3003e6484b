#include "tamis/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/edit_distance.hpp"
#include "tamis/error.hpp"

namespace tamis {

std::string format_bytes(std::int64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 4) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, unit == 0 || value >= 100 ? 0 : 1, kUnits[unit]);
}

std::int64_t parse_bytes(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  if (unit.ends_with("iB"))
    unit.remove_suffix(2);
  else if (unit.size() == 2 && unit.ends_with('B'))
    unit.remove_suffix(1);
  double factor = 0;
  if (unit.empty() || unit == "B") factor = 1;
  if (unit == "K" || unit == "k") factor = 0x1p10;
  if (unit == "M" || unit == "m") factor = 0x1p20;
  if (unit == "G" || unit == "g") factor = 0x1p30;
  if (unit == "T" || unit == "t") factor = 0x1p40;
  const double bytes = value * factor;
  if (error != std::errc() || factor == 0 || !(bytes >= 1) || bytes > 0x1p62) {
    throw InvalidArgument(
        fmt::format("'{}' is not a size: give a number with K, M, G or T, for example 4G", text));
  }
  return static_cast<std::int64_t>(bytes);
}

std::string counted(std::int64_t count, std::string_view one, std::string_view many) {
  if (count == 1) return fmt::format("1 {}", one);
  if (!many.empty()) return fmt::format("{} {}", count, many);
  return fmt::format("{} {}{}", count, one, one.ends_with('s') ? "es" : "s");
}

int edit_distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<int> cost((a.size() + 1) * width);
  const auto at = [&](std::size_t i, std::size_t j) -> int& { return cost[i * width + j]; };
  for (std::size_t i = 0; i <= a.size(); ++i) at(i, 0) = static_cast<int>(i);
  for (std::size_t j = 0; j <= b.size(); ++j) at(0, j) = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replace = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
      at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
    }
  }
  return at(a.size(), b.size());
}

std::string_view nearest_name(std::string_view text, std::span<const std::string_view> known) {
  if (text.size() > 64) return {};  // no slip of the keys, and the table grows with its length
  std::string_view nearest;
  int smallest = static_cast<int>(text.size()) / 3 + 2;  // exclusive
  for (const std::string_view name : known) {
    // A name typed only in part is a better guess than its edit distance says.
    const bool is_start = text.size() >= 3 && name.starts_with(text);
    const int distance = is_start ? 1 : edit_distance(text, name);
    if (distance < smallest && distance < static_cast<int>(name.size())) {
      smallest = distance;
      nearest = name;
    }
  }
  return nearest;
}

}  // namespace tamis
