#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "model_rows.hpp"
#include "session.hpp"
#include "tamis/calibrate.hpp"
#include "tamis/error.hpp"
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
std::string table_lines(const Labels& labels, const Values& values) {
  std::string text;
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

std::string header_line(const std::vector<std::string>& columns) {
  std::string text = "label";
  for (const std::string& column : columns) text += "\t" + column;
  return text + "\n";
}

std::vector<std::string> names_of(const Labels& classes) {
  std::vector<std::string> names;
  for (Index c = 0; c < classes.size(); ++c) names.push_back(classes.name(c));
  return names;
}

// Predictions are one label per line, with tabs between columns.
void require_names_of_one_line(const Labels& classes, const std::string& path) {
  for (Index c = 0; c < classes.size(); ++c) {
    if (classes.name(c).find_first_of("\t\r\n") == std::string::npos) continue;
    throw DataError(fmt::format(
        "{}: the label of class {} has a tab or a line break, and predictions are written one per "
        "line: predict in Python, C or C++, or train with other labels",
        path, c + 1));
  }
}

// How good the predictions are, in svm-predict's words, from what is added block after block.
class ModelComparison {
 public:
  explicit ModelComparison(const Model& model) : model_(model) {}

  void add(const Labels& truth, const Labels& predicted) {
    rows_ += truth.size();
    if (truth.kind() == LabelKind::none) return;
    if (model_.task() == Task::regression)
      add_numbers(truth, predicted);
    else
      add_classes(truth, predicted);
  }

  void tell(Session& session) {
    rows_ = session.sum(rows_);
    if (rows_ == 0) return;
    if (model_.task() == Task::regression)
      tell_numbers(session);
    else
      tell_classes(session);
  }

 private:
  // Sums about the means, which move with every row (Welford): stable, and in one pass.
  struct Moments {
    double count = 0;
    double squares = 0;  // of the errors
    double mean_t = 0;
    double mean_p = 0;
    double tt = 0;
    double pp = 0;
    double tp = 0;

    void add(const Moments& other) {
      if (other.count == 0) return;
      const double all = count + other.count;
      const double t = other.mean_t - mean_t;
      const double p = other.mean_p - mean_p;
      const double weight = count * other.count / all;
      tt += other.tt + t * t * weight;
      pp += other.pp + p * p * weight;
      tp += other.tp + t * p * weight;
      mean_t += t * other.count / all;
      mean_p += p * other.count / all;
      squares += other.squares;
      count = all;
    }
  };

  void add_classes(const Labels& truth, const Labels& predicted) {
    const auto expected = encode_labels(truth, model_.classes());
    const auto given = encode_labels(predicted, model_.classes());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      known_ += expected[i] >= 0 ? 1 : 0;
      right_ += expected[i] >= 0 && expected[i] == given[i] ? 1 : 0;
    }
  }

  void tell_classes(Session& session) {
    known_ = session.sum(known_);
    right_ = session.sum(right_);
    if (known_ == 0) return;  // labels of another kind, or placeholders
    const double accuracy = static_cast<double>(right_) / static_cast<double>(rows_);
    session.note(
        fmt::format("Accuracy = {:.6g}% ({}/{}) (classification)", 100 * accuracy, right_, rows_));
    session.report()["accuracy"] = accuracy;
    session.report()["right"] = right_;
  }

  void add_numbers(const Labels& truth, const Labels& predicted) {
    if (truth.kind() != LabelKind::numeric) return;
    for (Index i = 0; i < truth.size(); ++i) {
      const double error = predicted.number(i) - truth.number(i);
      moments_.add({1, error * error, truth.number(i), predicted.number(i), 0, 0, 0});
    }
  }

  void tell_numbers(Session& session) {
    std::vector<double> sums(7);
    Moments all;
    session.add_in_turn(sums, [&](std::vector<double>& sum) {
      all = {sum[0], sum[1], sum[2], sum[3], sum[4], sum[5], sum[6]};
      all.add(moments_);
      sum = {all.count, all.squares, all.mean_t, all.mean_p, all.tt, all.pp, all.tp};
    });
    all = {sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6]};
    if (all.count == 0) return;  // words, or another process has them
    session.note(fmt::format("Mean squared error = {:.6g} (regression)", all.squares / all.count));
    session.report()["mean_squared_error"] = all.squares / all.count;
    if (all.tt <= 0 || all.pp <= 0) return;
    const double correlation = all.tp * all.tp / (all.tt * all.pp);
    session.note(fmt::format("Squared correlation coefficient = {:.6g} (regression)", correlation));
    session.report()["squared_correlation"] = correlation;
  }

  const Model& model_;
  Index rows_ = 0;
  Index known_ = 0;
  Index right_ = 0;
  Moments moments_;
};

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
    require_names_of_one_line(model.classes(), model_path_);
    const Dataset data = read_rows_for(session, model, data_path_, read_);
    ModelComparison comparison(model);
    if (session.control().group == nullptr)
      write_blocks(session, model, data, comparison);
    else
      write_together(session, model, data, comparison);
    session.report()["model"] = model_path_;
    session.report()["data"] = data_path_;
    session.report()["output"] = output_;
    session.report()["rows"] = session.sum(data.rows());
    comparison.tell(session);
    return kExitOk;
  }

 private:
  struct Block {
    Labels labels;
    std::string header;  // empty: one label per line needs none
    std::string lines;
  };

  Block predict_block(const Model& model, const Matrix& rows, const RunControl& control) const {
    Block block;
    if (!probabilities_ && !decision_values_) {
      block.labels = predict(model, rows, control);
      block.lines = label_lines(block.labels);
      return block;
    }
    const auto values = decision_values(model, rows, control);
    block.labels = predict(model, values, control);
    block.header = header_line(probabilities_ ? names_of(model.classes()) : values.columns);
    block.lines = probabilities_ ? table_lines(block.labels, probabilities(model, values, control))
                                 : table_lines(block.labels, values);
    return block;
  }

  // Rows that are mapped never are in memory all at once, and neither is what is written of them.
  void write_blocks(Session& session, const Model& model, const Dataset& data,
                    ModelComparison& comparison) const {
    constexpr Index kBlockRows = Index{1} << 18;
    std::unique_ptr<TextWriter> out;
    for (Index begin = 0; begin < data.rows(); begin += kBlockRows) {
      const Index end = std::min(data.rows(), begin + kBlockRows);
      const RunControl control = session.part_of(
          static_cast<double>(begin), static_cast<double>(data.rows()), static_cast<double>(end));
      const Block block = session.timed("predict", [&] {
        return predict_block(model, data.features().slice(begin, end), control);
      });
      session.timed("write", [&] {
        if (!out) {
          out = std::make_unique<TextWriter>(output_, session.writing());
          out->write(block.header);
        }
        out->write(block.lines);
      });
      comparison.add(data.labels().slice(begin, end), block.labels);
    }
    data.require_intact();
    session.timed("write", [&] { out->commit(); });
  }

  // The first process writes what all have predicted.
  void write_together(Session& session, const Model& model, const Dataset& data,
                      ModelComparison& comparison) const {
    Block block = session.timed(
        "predict", [&] { return predict_block(model, data.features(), session.control()); });
    session.timed("write", [&] {
      const std::string header = session.is_root() ? block.header : "";
      write_text(output_, header + block.lines, session.control());
    });
    comparison.add(data.labels(), block.labels);
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
