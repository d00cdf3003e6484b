#include "axis_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "options.hpp"

namespace tamis::cli {
namespace {

constexpr std::size_t kMostValues = 10000;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
  }
  return parts;
}

double parse_power(const std::string& text) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::size_t hat = text.find('^');
  const double base = parse_real("--grid", text.substr(0, hat), -kInfinity, kInfinity);
  if (hat == std::string::npos) return base;
  return std::pow(base, parse_real("--grid", text.substr(hat + 1), -1000, 1000));
}

}  // namespace

TuneAxis parse_axis(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos)
    throw UsageError(
        fmt::format("--grid is '{}': write OPTION=VALUE,VALUE.. or OPTION=FROM:TO:FACTOR", text));
  TuneAxis axis{text.substr(0, equals), {}};
  const std::vector<std::string> range = split(text.substr(equals + 1), ':');
  if (range.size() == 1) {
    for (const std::string& value : split(range[0], ',')) axis.values.push_back(parse_power(value));
    return axis;
  }
  if (range.size() != 3)
    throw UsageError(fmt::format("--grid is '{}': a range is FROM:TO:FACTOR", text));
  const double from = parse_power(range[0]);
  const double to = parse_power(range[1]);
  const double factor = parse_power(range[2]);
  if (!(from > 0 && to >= from && factor > 1))
    throw UsageError(
        fmt::format("--grid is '{}': a range needs 0 < FROM <= TO and a factor above 1", text));
  // The last value may be beside TO by rounding.
  for (double value = from; value <= to * (1 + 1e-9);
       value = from * std::pow(factor, axis.values.size())) {
    if (axis.values.size() == kMostValues)
      throw UsageError(fmt::format("--grid is '{}': more than {} values", text, kMostValues));
    axis.values.push_back(value);
  }
  return axis;
}

}  // namespace tamis::cli
