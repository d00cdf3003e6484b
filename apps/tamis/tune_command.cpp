#include "tamis/tune.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "axis_text.hpp"
#include "heat_map.hpp"
#include "reading.hpp"
#include "session.hpp"
#include "tamis/io.hpp"
#include "tamis/report_page.hpp"
#include "tamis/text.hpp"
#include "tamis/train.hpp"
#include "training_options.hpp"

namespace tamis::cli {
namespace {

class TuneCommand : public Command {
 public:
  TuneCommand() : Command("tune", "find parameters by cross-validation") {}

  void declare(Options& options) override {
    options.data("DATA", data_path_, read_, "labeled rows; - is standard input");
    options
        .custom("--grid", "OPTION=VALUES",
                "option and values to try, as cost=1,10,100 or gamma=2^-15:2^3:4 (from, to, "
                "factor); may be repeated (default: cost and gamma)",
                [this](const std::string& text) { tune_.axes.push_back(parse_axis(text)); })
        .repeatable = true;
    options.choice("--search", search_, {"grid", "random", "halving"}, "NAME",
                   "every combination, random points between the values, or successive halving: "
                   "all on few rows, the best third on three times as many");
    options.integer("--folds", tune_.folds, 2, 1000, "N", "number of cross-validation folds");
    options.integer("--points", tune_.points, 1, 1'000'000, "N", "random search: number of points")
        .idle_if([this] { return search_ == "random" ? "" : "it goes with --search random"; });
    options.rows("--rows", tune_.rows,
                 "largest number of rows to search on, drawn from each class in proportion",
                 "5000, or all with --centres");
    options.integer("--centres", tune_.centres, 0, 1'000'000, "N",
                    "falk, falk-c, knn-svm: try each point on the neighborhoods of N random rows "
                    "only, by k'-internal cross-validation (default: train on all rows)");
    options
        .choice("--racing", racing_, {"yes", "no"}, "yes|no",
                "grid and random search: drop points that have lost on the first folds, by 2.5 "
                "standard errors (no: score every point on every fold)")
        .idle_if([this] {
          if (racing_ == "no") return "";
          if (tune_.centres > 0) return "with --centres no points are dropped";
          return search_ == "halving" ? "halving drops points by its own rule" : "";
        });
    options.number("--search-seconds", tune_.max_seconds, 0, 1e9, "NUMBER",
                   "stop the search after this many seconds (default: no limit)");
    options.output("-o,--output", output_,
                   "train on all rows with the best parameters, and write the model");
    options.output("--csv", csv_path_, "write every point as CSV; - is standard output");
    options.output("--report", report_path_, "write an HTML page with the heat map");
    training_.declare(options);
    options.reading(read_);
    options.common(common_);
    options.example(
        "tamis tune train.svm\n"
        "tamis tune train.svm --grid cost=2^-5:2^15:4 --grid gamma=2^-15:2^3:4\n"
        "tamis tune train.svm --method falk --grid k=200,500,1000 --grid cost=1,10 -g 2");
  }

  int run(Session& session) override {
    tune_.search = search_ == "grid"     ? Search::grid
                   : search_ == "random" ? Search::random
                                         : Search::halving;
    tune_.racing = racing_ == "yes";
    tune_.base = training_.values();
    tune_.base.validate();
    session.files()
        .reads("DATA", data_path_, read_)
        .writes("--output", output_)
        .writes("--csv", csv_path_)
        .writes("--report", report_path_)
        .require_distinct()
        .require_writable();
    training_.require_used_by(std::vector<std::string>{tune_.base.method}, true);
    training_.require_effect(at_ends_of_axes());
    for (const TuneAxis& axis : tune_.axes) {
      if (training_.was_given(axis.option))
        throw UsageError(fmt::format("--{0} and --grid {0}=.. do not go together", axis.option));
      const auto same = [&](const TuneAxis& other) { return other.option == axis.option; };
      if (std::count_if(tune_.axes.begin(), tune_.axes.end(), same) > 1)
        throw UsageError(fmt::format("--grid {}=.. was given twice", axis.option));
    }
    if (training_.was_given("max-seconds") && tune_.max_seconds == 0)
      session.note("--max-seconds limits each training; --search-seconds limits the search");
    allow_what_is_trained_on(tune_.base, &read_);
    const Dataset data =
        session.timed("read", [&] { return read_dataset(data_path_, read_, session.control()); });
    const TuneResult result =
        session.timed("tune", [&] { return tune(data, tune_, session.control()); });
    if (csv_path_ != "-" && output_ != "-") tell(session, result, data.rows());
    if (!csv_path_.empty()) write_text(csv_path_, csv(result), session.writing());
    if (!report_path_.empty())
      write_text(report_path_,
                 report_page("Search for parameters on " + data_path_, nullptr, &result),
                 session.writing());
    fill_report(session, result);
    if (session.control().cancelled()) return signal_exit_code();
    if (!result.finished)
      session.note("warning: the time limit ended the search: the best is that of what was tried");
    if (!output_.empty()) train_best(session, data, result);
    return result.finished ? kExitOk : kExitLimit;
  }

 private:
  // What is tried with the first values of the axes, and with the last ones.
  std::vector<TrainOptions> at_ends_of_axes() const {
    std::vector<TrainOptions> ends(2, tune_.base);
    for (const TuneAxis& axis : tune_.axes) {
      const OptionDescription& option = find_option(axis.option);
      if (option.type != OptionType::number && option.type != OptionType::integer) continue;
      option.set_text(ends[0], fmt::format("{}", axis.values.front()));
      option.set_text(ends[1], fmt::format("{}", axis.values.back()));
    }
    return ends;
  }

  bool is_regression() const { return tune_.base.task == Task::regression; }

  std::string error_text(double error) const {
    return is_regression() ? fmt::format("{:.4g}", error) : fmt::format("{:.2f} %", 100 * error);
  }

  // With the deviation, where there is one.
  std::string error_of(const TunePoint& point) const {
    if (std::isnan(point.deviation)) return error_text(point.error);
    return error_text(point.error) + " +- " + error_text(point.deviation);
  }

  std::string words(const TuneResult& result, const TunePoint& point) const {
    std::string text;
    for (std::size_t a = 0; a < result.axes.size(); ++a)
      text += fmt::format(" --{} {:.6g}", result.axes[a].option, point.values[a]);
    return text;
  }

  void tell(Session& session, const TuneResult& result, Index all_rows) const {
    const auto tried = std::count_if(result.points.begin(), result.points.end(),
                                     [](const TunePoint& p) { return !std::isnan(p.error); });
    session.say(fmt::format("{} of {}, {}, {} of {}, {:.3g} s", tried,
                            counted(result.points.size(), "point"), counted(result.folds, "fold"),
                            result.rows, counted(all_rows, "row"), result.seconds));
    const std::string map = heat_map(result, tune_.base.task, may_color(STDOUT_FILENO));
    if (!map.empty()) {
      session.say(is_regression() ? "mean squared error:" : "error, %:");
      session.say_in_color(map);
    } else {
      tell_best(session, result);
    }
    tell_dropped(session, result);
    for (const TunePoint& point : result.points) {
      if (point.failure.empty() || point.failure == "not finished") continue;
      session.note("warning:" + words(result, point) + ": " + point.failure);
    }
    const TunePoint& best = result.points[result.best];
    session.say(fmt::format("best: {}, with{}", error_of(best), words(result, best)));
    if (output_.empty()) {
      session.say(fmt::format("to train: tamis train {} --method {}{}{}{}", shell_word(data_path_),
                              result.options.method, words(result, best),
                              training_.given_words(result.options), reading_words(read_)));
    }
  }

  // Those that were dropped come last: their errors are of fewer folds.
  void tell_best(Session& session, const TuneResult& result) const {
    constexpr std::size_t kShown = 10;
    std::vector<std::size_t> order(result.points.size());
    std::iota(order.begin(), order.end(), 0);
    std::erase_if(order, [&](std::size_t p) { return std::isnan(result.points[p].error); });
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const TunePoint& first = result.points[a];
      const TunePoint& second = result.points[b];
      return std::pair(-first.folds, first.error) < std::pair(-second.folds, second.error);
    });
    for (std::size_t k = 0; k < std::min(kShown, order.size()); ++k) {
      const TunePoint& point = result.points[order[k]];
      session.say(fmt::format("{:>21}{}{}", error_of(point), point.dropped ? "*" : " ",
                              words(result, point)));
    }
  }

  static void tell_dropped(Session& session, const TuneResult& result) {
    const auto dropped = std::count_if(result.points.begin(), result.points.end(),
                                       [](const TunePoint& point) { return point.dropped; });
    if (dropped == 0) return;
    session.say(
        fmt::format("*: {} dropped after the first folds; errors are means over those folds",
                    counted(dropped, "point")));
  }

  static std::string csv(const TuneResult& result) {
    std::string text;
    for (const TuneAxis& axis : result.axes) text += axis.option + ",";
    text += "error,deviation,folds,rows,seconds,note\n";
    for (const TunePoint& point : result.points) {
      for (const double value : point.values) text += fmt::format("{},", value);
      std::string note = point.dropped ? "dropped" : point.failure;
      std::replace(note.begin(), note.end(), ',', ';');
      for (const double value : {point.error, point.deviation})
        text += std::isnan(value) ? "," : fmt::format("{},", value);
      text += fmt::format("{},{},{},{}\n", point.folds, point.rows, point.seconds, note);
    }
    return text;
  }

  void train_best(Session& session, const Dataset& data, const TuneResult& result) const {
    const TrainResult trained =
        session.timed("train", [&] { return train(data, result.options, session.control()); });
    session.timed("write", [&] {
      save_model(trained.model, output_, ModelFormat::native, session.writing());
    });
    for (const std::string& warning : trained.report.warnings) session.note("warning: " + warning);
    if (output_ == "-") return;
    session.summarize(trained.model.describe());
    session.summarize(fmt::format("model written to {}", output_));
  }

  void fill_report(Session& session, const TuneResult& result) const {
    auto& json = session.report();
    json["data"] = data_path_;
    json["method"] = result.options.method;
    json["search"] = search_;
    json["folds"] = result.folds;
    json["rows"] = result.rows;
    json["racing"] = tune_.racing;
    json["shared_kernel"] = result.shared_kernel;
    json["finished"] = result.finished;
    for (const TuneAxis& axis : result.axes) object_in(json, "axes")[axis.option] = axis.values;
    const auto as_json = [&](const TunePoint& point) {
      Json one = Json::object();
      for (std::size_t a = 0; a < result.axes.size(); ++a)
        one[result.axes[a].option] = point.values[a];
      if (!std::isnan(point.error)) {
        one[is_regression() ? "mse" : "error_rate"] = point.error;
        if (!std::isnan(point.deviation)) one["deviation"] = point.deviation;
      }
      if (point.dropped) one["dropped"] = true;
      if (!point.failure.empty()) one["failure"] = point.failure;
      one["folds"] = point.folds;
      one["rows"] = point.rows;
      one["seconds"] = point.seconds;
      return one;
    };
    json["best"] = as_json(result.points[result.best]);
    for (const TunePoint& point : result.points) list_in(json, "points").push_back(as_json(point));
    if (!output_.empty()) json["model"] = output_;
  }

  std::string data_path_;
  std::string search_ = "grid";
  std::string racing_ = "yes";
  std::string output_;
  std::string csv_path_;
  std::string report_path_;
  TuneOptions tune_;
  TrainingOptions training_;
  ReadOptions read_;
};

}  // namespace

std::unique_ptr<Command> make_tune_command() { return std::make_unique<TuneCommand>(); }

}  // namespace tamis::cli
