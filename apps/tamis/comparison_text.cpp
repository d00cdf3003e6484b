#include "comparison_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tamis/text.hpp"

namespace tamis::cli {
namespace {

using Cells = std::vector<std::string>;

constexpr std::size_t kTableWidth = 80;
// What can be computed from other columns, and goes first where the line is too long.
constexpr std::size_t kRatios[] = {6, 2};

std::string seconds_text(double seconds) {
  if (std::isnan(seconds)) return "";
  return seconds >= 100 ? fmt::format("{:.0f}", seconds) : fmt::format("{:.3g}", seconds);
}

std::string ratio_text(double value, double full) {
  return std::isnan(value) || !(full > 0) ? "" : fmt::format("{:.2f}", value / full);
}

std::string percent_text(double value, double full) {
  if (std::isnan(value) || !(full > 0)) return "";
  const double percent = 100 * value / full;
  return percent >= 10 ? fmt::format("{:.0f} %", percent) : fmt::format("{:.2g} %", percent);
}

std::string count_text(double value) {
  return std::isnan(value) ? "" : fmt::format("{:.0f}", value);
}

std::string error_text(const Comparison& comparison, const ComparisonRow& row) {
  const bool many = row.runs > 1;
  if (comparison.task == Task::regression) {
    return many ? fmt::format("{:.4g} +- {:.2g}", row.error.mean, row.error.deviation)
                : fmt::format("{:.4g}", row.error.mean);
  }
  return many ? fmt::format("{:.2f} +- {:.2f}", 100 * row.error.mean, 100 * row.error.deviation)
              : fmt::format("{:.2f}", 100 * row.error.mean);
}

Cells titles(const Comparison& comparison) {
  return {"method",    comparison.task == Task::regression ? "mse" : "error %",
          "to full",   "SVs",
          "of full's", "train s",
          "of full's", "predict s",
          "model",     "rows used"};
}

Cells result_cells(const Comparison& comparison, const ComparisonRow& row) {
  const ComparisonRow* full = comparison.full();
  const double nan = std::nan("");
  return {row.name,
          error_text(comparison, row),
          ratio_text(row.error.mean, full != nullptr ? full->error.mean : nan),
          count_text(row.support_vectors.mean),
          percent_text(row.full_support_vectors.mean, 1),
          seconds_text(row.train_seconds.mean),
          percent_text(row.train_seconds.mean, full != nullptr ? full->train_seconds.mean : nan),
          seconds_text(row.predict_seconds.mean),
          std::isnan(row.model_bytes.mean)
              ? ""
              : format_bytes(static_cast<std::int64_t>(row.model_bytes.mean)),
          count_text(row.rows_used.mean)};
}

std::string why_not(const ComparisonRow& row) { return "no result: " + row.failure; }

std::string csv_field(std::string text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  for (std::size_t at = text.find('"'); at != std::string::npos; at = text.find('"', at + 2))
    text.insert(at, 1, '"');
  return '"' + text + '"';
}

std::string csv_number(double value) { return std::isnan(value) ? "" : fmt::format("{}", value); }

Json spread_json(const Spread& spread) {
  if (std::isnan(spread.mean)) return nullptr;
  return {{"mean", spread.mean}, {"deviation", spread.deviation}};
}

Json row_json(const Comparison& comparison, const ComparisonRow& row) {
  Json json = Json::object();
  json["name"] = row.name;
  json["method"] = row.method;
  json["parameters"] = row.parameters;
  json["runs"] = row.runs;
  if (!row.failure.empty()) json["failure"] = row.failure;
  if (!row.note.empty()) json["note"] = row.note;
  if (row.runs == 0) return json;
  json[comparison.task == Task::regression ? "mse" : "error_rate"] = spread_json(row.error);
  json["by_run"] = row.errors;
  json["train_seconds"] = spread_json(row.train_seconds);
  json["predict_seconds"] = spread_json(row.predict_seconds);
  json["support_vectors"] = spread_json(row.support_vectors);
  json["full_support_vectors"] = spread_json(row.full_support_vectors);
  json["model_bytes"] = spread_json(row.model_bytes);
  json["rows_used"] = spread_json(row.rows_used);
  for (const auto& [phase, seconds] : row.report.phase_seconds)
    object_in(json, "phase_seconds")[phase] = seconds;
  for (const auto& [name, value] : row.report.details) object_in(json, "details")[name] = value;
  if (const ComparisonRow* full = comparison.full(); full != nullptr) {
    if (full->error.mean > 0) json["error_to_full"] = row.error.mean / full->error.mean;
    json["seconds_to_full"] = row.train_seconds.mean / full->train_seconds.mean;
  }
  return json;
}

}  // namespace

std::string comparison_table(const Comparison& comparison) {
  // Titles of two words take two lines.
  std::vector<Cells> lines(2);
  for (const std::string& title : titles(comparison)) {
    const std::size_t blank = title.find(' ');
    lines[0].push_back(title.substr(0, blank));
    lines[1].push_back(blank == std::string::npos ? "" : title.substr(blank + 1));
  }
  for (const ComparisonRow& row : comparison.rows)
    lines.push_back(row.runs > 0 ? result_cells(comparison, row) : Cells{row.name, why_not(row)});
  std::vector<std::size_t> width(lines[0].size(), 0);
  for (const Cells& cells : lines) {
    const bool is_result = cells.size() == width.size();
    for (std::size_t c = 0; c < (is_result ? width.size() : 1); ++c)
      width[c] = std::max(width[c], cells[c].size());
  }
  std::vector<std::size_t> shown(width.size());
  std::iota(shown.begin(), shown.end(), 0);
  const auto length = [&](std::size_t gap) {
    std::size_t sum = gap * (shown.size() - 1);
    for (const std::size_t c : shown) sum += width[c];
    return sum;
  };
  for (const std::size_t column : kRatios) {
    if (length(1) > kTableWidth) std::erase(shown, column);
  }
  const std::string gap(length(2) > kTableWidth ? 1 : 2, ' ');
  std::string text;
  for (const Cells& cells : lines) {
    std::string line = fmt::format("{:<{}}", cells[0], width[0]);
    if (cells.size() < width.size()) {
      line += "  " + cells[1];
    } else {
      for (const std::size_t c : shown)
        if (c > 0) line += gap + fmt::format("{:>{}}", cells[c], width[c]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  for (const ComparisonRow& row : comparison.rows)
    if (row.runs > 0 && !row.note.empty()) text += fmt::format("{}: {}\n", row.name, row.note);
  text.pop_back();
  return text;
}

std::string comparison_markdown(const Comparison& comparison) {
  Cells head = titles(comparison);
  head.emplace_back("note");
  std::string text = fmt::format("| {} |\n|---", fmt::join(head, " | "));
  for (std::size_t c = 1; c + 1 < head.size(); ++c) text += "|---:";
  text += "|---|\n";
  for (const ComparisonRow& row : comparison.rows) {
    Cells cells = row.runs > 0 ? result_cells(comparison, row) : Cells{row.name};
    cells.resize(head.size() - 1);
    cells.push_back(row.runs > 0 ? row.note : why_not(row));
    for (std::string& cell : cells) {
      for (std::size_t at = cell.find('|'); at != std::string::npos; at = cell.find('|', at + 2))
        cell.insert(at, 1, '\\');
    }
    text += fmt::format("| {} |\n", fmt::join(cells, " | "));
  }
  return text;
}

std::string comparison_csv(const Comparison& comparison) {
  const std::string error = comparison.task == Task::regression ? "mse" : "error_rate";
  std::string text = fmt::format(
      "name,method,runs,{0},{0}_sd,train_seconds,train_seconds_sd,predict_seconds,support_vectors,"
      "full_support_vectors,model_bytes,rows_used,parameters,note\n",
      error);
  for (const ComparisonRow& row : comparison.rows) {
    const bool done = row.runs > 0;
    text += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(row.name), csv_field(row.method),
        row.runs, csv_number(row.error.mean), done ? csv_number(row.error.deviation) : "",
        csv_number(row.train_seconds.mean), done ? csv_number(row.train_seconds.deviation) : "",
        csv_number(row.predict_seconds.mean), csv_number(row.support_vectors.mean),
        csv_number(row.full_support_vectors.mean), csv_number(row.model_bytes.mean),
        csv_number(row.rows_used.mean),
        csv_field(fmt::format("{}", fmt::join(row.parameters, "; "))),
        csv_field(done ? row.note : why_not(row)));
  }
  return text;
}

Json comparison_json(const Comparison& comparison) {
  Json json = Json::object();
  json["task"] = std::string(task_name(comparison.task));
  json["train_rows"] = comparison.train_rows;
  json["test_rows"] = comparison.test_rows;
  json["features"] = comparison.features;
  json["classes"] = comparison.classes;
  json["runs"] = comparison.runs;
  json["interrupted"] = comparison.interrupted;
  for (const ComparisonRow& row : comparison.rows)
    list_in(json, "rows").push_back(row_json(comparison, row));
  return json;
}

}  // namespace tamis::cli
