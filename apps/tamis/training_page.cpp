#include "training_page.hpp"

#include <fmt/format.h>

#include "reading.hpp"
#include "tamis/error.hpp"
#include "tamis/io.hpp"
#include "tamis/report_page.hpp"
#include "tamis/split.hpp"
#include "tamis/text.hpp"

namespace tamis::cli {
namespace {

std::string error_text(const Evaluation& found) {
  if (found.task == Task::regression)
    return fmt::format("mean squared error {:.6g}, r2 {:.6g}", found.mse, found.r2);
  return fmt::format("error rate {:.4f} % ({})", 100 * found.error_rate,
                     counted(found.errors, "error"));
}

}  // namespace

void TrainingPage::declare(Options& options) {
  options.output("--report", path_,
                 "write an HTML page of the model: confusion matrix, ROC, precision-recall and "
                 "calibration curves, or residuals, and the training; needs no network");
  options.text("--test", test_path_, "FILE",
               "with --report: labeled rows to measure on (default: a hold-out set of DATA)");
  options
      .custom("--split", "SHARE",
              "with --report, without --test: fraction of DATA to measure on, with a second model "
              "trained on the rest; the model that is written is trained on all rows",
              [this](const std::string& text) {
                split_ = parse_real("--split", text, 0.01, 0.99);
                split_given_ = true;
              })
      .default_text = fmt::format("{}", split_);
  options.flag("--learning-curve", learning_curve_,
               "with --report: also train on 1/2, 1/4, 1/8 and 1/16 of the rows, to see whether "
               "more rows would help");
}

FileRoles& TrainingPage::add_files(FileRoles& files, const ReadOptions& read) const {
  return files.reads("--test", test_path_, read).writes("--report", path_);
}

void TrainingPage::require_usable(const Session& session, bool is_stream) const {
  if (!is_wanted()) {
    for (const auto& [is_given, name] :
         {std::pair{!test_path_.empty(), "--test"}, std::pair{split_given_, "--split"},
          std::pair{learning_curve_, "--learning-curve"}}) {
      if (is_given) throw UsageError(fmt::format("{} is of no use without --report", name));
    }
    return;
  }
  if (session.control().group != nullptr)
    throw UsageError("--report does not run on several processes");
  if (is_stream)
    throw UsageError(
        "--stream and --report do not go together: measure the model with tamis evaluate --report");
  if (split_given_ && !test_path_.empty())
    throw UsageError("--split and --test do not go together: give one of them");
}

void TrainingPage::read_test(Session& session, const Dataset& rows, const ReadOptions& read,
                             const TrainOptions& options) {
  if (!test_path_.empty()) test_ = read_test_rows(session, test_path_, read, rows, options);
}

bool TrainingPage::write(Session& session, const Trained& trained, const Trainer& trainer) const {
  const std::string data = display_name(trained.data_path);
  RunControl control = session.control();
  control.checkpoint = nullptr;  // the state there is that of the model that was written
  try {
    Split split{trained.rows, test_};
    Model model = trained.result.model;
    std::string measured_on;
    if (test_path_.empty()) {
      split = split_dataset(trained.rows, split_, trained.options.task, trained.options.seed);
      const TrainResult second =
          session.timed("report", [&] { return trainer(split.train, control); });
      if (second.report.stop_reason == StopReason::interrupted) throw Cancelled();
      model = second.model;
      measured_on = fmt::format(
          "Measured on {} held out of {} at random, with a model trained with the same options on "
          "the other {}. The model that was written is trained on all of them.",
          counted(split.test.rows(), "row"), data, split.train.rows());
    } else {
      measured_on = fmt::format(
          "Measured on the {} of {}, with the model that was written, trained on the {} of {}.",
          counted(test_.rows(), "row"), test_path_, counted(trained.rows.rows(), "row"), data);
    }
    ModelReport report = session.timed(
        "report", [&] { return measure_model(model, split.test, &split.train, control); });
    describe_model(trained.result.model, &report);
    report.measured_on = measured_on;
    report.training = trained.result.report;
    if (learning_curve_) {
      report.learning = session.timed("report", [&] {
        return learning_curve(split.train, split.test, trained.options, model, control);
      });
    }
    write_text(
        path_,
        report_page(fmt::format("Model {}, trained on {}", trained.model_path, data), report),
        session.writing());
    const Evaluation& found = report.evaluation;
    auto& json = session.report()["test"];
    json["data"] = test_path_;
    json["rows"] = found.rows;
    if (found.task == Task::regression)
      json["mse"] = found.mse;
    else
      json["error_rate"] = found.error_rate;
    session.report()["report"] = path_;
    session.note(fmt::format("{}: {}",
                             test_path_.empty() ? counted(found.rows, "held-out row") : test_path_,
                             error_text(found)));
    session.note("report written to " + path_);
    return true;
  } catch (const Cancelled&) {
    session.note("interrupted: no report is written");
    return false;
  }
}

}  // namespace tamis::cli
