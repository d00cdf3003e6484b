#include "tamis/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "model_rows.hpp"
#include "reading.hpp"
#include "session.hpp"
#include "tamis/io.hpp"
#include "tamis/report_page.hpp"
#include "tamis/text.hpp"

namespace tamis::cli {
namespace {

class EvaluateCommand : public Command {
 public:
  EvaluateCommand() : Command("evaluate", "measure the error of a model on labeled rows") {}

  bool runs_together() const override { return true; }

  void declare(Options& options) override {
    options.argument("MODEL", model_path_, true, "model of Tamis or of LIBSVM");
    options.data("DATA", data_path_, read_, "labeled rows; - is standard input");
    options.custom("--indecision", "NUMBER,..",
                   "two classes: fraction of rows whose decision value, or whose distance from the "
                   "boundary (decision value / ||w||), is less than this away from 0",
                   [this](const std::string& text) { parse_limits(text); });
    options.output("--report", report_path_,
                   "write an HTML page with the confusion matrix, ROC, precision-recall and "
                   "calibration curves, or residuals; needs no network");
    options.reading(read_);
    options.common(common_);
    options.example(
        "tamis evaluate train.model test.svm --json -\n"
        "tamis evaluate train.model test.svm --report model.html\n"
        "tamis evaluate train.model test.svm --indecision 0.1,0.01,0.001");
  }

  int run(Session& session) override {
    session.files()
        .reads("MODEL", model_path_)
        .reads("DATA", data_path_, read_)
        .writes("--report", report_path_)
        .require_distinct();
    if (!report_path_.empty() && session.control().group != nullptr)
      throw UsageError("--report does not run on several processes");
    const Model model =
        session.timed("load", [&] { return load_model(model_path_, session.control()); });
    read_.text_labels = model.task() == Task::classification;
    const Dataset data = read_rows_for(session, model, data_path_, read_);
    std::vector<double> shares;
    std::vector<double> near;
    DecisionNorm norm;
    const Evaluation result = session.timed("predict", [&] {
      if (limits_.empty()) return evaluate(model, data, session.control());
      if (session.control().group != nullptr)
        throw UsageError("--indecision does not run on several processes");
      const DecisionValues values = decision_values(model, data.features(), session.control());
      shares = indecision(model, values, limits_);
      norm = decision_norm(model, session.control());
      if (norm.value) near = indecision(model, values, scaled_limits(*norm.value));
      return evaluate(model, data, values, session.control());
    });
    session.report()["model"] = model_path_;
    session.report()["data"] = data_path_;
    session.report()["rows"] = result.rows;
    if (result.task == Task::regression)
      tell_regression(session, result);
    else
      tell_classes(session, result);
    if (!limits_.empty()) tell_indecision(session, shares, near, norm);
    if (!report_path_.empty()) write_page(session, model, data);
    return kExitOk;
  }

 private:
  void write_page(Session& session, const Model& model, const Dataset& data) const {
    ModelReport report = session.timed(
        "report", [&] { return measure_model(model, data, nullptr, session.control()); });
    report.measured_on = fmt::format(
        "Measured on the {} of {}. If the model was trained on any of them, these figures are too "
        "good.",
        counted(data.rows(), "row"), display_name(data_path_));
    write_text(report_path_, report_page("Model " + display_name(model_path_), report),
               session.writing());
    session.report()["report"] = report_path_;
    session.note("report written to " + report_path_);
  }

  void parse_limits(std::string_view text) {
    limits_.clear();
    do {
      const std::string_view item = text.substr(0, text.find(','));
      text.remove_prefix(std::min(text.size(), item.size() + 1));
      limits_.push_back(parse_real("--indecision", std::string(item), 0,
                                   std::numeric_limits<double>::infinity()));
    } while (!text.empty());
  }

  std::vector<double> scaled_limits(double norm) const {
    std::vector<double> result;
    for (const double limit : limits_) result.push_back(limit * norm);
    return result;
  }

  // near: the shares by distance, if there is one.
  void tell_indecision(Session& session, const std::vector<double>& shares,
                       const std::vector<double>& near, const DecisionNorm& norm) const {
    auto& json = session.report();
    for (std::size_t i = 0; i < shares.size(); ++i) {
      session.say(fmt::format("decision value within {:g} of 0: {:.4f} % of the rows", limits_[i],
                              100 * shares[i]));
      Json one = {{"eps", limits_[i]}, {"share", shares[i]}};
      if (norm.value) one["distance_share"] = near[i];
      list_in(json, "indecision").push_back(std::move(one));
    }
    if (!norm.value) {
      session.say(fmt::format("distance from the boundary: not known, {}", norm.why_none));
      json["decision_norm"] = nullptr;
      json["decision_norm_reason"] = norm.why_none;
      return;
    }
    for (std::size_t i = 0; i < near.size(); ++i) {
      session.say(fmt::format(
          "distance from the boundary (decision value / {:.6g}) within {:g}: {:.4f} % of the rows",
          *norm.value, limits_[i], 100 * near[i]));
    }
    json["decision_norm"] = *norm.value;
  }

  static void tell_regression(Session& session, const Evaluation& result) {
    session.say(fmt::format("{}: mean squared error {:.6g}, mean absolute error {:.6g}, r2 {:.6g}",
                            counted(result.rows, "row"), result.mse, result.mae, result.r2));
    session.report()["mse"] = result.mse;
    session.report()["mae"] = result.mae;
    session.report()["r2"] = result.r2;
  }

  static void tell_classes(Session& session, const Evaluation& result) {
    session.say(fmt::format("{}, {}: error rate {:.4f} %, accuracy {:.4f} %",
                            counted(result.rows, "row"), counted(result.errors, "error"),
                            100 * result.error_rate, 100 * result.accuracy));
    if (result.has_probabilities) {
      session.say(fmt::format("probabilities: log loss {:.6g}, Brier score {:.6g}", result.log_loss,
                              result.brier));
      session.report()["log_loss"] = result.log_loss;
      session.report()["brier"] = result.brier;
    }
    session.say(fmt::format("{:>12} {:>10} {:>10} {:>10}", "class", "rows", "precision", "recall"));
    auto& json = session.report();
    json["errors"] = result.errors;
    json["error_rate"] = result.error_rate;
    json["accuracy"] = result.accuracy;
    const std::size_t k = result.classes.size();
    for (std::size_t c = 0; c < k; ++c) {
      const ClassScore& score = result.classes[c];
      session.say(fmt::format("{:>12} {:>10} {:>10.4f} {:>10.4f}", score.label, score.rows,
                              score.precision, score.recall));
      list_in(json, "classes")
          .push_back({{"label", score.label},
                      {"rows", score.rows},
                      {"predicted", score.predicted},
                      {"correct", score.correct},
                      {"precision", score.precision},
                      {"recall", score.recall}});
      const auto row = result.confusion.begin() + static_cast<std::ptrdiff_t>(c * k);
      list_in(json, "confusion")
          .push_back(std::vector<Index>(row, row + static_cast<std::ptrdiff_t>(k)));
    }
  }

  std::string model_path_;
  std::string data_path_;
  std::vector<double> limits_;  // of indecision
  std::string report_path_;
  ReadOptions read_;
};

}  // namespace

std::unique_ptr<Command> make_evaluate_command() { return std::make_unique<EvaluateCommand>(); }

}  // namespace tamis::cli
