#include "tamis/certify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "model_rows.hpp"
#include "session.hpp"
#include "tamis/io.hpp"
#include "tamis/text.hpp"
#include "training_options.hpp"

namespace tamis::cli {
namespace {

// What a model file does not hold.
constexpr std::array<std::string_view, 5> kAssumed = {"cost", "loss", "tube", "class-weight",
                                                      "eps"};

// Machines of many classes are listed up to this number; the report has them all.
constexpr std::size_t kListed = 20;

class CertifyCommand : public Command {
 public:
  CertifyCommand()
      : Command("certify", "check whether a model is the optimum of the full problem") {}

  bool runs_together() const override { return true; }

  void declare(Options& options) override {
    options.argument("MODEL", model_path_, true, "model of Tamis or of LIBSVM");
    options.data("DATA", data_path_, read_, "its training rows; - is standard input");
    for (const OptionDescription& described : train_option_table()) {
      if (std::find(kAssumed.begin(), kAssumed.end(), described.name) == kAssumed.end()) continue;
      declare_training_option(options, described, [this, &described](const std::string& text) {
        described.set_text(assumed_, text);
      });
    }
    options.text("--against", other_path_, "MODEL",
                 "also count the support vectors shared with this model");
    options.reading(read_);
    options.common(common_);
    options.example(
        "tamis certify train.model train.svm -c 10\n"
        "tamis certify quick.model train.svm -c 10 --against full.model\n"
        "tamis certify separator.model train.svm -c inf");
  }

  int run(Session& session) override {
    if (!other_path_.empty() && session.control().group != nullptr)
      throw UsageError("--against does not run on several processes");
    session.files()
        .reads("MODEL", model_path_)
        .reads("DATA", data_path_, read_)
        .reads("--against", other_path_)
        .require_distinct();
    const Model model =
        session.timed("load", [&] { return load_model(model_path_, session.control()); });
    read_.text_labels = model.task() == Task::classification;
    const Dataset data = read_rows_for(session, model, data_path_, read_);
    const Certificate certificate =
        session.timed("certify", [&] { return certify(model, data, assumed_, session.control()); });
    tell(session, certificate);
    fill_report(session, certificate);
    if (!other_path_.empty()) compare(session, model, data);
    return certificate.certified ? kExitOk : kExitLimit;
  }

 private:
  void tell(Session& session, const Certificate& c) const {
    session.say(fmt::format("assumed: {}", c.problem));
    session.say(fmt::format("{}, {}{}", counted(c.rows, "row"),
                            counted(c.support_vectors, "support vector"),
                            c.in_double ? "; kernel values in double precision" : ""));
    if (c.foreign_vectors > 0) {
      session.say(
          fmt::format("{} not among the rows: the dual objective of the model is not known",
                      counted(c.foreign_vectors, "support vector is", "support vectors are")));
    }
    if (c.machines.size() > 1) {
      session.say(fmt::format("{:>12} {:>10} {:>14} {:>14} {:>11} {:>11} {:>10}", "binary SVM",
                              "rows", "primal", "dual", "gap", "violation", "violating"));
      for (std::size_t m = 0; m < std::min(kListed, c.machines.size()); ++m) {
        const MachineCertificate& one = c.machines[m];
        session.say(fmt::format("{:>12} {:>10} {:>14.8g} {:>14.8g} {:>11.3g} {:>11.3g} {:>10}",
                                one.name, one.rows, one.primal, one.dual, one.gap, one.violation,
                                one.violating_rows));
      }
      if (c.machines.size() > kListed)
        session.say(fmt::format("... and {}", counted(c.machines.size() - kListed, "more SVM")));
    }
    session.say(fmt::format("primal {:.10g}, dual {:.10g}, gap {:.3g} ({:.3g} relative)", c.primal,
                            c.dual, c.gap, c.relative_gap));
    std::string rows = c.violating_rows == 0
                           ? fmt::format("no row violates by more than {:.3g}", c.eps)
                           : fmt::format("{} by more than {:.3g}, by {:.3g} on average",
                                         counted(c.violating_rows, "row violates", "rows violate"),
                                         c.eps, c.mean_violation);
    session.say(fmt::format("largest violation {:.3g}; {}", c.violation, rows));
    session.say(c.certified ? fmt::format("certified: the optimum at eps {:.3g}", c.eps)
                            : fmt::format("not certified at eps {:.3g}{}", c.eps, reason(c)));
  }

  static std::string reason(const Certificate& c) {
    for (const MachineCertificate& one : c.machines) {
      if (one.certified) continue;
      const std::string where = c.machines.size() > 1 ? " of SVM " + one.name : "";
      if (one.foreign_vectors > 0)
        return fmt::format(": {}{} not among the rows",
                           counted(one.foreign_vectors, "support vector"),
                           where + (one.foreign_vectors == 1 ? " is" : " are"));
      if (one.violation > c.eps + one.rounding)
        return fmt::format(": row {}{} violates by {:.3g}", one.worst_row + 1, where,
                           one.violation);
      if (one.bound_breach > one.sum_breach)
        return fmt::format(": a coefficient{} leaves its bounds by {:.3g}: is C right?", where,
                           one.bound_breach);
      return fmt::format(": the coefficients{} sum to {:.3g}, not 0", where, one.sum_breach);
    }
    return "";
  }

  void fill_report(Session& session, const Certificate& c) const {
    auto& json = session.report();
    json["model"] = model_path_;
    json["data"] = data_path_;
    json["assumed"] = c.problem;
    json["rows"] = c.rows;
    json["support_vectors"] = c.support_vectors;
    json["foreign_vectors"] = c.foreign_vectors;
    json["primal"] = number(c.primal);
    json["dual"] = number(c.dual);
    json["gap"] = number(c.gap);
    json["relative_gap"] = number(c.relative_gap);
    json["violation"] = c.violation;
    json["violating_rows"] = c.violating_rows;
    json["mean_violation"] = c.mean_violation;
    json["eps"] = c.eps;
    json["double_precision"] = c.in_double;
    json["certified"] = c.certified;
    for (const MachineCertificate& one : c.machines) {
      list_in(json, "binary_svms")
          .push_back({{"name", one.name},
                      {"rows", one.rows},
                      {"support_vectors", one.support_vectors},
                      {"foreign_vectors", one.foreign_vectors},
                      {"primal", number(one.primal)},
                      {"dual", number(one.dual)},
                      {"gap", number(one.gap)},
                      {"relative_gap", number(one.relative_gap)},
                      {"violation", one.violation},
                      {"worst_row", one.worst_row + 1},
                      {"violating_rows", one.violating_rows},
                      {"mean_violation", one.mean_violation},
                      {"bound_breach", one.bound_breach},
                      {"sum_breach", one.sum_breach},
                      {"rounding", one.rounding},
                      {"certified", one.certified}});
    }
  }

  // JSON has no infinity and no NaN.
  static Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

  void compare(Session& session, const Model& model, const Dataset& data) const {
    const Model other =
        session.timed("load", [&] { return load_model(other_path_, session.control()); });
    const SupportOverlap overlap = session.timed(
        "compare", [&] { return support_overlap(model, other, data, session.control()); });
    const auto percent = [&](Index all) {
      return all > 0 ? 100 * static_cast<double>(overlap.shared) / static_cast<double>(all) : 0.0;
    };
    session.say(fmt::format("{} shared: {:.1f} % of {} here, {:.1f} % of {} in {}",
                            counted(overlap.shared, "support vector"), percent(overlap.own),
                            overlap.own, percent(overlap.other), overlap.other, other_path_));
    session.report()["against"] = {{"model", other_path_},
                                   {"shared", overlap.shared},
                                   {"own", overlap.own},
                                   {"other", overlap.other}};
  }

  std::string model_path_;
  std::string data_path_;
  std::string other_path_;
  TrainOptions assumed_;
  ReadOptions read_;
};

}  // namespace

std::unique_ptr<Command> make_certify_command() { return std::make_unique<CertifyCommand>(); }

}  // namespace tamis::cli
