#include "compare/page_frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tamis/version.hpp"

namespace tamis {

// Made at build time from report_page/ and Debian's Chart.js.
namespace report_assets {
extern const std::string_view kpage;
extern const std::string_view kstyle;
extern const std::string_view kstyle_sha256;
extern const std::string_view kchart;
extern const std::string_view kchart_sha256;
extern const std::string_view kframe;
extern const std::string_view kframe_sha256;
extern const std::string_view kcomparison;
extern const std::string_view kcomparison_sha256;
extern const std::string_view kmodel;
extern const std::string_view kmodel_sha256;
}  // namespace report_assets

namespace {

std::string html_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

// Inside a script element nothing may look like the end of it; "<" only occurs within strings.
std::string script_json(const Json& json) {
  const std::string plain = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string result;
  for (const char c : plain) {
    if (c == '<')
      result += "\\u003c";
    else
      result += c;
  }
  return result;
}

// Replaces "@NAME@" of the page once each, in their order in the page.
std::string fill(std::string_view page,
                 const std::vector<std::pair<std::string_view, std::string_view>>& values) {
  std::string result;
  while (true) {
    std::size_t first = std::string_view::npos;
    const std::pair<std::string_view, std::string_view>* chosen = nullptr;
    for (const auto& value : values) {
      const std::size_t at = page.find(value.first);
      if (at >= first) continue;
      first = at;
      chosen = &value;
    }
    if (chosen == nullptr) return result.append(page);
    result.append(page.substr(0, first)).append(chosen->second);
    page.remove_prefix(first + chosen->first.size());
  }
}

// Should a name ever get past the escaping, the browser runs nothing but the page's own scripts,
// and fetches nothing. data: is the icon, without which browsers ask for one.
std::string content_policy(std::string_view script_sha256) {
  return fmt::format(
      "default-src 'none'; script-src 'sha256-{}' 'sha256-{}' 'sha256-{}'; style-src 'sha256-{}'; "
      "img-src data:; base-uri 'none'; form-action 'none'",
      report_assets::kchart_sha256, report_assets::kframe_sha256, script_sha256,
      report_assets::kstyle_sha256);
}

// Two columns of a table of the report, or the row's number and one column.
Json table_curve(const TrainReport& report, std::string_view table, std::string_view x,
                 std::string_view y, double factor) {
  Json points = Json::array();
  for (const ReportTable& one : report.tables) {
    if (one.name != table) continue;
    const auto column = [&](std::string_view name) {
      return static_cast<std::size_t>(std::find(one.columns.begin(), one.columns.end(), name) -
                                      one.columns.begin());
    };
    const std::size_t of_x = column(x);
    const std::size_t of_y = column(y);
    if (of_y == one.columns.size()) continue;
    for (std::size_t r = 0; r < one.rows.size(); ++r) {
      const double at = of_x < one.columns.size() ? one.rows[r][of_x] : static_cast<double>(r + 1);
      points.push_back({number(at), number(factor * one.rows[r][of_y])});
    }
  }
  return points;
}

}  // namespace

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

void add_training(const TrainReport& report,
                  const std::vector<std::pair<std::string, double>>& feature_weights, double factor,
                  Json* json) {
  (*json)["phases"] = Json::array();
  for (const auto& [phase, seconds] : report.phase_seconds)
    (*json)["phases"].push_back({phase, seconds});
  (*json)["convergence"] = table_curve(report, "convergence", "seconds", "gap", 1);
  (*json)["rounds"] = table_curve(report, "rounds", "round", "validation_error", factor);
  (*json)["feature_weights"] = Json::array();
  for (const auto& [column, weight] : feature_weights)
    (*json)["feature_weights"].push_back({column, number(weight)});
}

std::string filled_page(const std::string& title, const Json& json, PageKind kind) {
  const bool is_model = kind == PageKind::model;
  const std::string escaped = html_text(title);
  const std::string data = script_json(json);
  const std::string policy =
      content_policy(is_model ? report_assets::kmodel_sha256 : report_assets::kcomparison_sha256);
  return fill(report_assets::kpage,
              {{"@POLICY@", policy},
               {"@TITLE@", escaped},
               {"@STYLE@", report_assets::kstyle},
               {"@VERSION@", TAMIS_VERSION},
               {"@DATA@", data},
               {"@CHART@", report_assets::kchart},
               {"@FRAME@", report_assets::kframe},
               {"@SCRIPT@", is_model ? report_assets::kmodel : report_assets::kcomparison}});
}

}  // namespace tamis
