#include "tamis/model_report.hpp"

#include <algorithm>

#include "compare/feature_weights.hpp"
#include "selection/mapped_training.hpp"
#include "selection/run_training.hpp"
#include "tamis/error.hpp"
#include "tamis/predict.hpp"
#include "tamis/split.hpp"

namespace tamis {
namespace {

constexpr Index kLeastRows = 20;
constexpr int kHalvings = 4;

double error_of(const Evaluation& evaluation) {
  return evaluation.task == Task::regression ? evaluation.mse : evaluation.error_rate;
}

// Predicting every training row can take as long as the training.
double training_error_of(const Model& model, const Dataset& train, const RunControl& control) {
  constexpr Index kMostRows = 10'000;
  if (train.rows() <= kMostRows) return error_of(evaluate(model, train, control));
  const double share = static_cast<double>(kMostRows) / static_cast<double>(train.rows());
  return error_of(evaluate(model, split_dataset(train, share, model.task()).test, control));
}

LearningPoint learning_point(const Model& model, const Dataset& train, const Dataset& test,
                             const RunControl& control) {
  LearningPoint point;
  point.rows = train.rows();
  point.error = error_of(evaluate(model, test, control));
  point.training_error = training_error_of(model, train, control);
  return point;
}

// A part may be too small for the method: its point says so.
LearningPoint trained_point(const Dataset& train, const Dataset& test, const TrainOptions& options,
                            const RunControl& control) {
  try {
    const TrainResult result = train_mapped(train, options, control, [&](const Dataset& rows) {
      return run_training(rows, options, control);
    });
    if (result.report.stop_reason == StopReason::interrupted) throw Cancelled();
    LearningPoint point = learning_point(result.model, train, test, control);
    point.train_seconds = result.report.train_seconds;
    return point;
  } catch (const InvalidArgument& error) {
    LearningPoint point;
    point.rows = train.rows();
    point.failure = error.what();
    return point;
  }
}

}  // namespace

std::vector<LearningPoint> learning_curve(const Dataset& train, const Dataset& test,
                                          const TrainOptions& options, const Model& whole,
                                          const RunControl& control) {
  options.validate();
  RunControl own = control;
  own.checkpoint = nullptr;  // of another training, as the remarks
  own.on_remark = nullptr;
  std::vector<LearningPoint> points{learning_point(whole, train, test, own)};
  Dataset part = train;
  for (int h = 1; h <= kHalvings && part.rows() >= 2 * kLeastRows; ++h) {
    part =
        split_dataset(part, 0.5, options.task, options.seed + static_cast<std::uint64_t>(h)).train;
    points.push_back(trained_point(part, test, options, own));
  }
  std::reverse(points.begin(), points.end());
  return points;
}

void describe_model(const Model& model, ModelReport* report) {
  report->model = model.describe();
  report->method = model.method();
  report->features = model.num_features();
  report->feature_weights = largest_weights(model);
}

ModelReport measure_model(const Model& model, const Dataset& given, const Dataset* trained_on,
                          const RunControl& control) {
  if (given.labels().empty()) throw DataError("the data has no labels to evaluate against");
  const Dataset data = rows_for(model, given, control);
  const DecisionValues values = decision_values(model, data.features(), control);
  ModelReport report;
  report.evaluation = evaluate(model, data, values, control);
  report.curves = class_curves(model, data, values, control);
  report.residuals = residuals(model, data, values);
  describe_model(model, &report);
  if (trained_on != nullptr) report.training_error = training_error_of(model, *trained_on, control);
  return report;
}

}  // namespace tamis
