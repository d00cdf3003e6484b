#include "heat_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tamis::cli {
namespace {

constexpr std::size_t kMapWidth = 80;
constexpr std::size_t kCell = 9;
// Colors of the 256-color palette from the best to the worst: dark green to dark red.
constexpr int kShades[] = {22, 28, 64, 100, 136, 130, 124, 88};

// 0 for the lowest error, 1 for the highest; by rank, because the errors of bad points drown those
// of good ones.
std::vector<double> ranks(const TuneResult& result) {
  std::vector<double> errors;
  for (const TunePoint& point : result.points) {
    if (!std::isnan(point.error)) errors.push_back(point.error);
  }
  std::sort(errors.begin(), errors.end());
  std::vector<double> ranks;
  for (const TunePoint& point : result.points) {
    const auto below = std::lower_bound(errors.begin(), errors.end(), point.error) - errors.begin();
    ranks.push_back(static_cast<double>(below) /
                    static_cast<double>(std::max<std::size_t>(1, errors.size() - 1)));
  }
  return ranks;
}

std::string cell_text(const TunePoint& point, Task task, bool is_best) {
  const std::string text = std::isnan(point.error)    ? "-"
                           : task == Task::regression ? fmt::format("{:.3g}", point.error)
                                                      : fmt::format("{:.2f}", 100 * point.error);
  return is_best ? "[" + text + "]" : text + (point.dropped ? "*" : " ");
}

// kCell, or just what the texts need where `room` is too narrow for all columns of kCell.
std::size_t cell_width(const std::vector<std::string>& cells, const std::vector<double>& across,
                       std::size_t room) {
  if (across.size() * kCell <= room) return kCell;
  std::size_t widest = 0;
  for (const std::string& cell : cells) widest = std::max(widest, cell.size());
  for (const double value : across) widest = std::max(widest, axis_value_text(value).size() + 1);
  return widest + 1;
}

std::string without_trailing_blanks(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n') result.erase(result.find_last_not_of(' ') + 1);
    result += c;
  }
  return result.erase(result.find_last_not_of(' ') + 1);
}

}  // namespace

std::string axis_value_text(double value) {
  const double power = value > 0 ? std::log2(value) : 0.5;
  if (std::abs(power - std::round(power)) < 1e-9 && std::abs(power) > 3)
    return fmt::format("2^{:.0f}", power);
  return fmt::format("{:.3g}", value);
}

std::string heat_map(const TuneResult& result, Task task, bool color) {
  if (result.axes.size() != 2) return "";
  const auto& down = result.axes[0].values;
  const auto& across = result.axes[1].values;
  if (result.points.size() != down.size() * across.size()) return "";
  std::vector<std::size_t> order(down.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return down[a] > down[b]; });
  const std::vector<double> rank = ranks(result);
  const std::string corner = result.axes[0].option + " \\ " + result.axes[1].option;
  const std::size_t left = std::max<std::size_t>(corner.size(), 8);
  std::vector<std::string> cells;
  for (std::size_t p = 0; p < result.points.size(); ++p)
    cells.push_back(cell_text(result.points[p], task, p == result.best));
  const std::size_t cell = cell_width(cells, across, kMapWidth - std::min(kMapWidth, left));
  // Blocks of columns, about equally wide.
  const std::size_t most = std::max<std::size_t>(1, (kMapWidth - std::min(kMapWidth, left)) / cell);
  const std::size_t blocks = (across.size() + most - 1) / most;
  std::string text;
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::size_t first = b * across.size() / blocks;
    const std::size_t last = (b + 1) * across.size() / blocks;
    text += fmt::format("{}{:>{}}", b > 0 ? "\n\n" : "", corner, left);
    for (std::size_t a = first; a < last; ++a)
      text += fmt::format("{:>{}}", axis_value_text(across[a]) + " ", cell);
    for (const std::size_t d : order) {
      text += fmt::format("\n{:>{}}", axis_value_text(down[d]), left);
      for (std::size_t p = d * across.size() + first; p < d * across.size() + last; ++p) {
        const std::string padded = fmt::format("{:>{}}", cells[p], cell);
        const auto shade =
            static_cast<std::size_t>(std::lround(rank[p] * (std::size(kShades) - 1)));
        text += color && !std::isnan(result.points[p].error)
                    ? fmt::format("\033[97;48;5;{}m{}\033[0m", kShades[shade], padded)
                    : padded;
      }
    }
  }
  return without_trailing_blanks(text);
}

}  // namespace tamis::cli
