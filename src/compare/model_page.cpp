// The report page of one model.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "compare/page_frame.hpp"
#include "tamis/report_page.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;  // name and value

constexpr std::size_t kMostInMatrix = 30;    // classes of a confusion matrix
constexpr std::size_t kMostConfusions = 50;  // listed in its place
constexpr std::size_t kMostListed = 200;     // classes of the table of classes

std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

std::string plain(double value) { return fmt::format("{:.6g}", value); }

bool is_regression(const ModelReport& report) { return report.evaluation.task == Task::regression; }

// The classes, those with the most rows first, then in their order.
std::vector<std::size_t> largest_classes(const Evaluation& evaluation) {
  std::vector<std::size_t> order(evaluation.classes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return evaluation.classes[a].rows > evaluation.classes[b].rows;
  });
  return order;
}

Json classes_json(const Evaluation& evaluation) {
  std::vector<std::size_t> shown = largest_classes(evaluation);
  shown.resize(std::min(shown.size(), kMostListed));
  std::sort(shown.begin(), shown.end());
  Json list = Json::array();
  for (const std::size_t c : shown) {
    const ClassScore& score = evaluation.classes[c];
    list.push_back({{"label", score.label},
                    {"rows", score.rows},
                    {"predicted", score.predicted},
                    {"correct", score.correct},
                    {"precision", score.predicted > 0 ? Json(score.precision) : Json(nullptr)},
                    {"recall", score.rows > 0 ? Json(score.recall) : Json(nullptr)}});
  }
  return list;
}

Json matrix_json(const Evaluation& evaluation) {
  const std::size_t k = evaluation.classes.size();
  Json lines = Json::array();
  for (std::size_t i = 0; i < k; ++i) {
    Json line = Json::array();
    for (std::size_t j = 0; j < k; ++j) line.push_back(evaluation.confusion[i * k + j]);
    lines.push_back(std::move(line));
  }
  return lines;
}

// Too many classes for a matrix: the pairs that are confused most often.
Json confusions_json(const Evaluation& evaluation) {
  const std::size_t k = evaluation.classes.size();
  std::vector<std::size_t> pairs;
  for (std::size_t at = 0; at < k * k; ++at) {
    if (at / k != at % k && evaluation.confusion[at] > 0) pairs.push_back(at);
  }
  std::stable_sort(pairs.begin(), pairs.end(), [&](std::size_t a, std::size_t b) {
    return evaluation.confusion[a] > evaluation.confusion[b];
  });
  pairs.resize(std::min(pairs.size(), kMostConfusions));
  Json list = Json::array();
  for (const std::size_t at : pairs)
    list.push_back({evaluation.classes[at / k].label, evaluation.classes[at % k].label,
                    evaluation.confusion[at]});
  return list;
}

Json points_json(const std::vector<CurvePoint>& points) {
  Json list = Json::array();
  for (const CurvePoint& point : points) list.push_back({number(point.x), number(point.y)});
  return list;
}

Json curves_json(const std::vector<ClassCurves>& curves) {
  Json list = Json::array();
  for (const ClassCurves& one : curves) {
    Json bins = Json::array();
    for (const CalibrationBin& bin : one.calibration)
      bins.push_back({bin.low, bin.high, bin.rows, number(bin.mean_probability), bin.frequency});
    list.push_back({{"label", one.label},
                    {"rows", one.rows},
                    {"others", one.others},
                    {"roc", points_json(one.roc)},
                    {"roc_area", number(one.roc_area)},
                    {"precision", points_json(one.precision)},
                    {"average_precision", number(one.average_precision)},
                    {"calibration", std::move(bins)},
                    {"calibration_error", number(one.calibration_error)}});
  }
  return list;
}

Json residuals_json(const Residuals& residuals) {
  return {{"low", number(residuals.low)},
          {"high", number(residuals.high)},
          {"histogram", residuals.histogram},
          {"sample", points_json(residuals.sample)}};
}

// As shown: percent, or the root of the mean squared error.
double shown_error(const ModelReport& report, double error) {
  return is_regression(report) ? std::sqrt(error) : 100 * error;
}

Json learning_json(const ModelReport& report) {
  Json list = Json::array();
  for (const LearningPoint& point : report.learning) {
    Json json = {{"rows", point.rows}, {"failure", point.failure}};
    const bool is_there = point.failure.empty();
    json["error"] = is_there ? number(shown_error(report, point.error)) : Json(nullptr);
    json["training_error"] =
        is_there ? number(shown_error(report, point.training_error)) : Json(nullptr);
    json["seconds"] = is_there ? number(point.train_seconds) : Json(nullptr);
    list.push_back(std::move(json));
  }
  return list;
}

void add_common_measures(const ModelReport& report, Rows* rows) {
  if (!report.training_error) return;
  rows->emplace_back("error on the training rows (optimistic)",
                     is_regression(report) ? plain(std::sqrt(*report.training_error)) + " (RMSE)"
                                           : percent(*report.training_error));
}

Rows measures(const ModelReport& report) {
  const Evaluation& found = report.evaluation;
  Rows rows{{"rows measured", fmt::to_string(found.rows)}};
  if (is_regression(report)) {
    rows.emplace_back("root mean squared error (RMSE)", plain(std::sqrt(found.mse)));
    rows.emplace_back("mean absolute error (MAE)", plain(found.mae));
    rows.emplace_back("coefficient of determination (R2)", plain(found.r2));
    add_common_measures(report, &rows);
    return rows;
  }
  rows.emplace_back("errors", fmt::to_string(found.errors));
  rows.emplace_back("error rate", percent(found.error_rate));
  const ErrorInterval interval = error_interval(found.errors, found.rows);
  rows.emplace_back("95 % confidence interval",
                    fmt::format("{} to {}", percent(interval.low), percent(interval.high)));
  add_common_measures(report, &rows);
  if (found.has_probabilities) {
    rows.emplace_back("log loss", plain(found.log_loss));
    rows.emplace_back("Brier score", plain(found.brier));
  }
  return rows;
}

Rows training_facts(const TrainReport& training) {
  Rows rows{{"method", training.method},
            {"training rows", fmt::to_string(training.rows)},
            {"features", fmt::to_string(training.features)}};
  if (training.classes > 0) rows.emplace_back("classes", fmt::to_string(training.classes));
  rows.emplace_back("binary SVMs", fmt::to_string(training.machines));
  rows.emplace_back("support vectors", fmt::to_string(training.support_vectors));
  rows.emplace_back("of these at their upper bound",
                    fmt::to_string(training.bounded_support_vectors));
  rows.emplace_back("stopped", std::string(stop_reason_name(training.stop_reason)));
  rows.emplace_back("dual objective", plain(training.objective));
  rows.emplace_back("duality gap", plain(training.gap));
  rows.emplace_back("largest KKT violation", plain(training.violation));
  rows.emplace_back("iterations", fmt::to_string(training.iterations));
  rows.emplace_back("kernel values computed", fmt::to_string(training.kernel_evaluations));
  rows.emplace_back("kernel values from the cache", fmt::to_string(training.cached_evaluations));
  rows.emplace_back("seconds", fmt::format("{:.4g}", training.train_seconds));
  rows.emplace_back("peak memory", format_bytes(training.peak_memory_bytes));
  for (const auto& [name, value] : training.details) {
    std::string words = name;
    std::replace(words.begin(), words.end(), '_', ' ');
    rows.emplace_back(words, plain(value));
  }
  return rows;
}

std::vector<std::string> short_words(const ModelReport& report) {
  const Evaluation& found = report.evaluation;
  std::vector<std::string> lines;
  if (is_regression(report)) {
    lines.push_back(
        fmt::format("Root mean squared error {:.4g}, mean absolute error {:.4g}, R2 {:.4f} on {}.",
                    std::sqrt(found.mse), found.mae, found.r2, counted(found.rows, "row")));
  } else {
    const ErrorInterval interval = error_interval(found.errors, found.rows);
    lines.push_back(fmt::format(
        "Error rate {} on {} ({}): between {} and {} on new rows of the same kind, at a "
        "confidence of 95 %.",
        percent(found.error_rate), counted(found.rows, "row"), counted(found.errors, "error"),
        percent(interval.low), percent(interval.high)));
    const std::vector<std::size_t> largest = largest_classes(found);
    if (!largest.empty()) {
      const ClassScore& most = found.classes[largest[0]];
      lines.push_back(fmt::format(
          "A model that always answers {} would have an error rate of {} on these rows.",
          most.label,
          percent(1 - static_cast<double>(most.rows) / static_cast<double>(found.rows))));
    }
  }
  lines.push_back(report.measured_on);
  if (report.training) {
    for (const std::string& warning : report.training->warnings)
      lines.push_back("Warning: " + warning + ".");
  }
  return lines;
}

Json rows_json(const Rows& rows) {
  Json list = Json::array();
  for (const auto& [name, value] : rows) list.push_back({name, value});
  return list;
}

}  // namespace

std::string report_page(const std::string& title, const ModelReport& report) {
  const Evaluation& found = report.evaluation;
  const bool regression = is_regression(report);
  Json json = Json::object();
  json["error_title"] = regression ? "RMSE" : "error, %";
  json["facts"] = fmt::format("{}: {}.", report.method, report.model);
  json["summary"] = short_words(report);
  json["measures"] = rows_json(measures(report));
  json["regression"] = regression;
  if (regression) {
    json["residuals"] = residuals_json(report.residuals);
  } else {
    json["num_classes"] = found.classes.size();
    json["classes"] = classes_json(found);
    if (found.classes.size() <= kMostInMatrix)
      json["matrix"] = matrix_json(found);
    else
      json["confusions"] = confusions_json(found);
    json["curves"] = curves_json(report.curves);
    json["has_probabilities"] = found.has_probabilities;
  }
  json["learning"] = learning_json(report);
  json["name"] = report.method;
  json["training"] = report.training ? rows_json(training_facts(*report.training)) : Json::array();
  json["remarks"] = report.training ? Json(report.training->remarks) : Json::array();
  add_training(report.training.value_or(TrainReport()), report.feature_weights,
               regression ? 1 : 100, &json);
  return filled_page(title, json, PageKind::model);
}

}  // namespace tamis
