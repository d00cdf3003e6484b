#include "tamis/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>
#include <unordered_set>

#include "base/checked.hpp"
#include "base/clock.hpp"
#include "compare/feature_weights.hpp"
#include "compare/plan_progress.hpp"
#include "compare/regions.hpp"
#include "model/model_parts.hpp"
#include "selection/mapped_training.hpp"
#include "selection/run_training.hpp"
#include "tamis/error.hpp"
#include "tamis/evaluate.hpp"
#include "tamis/io.hpp"
#include "tamis/split.hpp"
#include "tamis/text.hpp"
#include "tamis/train.hpp"

namespace tamis {
namespace {

constexpr Index kSampleRows = 600;  // dots in the picture of the data

// The rows of a matrix as texts of their bytes.
std::unordered_set<std::string> row_keys(const Matrix& rows) {
  std::unordered_set<std::string> keys;
  std::vector<float> values(usize(rows.cols()));
  for (Index i = 0; i < rows.rows(); ++i) {
    rows.copy_row(i, values);
    keys.emplace(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  }
  return keys;
}

// Support vectors of the full machine in each run, to recognise them in other models.
struct FullMachine {
  std::unordered_set<std::string> keys;
  Scaling scaling;

  // Share of these that are support vectors of the model too; NaN when that cannot be told.
  double share_in(const Model& model) const {
    const Matrix points = machine_of(model).support_points();
    if (keys.empty() || points.rows() == 0 || scaling != model.scaling()) return std::nan("");
    Index found = 0;
    for (const std::string& key : row_keys(points)) found += keys.contains(key) ? 1 : 0;
    return static_cast<double>(found) / static_cast<double>(keys.size());
  }
};

// What the runs of a method measured.
struct Measured {
  std::vector<double> predict_seconds;
  std::vector<double> support_vectors;
  std::vector<double> full_support_vectors;
  std::vector<double> model_bytes;
  std::vector<double> rows_used;
};

double detail(const TrainReport& report, std::string_view name, double otherwise) {
  for (const auto& [known, value] : report.details) {
    if (known == name) return value;
  }
  return otherwise;
}

// What the user set, or the method chose, in words.
std::vector<std::string> parameters_of(const TrainOptions& options) {
  const TrainOptions defaults;
  std::vector<std::string> texts;
  for (const OptionDescription& option : train_option_table()) {
    const std::string value = option.text(options);
    if (option.name == "method" || option.name == "seed" || value == option.text(defaults))
      continue;
    if (applies_to(option, options.method))
      texts.push_back(fmt::format("{} {}", option.name, value));
  }
  return texts;
}

class Comparer {
 public:
  Comparer(std::function<Split(Index)> data_of_run, const CompareOptions& options,
           const RunControl& control, const std::function<void(const ComparisonRow&)>& on_row)
      : data_of_run_(std::move(data_of_run)),
        options_(options),
        control_(control),
        on_row_(on_row),
        progress_(control, "compare", static_cast<Index>(options.methods.size()), options.runs),
        full_(usize(options.runs)) {}

  Comparison compare() {
    require_plan();
    result_.task = options_.methods[0].options.task;
    result_.runs = options_.runs;
    describe_data(data_of_run_(0));
    result_.rows.resize(options_.methods.size());
    for (const std::size_t m : full_machine_first()) {
      result_.rows[m] = compare_one(options_.methods[m]);
      progress_.end_kind();
      if (on_row_) on_row_(result_.rows[m]);
    }
    result_.interrupted = control_.cancelled();
    return std::move(result_);
  }

 private:
  void require_plan() const {
    if (options_.methods.empty()) throw InvalidArgument("give methods to compare");
    if (options_.runs < 1)
      throw InvalidArgument(fmt::format("runs is {}: it must be at least 1", options_.runs));
    for (const ComparedMethod& method : options_.methods) {
      if (method.options.task != options_.methods[0].options.task)
        throw InvalidArgument("the methods compared must have one task");
    }
  }

  // The others' support vectors are compared with the full machine's.
  std::vector<std::size_t> full_machine_first() const {
    std::vector<std::size_t> order(options_.methods.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_partition(order.begin(), order.end(), [&](std::size_t m) {
      return options_.methods[m].options.method == "exact";
    });
    return order;
  }

  void describe_data(const Split& data) {
    if (data.test.labels().kind() == LabelKind::none)
      throw DataError("the test rows have no labels to compare with");
    result_.train_rows = data.train.rows();
    result_.test_rows = data.test.rows();
    result_.features = data.train.cols();
    if (result_.task == Task::regression) return;
    classes_ = distinct_classes(data.train.labels());
    for (Index c = 0; c < classes_.size(); ++c) result_.classes.push_back(classes_.name(c));
    const bool has_numbers = data.train.categories().empty() &&
                             options_.methods[0].options.missing == MissingValues::refuse;
    wants_regions_ = options_.regions && data.train.cols() == 2 && has_numbers;
    if (!wants_regions_) return;
    frame_ = frame_of(data.train.features());
    const std::vector<std::int32_t> codes = encode_labels(data.test.labels(), classes_);
    if (data.test.cols() < 2) return;
    for (const Index row : spread_rows(data.test.rows(), kSampleRows)) {
      result_.sample.emplace_back(data.test.features().at(row, 0), data.test.features().at(row, 1));
      result_.sample_classes.push_back(codes[usize(row)]);
    }
  }

  ComparisonRow compare_one(const ComparedMethod& method) {
    ComparisonRow row;
    row.name = method.name;
    row.method = method.options.method;
    row.parameters = parameters_of(method.options);
    Measured measured;
    try {
      for (Index run = 0; run < options_.runs; ++run) {
        if (control_.cancelled()) throw Cancelled();
        do_run(method, run, &row, &measured);
        progress_.end_step();
      }
    } catch (const Cancelled&) {
      if (row.runs == 0)
        row.failure = "interrupted";
      else
        row.note =
            fmt::format("interrupted after {} of {}", row.runs, counted(options_.runs, "run"));
    } catch (const Error& error) {
      row.failure = error.what();
    } catch (const std::bad_alloc&) {
      row.failure = "out of memory";
    }
    row.error = spread_of(row.errors);
    row.train_seconds = spread_of(row.seconds);
    row.predict_seconds = spread_of(measured.predict_seconds);
    row.support_vectors = spread_of(measured.support_vectors);
    row.full_support_vectors = spread_of(measured.full_support_vectors);
    row.model_bytes = spread_of(measured.model_bytes);
    row.rows_used = spread_of(measured.rows_used);
    return row;
  }

  void do_run(const ComparedMethod& method, Index run, ComparisonRow* row, Measured* measured) {
    const Split data = data_of_run_(run);
    const RunControl control = progress_.begin_step(
        options_.runs == 1 ? method.name : fmt::format("{}, run {}", method.name, run + 1));
    TrainOptions options = method.options;
    options.seed += static_cast<std::uint64_t>(run);
    options.validate();
    TrainResult trained = train_mapped(data.train, options, control, [&](const Dataset& rows) {
      return run_training(rows, options, control);
    });
    if (control_.cancelled()) throw Cancelled();
    const Stopwatch watch;
    const Evaluation evaluation = evaluate(trained.model, data.test, control);
    measured->predict_seconds.push_back(watch.seconds());
    row->errors.push_back(result_.task == Task::regression ? evaluation.mse
                                                           : evaluation.error_rate);
    row->seconds.push_back(trained.report.train_seconds);
    measured->support_vectors.push_back(static_cast<double>(trained.report.support_vectors));
    measured->model_bytes.push_back(static_cast<double>(model_file_bytes(trained.model)));
    measured->rows_used.push_back(
        detail(trained.report, "rows_used", static_cast<double>(trained.report.rows)));
    FullMachine& full = full_[usize(run)];
    if (method.options.method == "exact" && full.keys.empty())
      full = {row_keys(machine_of(trained.model).support_points()), trained.model.scaling()};
    measured->full_support_vectors.push_back(full.share_in(trained.model));
    if (run == 0) {
      row->feature_weights = largest_weights(trained.model);
      if (wants_regions_)
        row->regions = decision_regions(trained.model, classes_, frame_, control_);
      row->report = std::move(trained.report);
      if (row->report.stop_reason != StopReason::converged)
        row->note = fmt::format("stopped by {}", stop_reason_name(row->report.stop_reason));
    }
    ++row->runs;
  }

  std::function<Split(Index)> data_of_run_;
  const CompareOptions& options_;
  const RunControl& control_;
  const std::function<void(const ComparisonRow&)>& on_row_;
  PlanProgress progress_;
  std::vector<FullMachine> full_;  // by run
  Comparison result_;
  Labels classes_;
  bool wants_regions_ = false;
  Frame frame_;
};

}  // namespace

Spread spread_of(std::span<const double> values) {
  Spread spread;
  if (values.empty() || std::isnan(values[0])) return spread;
  const auto n = static_cast<double>(values.size());
  spread.mean = 0;
  for (const double v : values) spread.mean += v / n;
  double squares = 0;
  for (const double v : values) squares += (v - spread.mean) * (v - spread.mean);
  if (values.size() > 1) spread.deviation = std::sqrt(squares / (n - 1));
  return spread;
}

const ComparisonRow* Comparison::full() const {
  const auto found = std::find_if(rows.begin(), rows.end(), [](const ComparisonRow& row) {
    return row.method == "exact" && row.runs > 0;
  });
  return found == rows.end() ? nullptr : &*found;
}

Comparison compare(const Dataset& train, const Dataset& test, const CompareOptions& options,
                   const RunControl& control,
                   const std::function<void(const ComparisonRow&)>& on_row) {
  return Comparer([&](Index) { return Split{train, test}; }, options, control, on_row).compare();
}

Comparison compare_split(const Dataset& data, double test_share, const CompareOptions& options,
                         const RunControl& control,
                         const std::function<void(const ComparisonRow&)>& on_row) {
  if (options.methods.empty()) throw InvalidArgument("give methods to compare");
  const TrainOptions& first = options.methods[0].options;
  return Comparer(
             [&](Index run) {
               return split_dataset(data, test_share, first.task,
                                    first.seed + static_cast<std::uint64_t>(run));
             },
             options, control, on_row)
      .compare();
}

}  // namespace tamis
