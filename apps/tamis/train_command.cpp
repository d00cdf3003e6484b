#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "reading.hpp"
#include "session.hpp"
#include "tamis/calibrate.hpp"
#include "tamis/checkpoint.hpp"
#include "tamis/error.hpp"
#include "tamis/io.hpp"
#include "tamis/stream.hpp"
#include "tamis/text.hpp"
#include "tamis/train.hpp"
#include "training_options.hpp"
#include "training_page.hpp"

namespace tamis::cli {
namespace {

// A count is written without a decimal point.
Json number(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) return static_cast<std::int64_t>(value);
  return value;
}

class TrainCommand : public Command {
 public:
  TrainCommand() : Command("train", "train a model on labeled rows") {}

  bool runs_together() const override { return true; }

  void declare(Options& options) override {
    options.data("DATA", data_path_, read_, "labeled rows; - is standard input");
    options.output("-o,--output", output_, "model file (default: DATA.model)").no_default();
    options.choice(
        "--model-format", format_, {"native", "libsvm"}, "NAME",
        "format of the model file: Tamis's own, or LIBSVM's text, for svm-predict; with libsvm, "
        "the default method is exact");
    options.integer(
        "--probability-folds", folds_, 0, 1000, "NUMBER",
        "give the model probabilities, fitted by cross-validation with this number of folds (2 or "
        "more; limits apply to each training; default: no probabilities)");
    options
        .choice("--calibration", calibration_, {"sigmoid", "isotonic"}, "NAME",
                "curve that these probabilities are fitted with")
        .idle_if([this] { return folds_ > 0 ? "" : "it goes with --probability-folds"; });
    options.flag(
        "--stream", stream_,
        "method leader: read the data, a file that is not compressed, block by block and keep "
        "only the leaders, taken in the order of the file");
    options.text("--checkpoint", checkpoint_, "FOLDER",
                 "methods exact, falk, falk-c, random-subset and ransac: keep the state of the "
                 "training (of falk and falk-c: the finished cells; of random-subset and ransac: "
                 "the finished candidates) in this folder, and continue from what is there; the "
                 "model is the same as without a break");
    options
        .number("--checkpoint-seconds", checkpoint_seconds_, 0, 1e9, "NUMBER",
                "seconds between checkpoints")
        .idle_if([this] { return checkpoint_.empty() ? "it goes with --checkpoint" : ""; });
    page_.declare(options);
    // LIBSVM's number for the kind of machine: another way to say --task.
    options.custom("-s", "NUMBER",
                   "LIBSVM's task: 0 classification (C-SVC), 3 regression (epsilon-SVR)",
                   [this](const std::string& text) {
                     if (text != "0" && text != "3") throw UsageError("-s is " + text + ": 0 or 3");
                     train_.task = text == "0" ? Task::classification : Task::regression;
                   });
    training_.declare(options);
    options.reading(read_);
    options.common(common_);
    options.example(
        "tamis train train.svm -o train.model --method exact --kernel rbf -c 10 -g 2\n"
        "tamis train train.svm -c 10 -g 2 --report model.html\n"
        "tamis train prices.csv --label price --task regression --scale standard\n"
        "tamis train train.svm -c 10 -w1 5 -w-1 2");
  }

  int run(Session& session) override {
    if (output_.empty()) {
      if (data_path_ == "-")
        throw UsageError("give --output a file: the data come from standard input");
      if (data_files(data_path_, read_) != std::vector<std::string>{data_path_})
        throw UsageError("give --output a file: the data come from several files");
      output_ = data_path_ + ".model";
    }
    FileRoles files = session.files().reads("DATA", data_path_, read_).writes("--output", output_);
    page_.add_files(files, read_).require_distinct();
    page_.require_usable(session, stream_);
    if (format_ == "libsvm") settle_for_libsvm();
    train_.validate();
    training_.require_used_by(std::vector<std::string>{train_.method});
    training_.require_effect({&train_, 1});
    if (stream_ && training_.was_given("boundary"))
      throw UsageError("--boundary has no effect: --stream refines nothing");
    allow_what_is_trained_on(train_, &read_);
    const std::unique_ptr<CheckpointStore> checkpoints = make_checkpoints(session);
    if (session.control().group == nullptr) files.require_writable();
    Dataset rows;
    const TrainResult result = stream_ ? train_on_stream(session) : train_on_all(session, &rows);
    const StopReason stop = result.report.stop_reason;
    if (is_cut_short(stop) && result.model.is_constant()) refuse_constant(stop);
    session.timed("write", [&] {
      if (!session.is_root()) return;
      save_model(result.model, output_,
                 format_ == "libsvm" ? ModelFormat::libsvm : ModelFormat::native,
                 session.writing());
    });
    if (checkpoints && !is_cut_short(stop)) checkpoints->clear();
    for (const std::string& warning : result.report.warnings) session.note("warning: " + warning);
    tell(session, result);
    fill_report(session, result.report);
    if (page_.is_wanted() && !write_page(session, rows, result)) return signal_exit_code();
    if (stop == StopReason::converged) return kExitOk;
    return stop == StopReason::interrupted ? signal_exit_code() : kExitLimit;
  }

 private:
  // Before the training, what LIBSVM's models cannot hold.
  void settle_for_libsvm() {
    if (train_.method == kDefaultMethod) train_.method = "exact";
    if (train_.method == "auto")
      throw UsageError(
          "auto may choose what LIBSVM's models cannot hold: give --method exact, or leave out "
          "--model-format");
    if (train_.kernel_or_default() == KernelType::laplacian)
      throw UsageError(
          "LIBSVM's models cannot hold the Laplacian kernel: leave out --model-format");
    if (train_.scaling_or_default() != ScalingMethod::none || train_.metric_rounds_or_default() > 0)
      throw UsageError(
          "LIBSVM's models cannot hold a scaling: scale the data with tamis scale, or leave out "
          "--model-format");
  }

  bool write_page(Session& session, const Dataset& rows, const TrainResult& result) const {
    const auto again = [this](const Dataset& data, const RunControl& control) {
      return train_once(data, control);
    };
    return page_.write(session, {rows, train_, result, data_path_, output_}, again);
  }

  std::unique_ptr<CheckpointStore> make_checkpoints(Session& session) const {
    if (checkpoint_.empty()) return nullptr;
    const std::array<std::string_view, 6> can_continue{"exact",  kDefaultMethod,  "falk",
                                                       "falk-c", "random-subset", "ransac"};
    if (stream_ || folds_ > 0 ||
        std::find(can_continue.begin(), can_continue.end(), train_.method) == can_continue.end())
      throw UsageError(
          "--checkpoint goes with the methods exact, falk, falk-c, random-subset and ransac, "
          "without --stream and folds");
    auto checkpoints = file_checkpoints(checkpoint_, session.control().group);
    session.keep_state_in(checkpoints.get(), checkpoint_seconds_);
    return checkpoints;
  }

  static bool is_cut_short(StopReason stop) {
    return stop != StopReason::converged && stop != StopReason::precision_limit;
  }

  // Stopped before anything was learned. A model that is there already is likely to be better than
  // a constant, and a script that finds none knows that there is none.
  [[noreturn]] void refuse_constant(StopReason stop) const {
    const std::string kept = output_ == "-" ? "" : fmt::format("; {} is left as it was", output_);
    const std::string what = "before anything was learned: no model is written" + kept;
    if (stop == StopReason::interrupted) throw Interrupted("interrupted " + what);
    throw Error(fmt::format("stopped by {} {}", stop_reason_name(stop), what));
  }

  void settle_method(Session& session, const Dataset& data) {
    const bool was_named = train_.method != kDefaultMethod;
    if (session.control().group != nullptr) {
      if (!was_named) train_.method = "exact";
      return;
    }
    train_.method = checkpoint_.empty() || was_named ? resolve_method(data, train_) : "exact";
    if (train_.method != kAutoMethod) return;
    if (!was_named)
      session.note(fmt::format("{} and no --method: auto chooses", counted(data.rows(), "row")));
    // The limit is on the whole wait, and reading is part of it.
    if (train_.max_seconds > 0)
      train_.max_seconds =
          std::max(0.1 * train_.max_seconds, train_.max_seconds - session.seconds());
  }

  TrainResult train_on_all(Session& session, Dataset* rows) {
    const Dataset data =
        session.timed("read", [&] { return read_dataset(data_path_, read_, session.control()); });
    page_.read_test(session, data, read_, train_);
    settle_method(session, data);
    if (page_.is_wanted()) *rows = data;
    return session.timed("train", [&] { return train_once(data, session.control()); });
  }

  TrainResult train_once(const Dataset& data, const RunControl& control) const {
    if (folds_ == 0) return train(data, train_, control);
    if (control.group != nullptr)
      throw UsageError("--probability-folds does not run on several processes");
    return train_calibrated(data, train_, static_cast<int>(folds_),
                            parse_calibration_method(calibration_), control);
  }

  TrainResult train_on_stream(Session& session) const {
    if (folds_ > 0) throw UsageError("--stream and --probability-folds do not go together");
    if (!read_.more_files.empty()) throw UsageError("--stream reads one file");
    if (session.control().group != nullptr)
      throw UsageError("--stream does not run on several processes");
    return session.timed(
        "train", [&] { return train_stream(data_path_, read_, train_, session.control()); });
  }

  void tell(Session& session, const TrainResult& result) const {
    const TrainReport& report = result.report;
    if (output_ == "-" || page_.goes_to_standard_output()) return;
    session.summarize(fmt::format("{}, {}; {}", counted(report.rows, "row"),
                                  counted(report.features, "feature"), result.model.describe()));
    session.summarize(fmt::format("{} after {} in {:.3g} s: objective {:.6g}, gap {:.3g}",
                                  stop_reason_name(report.stop_reason),
                                  counted(report.iterations, "iteration"), report.train_seconds,
                                  report.objective, report.gap));
    session.summarize(fmt::format("model written to {}", output_));
  }

  void fill_report(Session& session, const TrainReport& report) const {
    auto& json = session.report();
    json["data"] = data_path_;
    if (!read_.more_files.empty()) json["more_data"] = read_.more_files;
    json["model"] = output_;
    json["method"] = report.method;
    json["rows"] = report.rows;
    json["features"] = report.features;
    json["classes"] = report.classes;
    json["binary_svms"] = report.machines;
    json["support_vectors"] = report.support_vectors;
    json["bounded_support_vectors"] = report.bounded_support_vectors;
    json["objective"] = report.objective;
    json["gap"] = report.gap;
    json["violation"] = report.violation;
    json["stop_reason"] = std::string(stop_reason_name(report.stop_reason));
    json["iterations"] = report.iterations;
    json["kernel_evaluations"] = report.kernel_evaluations;
    json["cached_evaluations"] = report.cached_evaluations;
    for (const auto& [phase, seconds] : report.phase_seconds)
      object_in(json, "phase_seconds")[phase] = seconds;
    for (const auto& [name, value] : report.details) json[name] = number(value);
    for (const ReportTable& table : report.tables) {
      auto& rows = json[table.name] = Json::array();
      for (const std::vector<double>& values : table.rows) {
        Json row = Json::object();
        for (std::size_t c = 0; c < values.size(); ++c) row[table.columns[c]] = number(values[c]);
        rows.push_back(std::move(row));
      }
    }
    if (folds_ > 0) {
      json["probability_folds"] = folds_;
      json["calibration"] = calibration_;
    }
    if (!report.remarks.empty()) json["remarks"] = report.remarks;
    json["warnings"] = report.warnings;
    for (const OptionDescription& described : train_option_table()) {
      if (applies_to(described, train_.method))
        object_in(json, "options")[std::string(described.name)] = described.text(train_);
    }
  }

  std::string data_path_;
  std::string output_;
  std::string format_ = "native";
  std::int64_t folds_ = 0;
  std::string calibration_ = "sigmoid";
  std::string checkpoint_;
  double checkpoint_seconds_ = 60;
  bool stream_ = false;
  TrainingPage page_;
  TrainingOptions training_;
  TrainOptions& train_ = training_.values();
  ReadOptions read_;
};

}  // namespace

std::unique_ptr<Command> make_train_command() { return std::make_unique<TrainCommand>(); }

}  // namespace tamis::cli
