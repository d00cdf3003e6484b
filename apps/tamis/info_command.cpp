#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "session.hpp"
#include "tamis/io.hpp"
#include "tamis/system.hpp"
#include "tamis/text.hpp"
#include "tamis/version.hpp"

namespace tamis::cli {
namespace {

class InfoCommand : public Command {
 public:
  InfoCommand() : Command("info", "describe a model, or this installation") {}

  void declare(Options& options) override {
    options.argument("MODEL", path_, false,
                     "model of Tamis or of LIBSVM; without it: version, threads, memory");
    options.common(common_);
    options.example("tamis info train.model");
  }

  int run(Session& session) override {
    session.files().reads("MODEL", path_).require_distinct();
    if (path_.empty())
      describe_installation(session);
    else
      describe_model(session);
    return kExitOk;
  }

 private:
  static void line(Session& session, const char* name, const std::string& value) {
    session.say(fmt::format("{:<17}{}", name, value));
  }

  static void describe_installation(Session& session) {
    auto& report = session.report();
    report["threads"] = available_threads();
    report["memory_available_bytes"] = available_memory_bytes();
    report["simd"] = simd_target();
    line(session, "version", TAMIS_VERSION);
    line(session, "threads", fmt::format("{}", available_threads()));
    line(session, "memory available", format_bytes(available_memory_bytes()));
    line(session, "instruction set", simd_target());
  }

  static constexpr Index kMostListed = 100'000;

  static void describe_columns(Session& session, const ColumnMap& columns) {
    auto& report = session.report();
    if (!columns.names.empty()) report["column_names"] = columns.names;
    if (columns.is_identity()) return;
    if (columns.outputs() <= kMostListed) report["trained_columns"] = columns.output_names();
    line(session, "trained columns", fmt::format("{}", columns.outputs()));
    if (!columns.fills.empty()) {
      report["imputed"] = columns.fills;
      line(session, "missing values",
           fmt::format("imputed; in training, {} had some",
                       counted(columns.indicators.size(), "column")));
    }
    for (const ColumnMap::Text& text : columns.texts) {
      object_in(report, "categories")[columns.describe_column(text.column)] = text.categories;
      line(session, "text",
           fmt::format("{}: {}{}", columns.describe_column(text.column),
                       counted(text.categories.size(), "category", "categories"),
                       text.has_other ? " and others" : ""));
    }
  }

  // The largest ones, by name if columns have names, else by number as in svmlight files.
  static void describe_weights(Session& session, const std::vector<float>& weights,
                               const ColumnMap& columns) {
    constexpr std::size_t kShown = 10;
    if (weights.empty()) return;
    session.report()["feature_weights"] = weights;
    const std::vector<std::string> names =
        columns.inputs > 0 ? columns.output_names() : std::vector<std::string>();
    std::vector<std::size_t> order(weights.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
    std::string text;
    for (std::size_t i = 0; i < std::min(kShown, order.size()); ++i)
      text += fmt::format("{}{} ({:.3g})", i > 0 ? ", " : "",
                          names.empty() ? fmt::format("{}", order[i] + 1) : names[order[i]],
                          weights[order[i]]);
    if (order.size() > kShown) text += ", ...";
    line(session, "feature weights", text);
  }

  void describe_model(Session& session) const {
    const Model model = session.timed("load", [&] { return load_model(path_, session.control()); });
    std::error_code error;
    const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(path_, error));
    auto& report = session.report();
    report["model"] = path_;
    report["task"] = task_name(model.task());
    report["method"] = model.method();
    report["features"] = model.num_features();
    report["support_vectors"] = model.num_support_vectors();
    report["scaling"] = scaling_name(model.scaling().method);
    report["probabilities"] = model.has_probabilities();
    report["description"] = model.describe();
    report["classes"] = Json::array();
    std::string classes;
    for (Index c = 0; c < model.classes().size(); ++c) {
      report["classes"].push_back(model.classes().name(c));
      if (c < 20) classes += (c > 0 ? ", " : "") + model.classes().name(c);
    }
    if (model.classes().size() > 20) classes += ", ...";
    line(session, "task", std::string(task_name(model.task())));
    if (!model.method().empty()) line(session, "method", model.method());
    line(session, "model", model.describe());
    if (!model.classes().empty())
      line(session, "classes", fmt::format("{} ({})", model.classes().size(), classes));
    line(session, "features", fmt::format("{}", model.num_features()));
    line(session, "support vectors", fmt::format("{}", model.num_support_vectors()));
    if (model.has_probabilities()) line(session, "probabilities", "yes");
    line(session, "scaling", std::string(scaling_name(model.scaling().method)));
    describe_columns(session, model.columns());
    describe_weights(session, model.scaling().weights, model.columns());
    if (!model.scaling().matrix.empty()) {
      report["metric"] = "full";
      line(session, "metric",
           fmt::format("full: the columns are mixed by a matrix of {} x {}",
                       model.scaling().offset.size(), model.scaling().offset.size()));
    }
    if (error) return;
    report["file_bytes"] = bytes;
    line(session, "file size", format_bytes(bytes));
  }

  std::string path_;
};

}  // namespace

std::unique_ptr<Command> make_info_command() { return std::make_unique<InfoCommand>(); }

}  // namespace tamis::cli
