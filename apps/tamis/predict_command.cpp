#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "model_rows.hpp"
#include "session.hpp"
#include "tamis/calibrate.hpp"
#include "tamis/io.hpp"
#include "tamis/predict.hpp"

namespace tamis::cli {
namespace {

void append_number(std::string& text, double value) {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  text.append(buffer, result.ptr);
}

std::string label_lines(const Labels& labels) {
  std::string text;
  for (Index i = 0; i < labels.size(); ++i) text += labels.name(i) + "\n";
  return text;
}

// A table with tabs: a header line, then the label and the values of each row. `values` has a cols
// field and an at() method.
template <typename Values>
std::string table_lines(const std::vector<std::string>& columns, const Labels& labels,
                        const Values& values, bool with_header) {
  std::string text;
  if (with_header) {
    text = "label";
    for (const std::string& column : columns) text += "\t" + column;
    text += "\n";
  }
  for (Index i = 0; i < labels.size(); ++i) {
    text += labels.name(i);
    for (Index j = 0; j < values.cols; ++j) {
      text += '\t';
      append_number(text, values.at(i, j));
    }
    text += '\n';
  }
  return text;
}

std::string probability_lines(const Labels& classes, const Labels& labels,
                              const Probabilities& values, bool with_header) {
  std::vector<std::string> columns;
  for (Index c = 0; c < classes.size(); ++c) columns.push_back(classes.name(c));
  return table_lines(columns, labels, values, with_header);
}

class PredictCommand : public Command {
 public:
  PredictCommand() : Command("predict", "predict labels with a model") {}

  bool runs_together() const override { return true; }

  void declare(Options& options) override {
    options.argument("MODEL", model_path_, true, "model of Tamis or of LIBSVM");
    options.data("DATA", data_path_, read_, "rows to predict; - is standard input");
    options.output("-o,--output", output_, "file with one label per line; - is standard output");
    options.flag("--decision-values", decision_values_,
                 "write a table separated by tabs, with a header: label and decision values");
    options.flag("--probabilities", probabilities_,
                 "write a table separated by tabs, with a header: label and probability of each "
                 "class; the model must be calibrated");
    options.reading(read_);
    options.common(common_);
    options.example("tamis predict train.model test.svm -o predicted.txt");
  }

  int run(Session& session) override {
    session.files()
        .reads("MODEL", model_path_)
        .reads("DATA", data_path_, read_)
        .writes("--output", output_)
        .require_distinct();
    if (probabilities_ && decision_values_)
      throw UsageError("--decision-values and --probabilities do not go together");
    const Model model =
        session.timed("load", [&] { return load_model(model_path_, session.control()); });
    const Dataset data = read_rows_for(session, model, data_path_, read_);
    std::string text;
    const Labels predicted = session.timed("predict", [&] {
      if (!probabilities_ && !decision_values_) {
        Labels labels = predict(model, data.features(), session.control());
        text = label_lines(labels);
        return labels;
      }
      const auto values = decision_values(model, data.features(), session.control());
      Labels labels = predict(model, values, session.control());
      text = probabilities_ ? probability_lines(model.classes(), labels,
                                                probabilities(model, values, session.control()),
                                                session.is_root())
                            : table_lines(values.columns, labels, values, session.is_root());
      return labels;
    });
    session.timed("write", [&] { write_text(output_, text, session.control()); });
    session.report()["model"] = model_path_;
    session.report()["data"] = data_path_;
    session.report()["output"] = output_;
    session.report()["rows"] = session.sum(data.rows());
    compare(session, model, data.labels(), predicted);
    return kExitOk;
  }

 private:
  // Says how good the prediction is, in svm-predict's words, when the data have labels to compare.
  static void compare(Session& session, const Model& model, const Labels& truth,
                      const Labels& predicted) {
    const std::int64_t rows = session.sum(truth.size());
    if (rows == 0) return;
    if (model.task() == Task::regression) {
      compare_numbers(session, truth, predicted);
      return;
    }
    const auto expected = encode_labels(truth, model.classes());
    const auto given = encode_labels(predicted, model.classes());
    Index known = 0;
    Index right = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      known += expected[i] >= 0 ? 1 : 0;
      right += expected[i] >= 0 && expected[i] == given[i] ? 1 : 0;
    }
    known = session.sum(known);
    right = session.sum(right);
    if (known == 0) return;  // labels of another kind, or placeholders
    const double accuracy = static_cast<double>(right) / static_cast<double>(rows);
    session.note(
        fmt::format("Accuracy = {:.6g}% ({}/{}) (classification)", 100 * accuracy, right, rows));
    session.report()["accuracy"] = accuracy;
    session.report()["right"] = right;
  }

  static void compare_numbers(Session& session, const Labels& truth, const Labels& predicted) {
    const bool are_numbers = truth.kind() == LabelKind::numeric;
    const Index rows = are_numbers ? truth.size() : 0;
    const auto n = static_cast<double>(session.sum(rows));
    if (n == 0) return;           // words
    std::vector<double> sums(3);  // of squared errors, and the means of truth and prediction
    session.add_in_turn(sums, [&](std::vector<double>& sum) {
      for (Index i = 0; i < rows; ++i) {
        const double error = predicted.number(i) - truth.number(i);
        sum[0] += error * error;
        sum[1] += truth.number(i) / n;
        sum[2] += predicted.number(i) / n;
      }
    });
    const double squares = sums[0];
    std::vector<double> products(3);  // truth with itself, prediction with itself, both
    session.add_in_turn(products, [&](std::vector<double>& sum) {
      for (Index i = 0; i < rows; ++i) {
        const double t = truth.number(i) - sums[1];
        const double p = predicted.number(i) - sums[2];
        sum[0] += t * t;
        sum[1] += p * p;
        sum[2] += t * p;
      }
    });
    const double tt = products[0];
    const double pp = products[1];
    const double tp = products[2];
    session.note(fmt::format("Mean squared error = {:.6g} (regression)", squares / n));
    session.report()["mean_squared_error"] = squares / n;
    if (tt <= 0 || pp <= 0) return;
    session.note(
        fmt::format("Squared correlation coefficient = {:.6g} (regression)", tp * tp / (tt * pp)));
    session.report()["squared_correlation"] = tp * tp / (tt * pp);
  }

  std::string model_path_;
  std::string data_path_;
  std::string output_ = "-";
  bool decision_values_ = false;
  bool probabilities_ = false;
  ReadOptions read_;
};

}  // namespace

std::unique_ptr<Command> make_predict_command() { return std::make_unique<PredictCommand>(); }

}  // namespace tamis::cli
