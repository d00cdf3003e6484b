// Any small problem with any options is trained or refused. A model is finite, predicts its own
// training rows, is the same after it was written, and does not depend on the number of threads.
//
// The input is a list of choices: method, shape and kind of the data, options with values, rows.
#include <chrono>

#include "model_checks.hpp"
#include "random_problem.hpp"
#include "tamis/train.hpp"

namespace {

using namespace tamis;

// Runs are stopped here, and results that may have been cut short are not compared.
constexpr double kMaxSeconds = 2;
// Where the work is cut short by a count, results are the same again.
constexpr std::int64_t kMaxIterations = 2000;

struct Timed {
  TrainResult result;
  double seconds = 0;
};

Timed timed_train(const Dataset& data, const TrainOptions& options, int threads) {
  const auto start = std::chrono::steady_clock::now();
  RunControl control;
  control.threads = threads;
  control.memory_bytes = std::int64_t{4} << 30;  // a sanitizer's own memory counts
  Timed timed{train(data, options, control), 0};
  timed.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return timed;
}

void require_of(const fuzz::Problem& problem, bool holds, const std::string& what) {
  if (!holds) fuzz::fail(what + ": " + fuzz::describe(problem));
}

void check_report(const fuzz::Problem& problem, const TrainReport& report) {
  const Index rows = problem.data.rows();
  // A time limit may end the training before these are known.
  const bool known = report.stop_reason != StopReason::time_limit;
  require_of(problem, !known || std::isfinite(report.objective), "the objective is not finite");
  require_of(problem, !known || std::isfinite(report.violation), "the violation is not finite");
  require_of(problem, report.rows >= 0 && report.rows <= rows, "rows of the report");
  for (const Index row : report.support_rows)
    require_of(problem, row >= 0 && row < rows, "a support row is not a row");
}

// Training does not look at rows of weight 0: they need not be predictable.
std::vector<Index> weighing_rows(const Dataset& data) {
  std::vector<Index> rows;
  for (Index i = 0; i < data.rows(); ++i) {
    if (data.weight(i) != 0) rows.push_back(i);
  }
  return rows;
}

void check_model(const fuzz::Problem& problem, const Model& model) {
  try {
    const Matrix rows =
        rows_for(model, problem.data).features().select(weighing_rows(problem.data));
    const DecisionValues values = fuzz::check_predictions(model, rows);
    for (const double value : values.values)
      require_of(problem, std::isfinite(value), "a decision value is not finite");
    fuzz::check_round_trip(model, rows, values);
  } catch (const Error& error) {
    require_of(problem, false, std::string("training rows are not predicted: ") + error.what());
  }
}

void check_problem(const fuzz::Problem& problem) {
  const Timed one = timed_train(problem.data, problem.options, 1);
  check_report(problem, one.result.report);
  check_model(problem, one.result.model);
  if (problem.options.method == kAutoMethod) return;  // times decide there
  const Timed two = timed_train(problem.data, problem.options, 2);
  const auto was_limited = [&](const Timed& run) {
    return run.result.report.stop_reason == StopReason::time_limit ||
           run.seconds > problem.options.max_seconds / 2;
  };
  if (was_limited(one) || was_limited(two)) return;
  require_of(problem, model_to_bytes(one.result.model) == model_to_bytes(two.result.model),
             "another model with two threads");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::ByteReader in(data, size);
  try {
    fuzz::Problem problem = fuzz::take_problem(in);
    TrainOptions& options = problem.options;
    if (options.max_seconds == 0 || options.max_seconds > kMaxSeconds)
      options.max_seconds = options.method == kAutoMethod ? 0.2 : kMaxSeconds;
    if (options.max_iterations == 0) options.max_iterations = kMaxIterations;
    check_problem(problem);
  } catch (const Error&) {
  }
  return 0;
}
