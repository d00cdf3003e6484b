#include "tamis/report_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "compare/page_frame.hpp"
#include "tamis/text.hpp"

namespace tamis {

namespace {

Json regions_json(const DecisionRegions& regions) {
  Json json = Json::object();
  json["width"] = regions.width;
  json["height"] = regions.height;
  json["low"] = regions.low;
  json["high"] = regions.high;
  json["classes"] = regions.classes;
  Json& vectors = json["support_vectors"] = Json::array();
  for (const auto& [x, y] : regions.support_vectors) vectors.push_back({x, y});
  return json;
}

Json row_json(const ComparisonRow& row, double factor) {
  Json json = Json::object();
  json["name"] = row.name;
  json["method"] = row.method;
  json["runs"] = row.runs;
  json["why"] = row.runs == 0 ? "no result: " + row.failure : row.note;
  json["parameters"] = row.parameters;
  json["error"] = number(factor * row.error.mean);
  json["error_sd"] = number(factor * row.error.deviation);
  json["support_vectors"] = number(row.support_vectors.mean);
  json["full_support_vectors"] = number(row.full_support_vectors.mean);
  json["train_seconds"] = number(row.train_seconds.mean);
  json["predict_seconds"] = number(row.predict_seconds.mean);
  json["model_bytes"] = number(row.model_bytes.mean);
  json["rows_used"] = number(row.rows_used.mean);
  json["errors"] = Json::array();
  for (const double error : row.errors) json["errors"].push_back(factor * error);
  json["seconds"] = row.seconds;
  add_training(row.report, row.feature_weights, factor, &json);
  if (!row.regions.classes.empty()) json["regions"] = regions_json(row.regions);
  return json;
}

Json tuning_json(const TuneResult& search, double factor) {
  if (search.axes.size() != 2) return nullptr;
  const auto& down = search.axes[0].values;
  const auto& across = search.axes[1].values;
  if (search.points.size() != down.size() * across.size()) return nullptr;
  std::vector<std::size_t> order(down.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return down[a] > down[b]; });
  Json json = Json::object();
  json["across"] = {{"name", search.axes[1].option}, {"values", across}};
  Json values = Json::array();
  json["cells"] = Json::array();
  json["dropped"] = Json::array();
  for (std::size_t r = 0; r < order.size(); ++r) {
    values.push_back(down[order[r]]);
    Json line = Json::array();
    for (std::size_t c = 0; c < across.size(); ++c) {
      const std::size_t p = order[r] * across.size() + c;
      line.push_back(number(factor * search.points[p].error));
      if (p == search.best) json["best"] = {r, c};
      if (search.points[p].dropped) json["dropped"].push_back(r * across.size() + c);
    }
    json["cells"].push_back(std::move(line));
  }
  json["down"] = {{"name", search.axes[0].option}, {"values", std::move(values)}};
  json["hint"] = fmt::format(
      "Error in {}-fold cross-validation on {} ({:.3g} s); green is low, the best is framed.{}",
      search.folds, counted(search.rows, "row"), search.seconds,
      json["dropped"].empty() ? "" : " *: dropped after the first folds, which the error is of.");
  return json;
}

std::string facts(const Comparison& comparison) {
  return fmt::format(
      "{}, {}, {}{}{}.", counted(comparison.train_rows, "training row"),
      counted(comparison.test_rows, "test row"), counted(comparison.features, "feature"),
      comparison.classes.empty() ? ", a regression"
                                 : ", " + counted(comparison.classes.size(), "class"),
      comparison.runs > 1 ? fmt::format("; {} runs of each method", comparison.runs) : "");
}

std::string best_values(const TuneResult& search) {
  std::string text;
  for (std::size_t a = 0; a < search.axes.size(); ++a)
    text += fmt::format("{}{} {:.4g}", a == 0 ? "" : ", ", search.axes[a].option,
                        search.points[search.best].values[a]);
  return text;
}

std::string seconds_text(double seconds) { return fmt::format("{:.3g} s", seconds); }

// The quickest among those that are as good as the best, as far as so many test rows can tell.
const ComparisonRow* recommended(const Comparison& comparison) {
  const ComparisonRow* best = nullptr;
  for (const ComparisonRow& row : comparison.rows) {
    if (row.runs > 0 && (best == nullptr || row.error.mean < best->error.mean)) best = &row;
  }
  if (best == nullptr) return nullptr;
  double margin = 0.02 * best->error.mean;
  if (comparison.task == Task::classification) {
    const double e = best->error.mean;
    margin = std::max(margin, std::sqrt(e * (1 - e) / static_cast<double>(comparison.test_rows)));
  }
  const ComparisonRow* chosen = best;
  for (const ComparisonRow& row : comparison.rows) {
    if (row.runs > 0 && row.method != "libsvm" && row.error.mean <= best->error.mean + margin &&
        row.train_seconds.mean < chosen->train_seconds.mean)
      chosen = &row;
  }
  return chosen;
}

}  // namespace

std::vector<std::string> summary(const Comparison& comparison) {
  const bool is_regression = comparison.task == Task::regression;
  const auto error = [&](const ComparisonRow& row) {
    return is_regression ? fmt::format("a mean squared error of {:.4g}", row.error.mean)
                         : fmt::format("an error of {:.2f} %", 100 * row.error.mean);
  };
  const ComparisonRow* use = recommended(comparison);
  if (use == nullptr) return {"No method gave a result; the table says why."};
  std::vector<std::string> lines;
  lines.push_back(fmt::format("Use {}: {} on new rows after {} of training.", use->name,
                              error(*use), seconds_text(use->train_seconds.mean)));
  const ComparisonRow* lowest = use;
  for (const ComparisonRow& row : comparison.rows) {
    if (row.runs > 0 && row.error.mean < lowest->error.mean) lowest = &row;
  }
  if (lowest != use) {
    lines.push_back(fmt::format("{} has {}, which {} cannot tell from it, and takes {} to train.",
                                lowest->name, error(*lowest),
                                counted(comparison.test_rows, "test row"),
                                seconds_text(lowest->train_seconds.mean)));
  }
  const ComparisonRow* full = comparison.full();
  if (full != nullptr && full != use && full != lowest) {
    lines.push_back(fmt::format("The exact SVM has {} after {}.", error(*full),
                                seconds_text(full->train_seconds.mean)));
  }
  for (const ComparisonRow& row : comparison.rows) {
    if (row.runs == 0)
      lines.push_back(fmt::format("{} gave no result: {}.", row.name, row.failure));
  }
  if (comparison.interrupted)
    lines.emplace_back("The comparison was interrupted: what had finished by then is shown.");
  return lines;
}

std::string report_page(const std::string& title, const Comparison* comparison,
                        const TuneResult* search) {
  const bool is_regression = comparison != nullptr
                                 ? comparison->task == Task::regression
                                 : search != nullptr && search->options.task == Task::regression;
  const double factor = is_regression ? 1 : 100;
  Json json = Json::object();
  json["error_title"] = is_regression ? "mean squared error" : "error, %";
  json["error_digits"] = is_regression ? 4 : 2;
  json["facts"] = "";
  json["summary"] = Json::array();
  json["rows"] = Json::array();
  json["sample"] = Json::array();
  if (comparison != nullptr) {
    json["facts"] = facts(*comparison);
    json["summary"] = summary(*comparison);
    for (const ComparisonRow& row : comparison->rows) json["rows"].push_back(row_json(row, factor));
    for (std::size_t i = 0; i < comparison->sample.size(); ++i)
      json["sample"].push_back({comparison->sample[i].first, comparison->sample[i].second,
                                comparison->sample_classes[i]});
  }
  if (search != nullptr) {
    json["summary"].push_back(
        fmt::format("Best parameters found: {}, with {} of {:.4g}{} in cross-validation.",
                    best_values(*search), is_regression ? "a mean squared error" : "an error",
                    factor * search->points[search->best].error, is_regression ? "" : " %"));
    if (Json tuning = tuning_json(*search, factor); !tuning.is_null())
      json["tuning"] = std::move(tuning);
  }
  return filled_page(title, json, PageKind::comparison);
}

}  // namespace tamis
