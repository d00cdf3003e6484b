#include "tamis/compare.hpp"

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "comparison_text.hpp"
#include "libsvm_peer.hpp"
#include "method_list.hpp"
#include "reading.hpp"
#include "session.hpp"
#include "tamis/io.hpp"
#include "tamis/report_page.hpp"
#include "tamis/split.hpp"
#include "tamis/text.hpp"
#include "tamis/tune.hpp"
#include "training_options.hpp"

namespace tamis::cli {
namespace {

class CompareCommand : public Command {
 public:
  CompareCommand() : Command("compare", "train and test several methods side by side") {}

  void declare(Options& options) override {
    options.argument("TRAIN", train_path_, true, "labeled training rows; - is standard input");
    options.text("--test", test_path_, "FILE", "test rows (default: a random part of TRAIN)");
    options
        .number("--split", split_, 0.01, 0.99, "SHARE",
                "without --test: fraction of TRAIN to test on, drawn again for each run")
        .idle_if([this] { return test_path_.empty() ? "" : "--test gives the test rows"; });
    options.text("--methods", methods_, "NAME,..",
                 "methods to compare; METHOD/LABEL lists a method several times");
    options
        .custom("--set", "METHOD.OPTION=VALUE",
                "an option of one method, as falk.k=500; may be repeated",
                [this](const std::string& text) { settings_.push_back(text); })
        .repeatable = true;
    options.integer("--runs", runs_, 1, 10000, "N",
                    "number of runs per method, with different random seeds, for means and "
                    "standard deviations");
    options.flag("--with-libsvm", with_libsvm_, "also run svm-train and svm-predict");
    options.output("--csv", csv_path_, "write the table as CSV; - is standard output");
    options.output("--markdown", markdown_path_,
                   "write the table as Markdown; - is standard output");
    options.output("--report", report_path_,
                   "write an HTML page with tables and charts; needs no network");
    options.flag("--tune", tune_,
                 "first tune C and gamma for all methods, on part of the training rows");
    options
        .rows("--tune-rows", tune_rows_, "largest number of rows that --tune searches on", "5000")
        .idle_if([this] { return tune_ ? "" : "it goes with --tune"; });
    training_.declare(options, false);
    options.reading(read_);
    options.common(common_);
    options.example(
        "tamis compare train.svm --test test.svm --methods exact,falk,linear -c 10 -g 2\n"
        "tamis compare data.csv --methods exact,falk,falk/small --set falk/small.k=100\n"
        "tamis compare train.svm --tune --report comparison.html");
  }

  int run(Session& session) override {
    CompareOptions plan = make_plan(session);
    const Dataset rows =
        session.timed("read", [&] { return read_dataset(train_path_, read_, session.control()); });
    Dataset test;
    if (!test_path_.empty()) test = read_test_rows(session, test_path_, read_, rows, shared());
    const auto data_of_run = [&](Index run) {
      if (!test_path_.empty()) return Split{rows, test};
      return split_dataset(rows, split_, shared().task,
                           shared().seed + static_cast<std::uint64_t>(run));
    };
    std::optional<TuneResult> search;
    if (tune_) search = find_parameters(session, data_of_run(0).train, &plan);
    Comparison comparison = session.timed("compare", [&] {
      Comparison result = test_path_.empty() ? compare_split(rows, split_, plan, session.control())
                                             : compare(rows, test, plan, session.control());
      if (with_libsvm_)
        result.rows.push_back(libsvm_row(data_of_run, runs_, shared(), session.control()));
      return result;
    });
    tell(session, comparison);
    if (!report_path_.empty()) {
      write_text(report_path_,
                 report_page("Comparison of methods on " + train_path_, &comparison,
                             search ? &*search : nullptr),
                 session.writing());
      session.note("report written to " + report_path_);
    }
    return session.control().cancelled() ? signal_exit_code() : kExitOk;
  }

 private:
  TrainOptions& shared() { return training_.values(); }

  // Whatever can be found wrong with the plan is, before anything is read.
  CompareOptions make_plan(Session& session) {
    session.files()
        .reads("TRAIN", train_path_, read_)
        .reads("--test", test_path_, read_)
        .writes("--csv", csv_path_)
        .writes("--markdown", markdown_path_)
        .writes("--report", report_path_)
        .require_distinct()
        .require_writable();
    for (const std::string_view name : {"cost", "gamma"}) {
      if (tune_ && training_.was_given(name))
        throw UsageError(fmt::format("--{} and --tune do not go together", name));
    }
    CompareOptions plan;
    plan.runs = runs_;
    plan.regions = !report_path_.empty();
    plan.methods = parse_methods(methods_, shared());
    std::vector<std::string> names;
    for (const ComparedMethod& method : plan.methods) names.push_back(method.options.method);
    training_.require_used_by(names, tune_ || test_path_.empty());
    for (const std::string& text : settings_) set_method_option(text, &plan.methods);
    std::vector<TrainOptions> trainings;
    for (const ComparedMethod& method : plan.methods) trainings.push_back(method.options);
    training_.require_effect(trainings);
    allow_what_is_trained_on(shared(), &read_);
    return plan;
  }

  // C and gamma of the exact machine, for every method, from the training rows of the first run.
  TuneResult find_parameters(Session& session, const Dataset& rows, CompareOptions* plan) {
    TuneOptions options;
    options.base = shared();
    options.rows = tune_rows_;
    TuneResult found =
        session.timed("tune", [&] { return tune(rows, options, session.control()); });
    for (TrainOptions* one : targets(plan)) {
      one->cost = found.options.cost;
      one->gamma = found.options.gamma;
    }
    for (const std::string& text : settings_) set_method_option(text, &plan->methods);
    return found;
  }

  std::vector<TrainOptions*> targets(CompareOptions* plan) {
    std::vector<TrainOptions*> all{&shared()};
    for (ComparedMethod& method : plan->methods) all.push_back(&method.options);
    return all;
  }

  void tell(Session& session, const Comparison& comparison) const {
    if (csv_path_ != "-" && markdown_path_ != "-") {
      session.say(fmt::format(
          "{}, {}, {}{}{}", counted(comparison.train_rows, "training row"),
          counted(comparison.test_rows, "test row"), counted(comparison.features, "feature"),
          comparison.classes.empty() ? "" : ", " + counted(comparison.classes.size(), "class"),
          comparison.runs == 1 ? "" : "; " + counted(comparison.runs, "run")));
      session.say(comparison_table(comparison));
    }
    if (!csv_path_.empty()) write_text(csv_path_, comparison_csv(comparison), session.writing());
    if (!markdown_path_.empty())
      write_text(markdown_path_, comparison_markdown(comparison), session.writing());
    session.report()["data"] = train_path_;
    session.report()["test"] = test_path_;
    session.report().update(comparison_json(comparison));
  }

  std::string train_path_;
  std::string test_path_;
  double split_ = 0.3;
  std::string methods_ = "exact,falk,falk-c,linear,knn";
  std::vector<std::string> settings_;
  std::int64_t runs_ = 1;
  bool with_libsvm_ = false;
  std::string csv_path_;
  std::string markdown_path_;
  std::string report_path_;
  bool tune_ = false;
  std::optional<std::int64_t> tune_rows_;
  TrainingOptions training_;
  ReadOptions read_;
};

}  // namespace

std::unique_ptr<Command> make_compare_command() { return std::make_unique<CompareCommand>(); }

}  // namespace tamis::cli
