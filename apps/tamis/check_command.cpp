#include <fmt/format.h>

#include "data_summary.hpp"
#include "session.hpp"
#include "tamis/error.hpp"
#include "tamis/io.hpp"
#include "tamis/text.hpp"

namespace tamis::cli {
namespace {

constexpr std::size_t kClassesShown = 20;
constexpr std::size_t kColumnsShown = 20;

class CheckCommand : public Command {
 public:
  CheckCommand() : Command("check", "describe a data file, and say what to fix") {}

  void declare(Options& options) override {
    options.data("DATA", path_, read_, "rows to describe; - is standard input");
    options.reading(read_);
    options.common(common_);
    options.example("tamis check train.csv");
  }

  int run(Session& session) override {
    session.files().reads("DATA", path_, read_).require_distinct();
    const Dataset data = session.timed("read", [&] { return read(session); });
    const DataSummary summary =
        session.timed("check", [&] { return summarize(data, session.control()); });
    const auto lines = advice(summary, path_);
    say(session, summary);
    for (const std::string& line : lines) session.say("advice: " + line);
    report(session, summary, lines);
    return kExitOk;
  }

 private:
  // Text and missing values are errors for training, unless it allows them; here they are what
  // there is to say. Standard input is read once only, and then they are errors here too.
  Dataset read(Session& session) const {
    try {
      return read_dataset(path_, read_, session.control());
    } catch (const DataError&) {
      if (path_ == "-") throw;
    }
    ReadOptions as_table = read_;
    as_table.missing_values = true;
    as_table.text_columns = true;
    return read_dataset(path_, as_table, session.control());
  }

  static void line(Session& session, const char* name, const std::string& value) {
    session.say(fmt::format("{:<17}{}", name, value));
  }

  static void say(Session& session, const DataSummary& s) {
    line(session, "rows", fmt::format("{}", s.rows));
    line(session, "features", fmt::format("{}", s.features));
    line(session, "non-zero values",
         fmt::format("{:.3g} % (kept {})", 100 * s.density, s.sparse ? "sparse" : "dense"));
    line(session, "values", fmt::format("{:.6g} to {:.6g}", s.smallest_value, s.largest_value));
    for (std::size_t c = 0; c < std::min(s.table_columns.size(), kColumnsShown); ++c) {
      const TableColumn& column = s.table_columns[c];
      if (column.categories > 0)
        line(session, "text",
             fmt::format("{}: {}", column.name,
                         counted(column.categories, "category", "categories")));
      if (column.missing > 0)
        line(session, "missing values",
             fmt::format("{}: {}", column.name, counted(column.missing, "row")));
    }
    if (s.table_columns.size() > kColumnsShown)
      line(session, "text or missing",
           fmt::format("... {} columns in all", s.table_columns.size()));
    for (std::size_t c = 0; c < std::min(s.classes.size(), kClassesShown); ++c) {
      const auto& [name, count] = s.classes[c];
      line(session, "class",
           fmt::format("{}: {} ({:.3g} %)", name, counted(count, "row"),
                       100.0 * static_cast<double>(count) / static_cast<double>(s.rows)));
    }
    if (s.classes.size() > kClassesShown)
      line(session, "class", fmt::format("... {} classes in all", s.classes.size()));
    if (s.has_targets)
      line(session, "targets",
           fmt::format("{:.6g} to {:.6g}", s.smallest_target, s.largest_target));
    if (s.classes.empty() && !s.has_targets) line(session, "labels", "none");
    line(session, "constant columns", fmt::format("{}", s.constant_columns));
    line(session, "repeated rows",
         fmt::format("{}{}", s.duplicate_rows,
                     s.contradicting_rows == 0
                         ? ""
                         : fmt::format(" ({} with another label)", s.contradicting_rows)));
  }

  void report(Session& session, const DataSummary& s, const std::vector<std::string>& lines) const {
    auto& report = session.report();
    report["data"] = path_;
    report["rows"] = s.rows;
    report["features"] = s.features;
    report["sparse"] = s.sparse;
    report["density"] = s.density;
    report["values"] = {s.smallest_value, s.largest_value};
    Json& classes = report["classes"] = Json::array();
    for (const auto& [name, count] : s.classes)
      classes.push_back({{"label", name}, {"rows", count}});
    report["targets"] = nullptr;
    if (s.has_targets) report["targets"] = {s.smallest_target, s.largest_target};
    Json& columns = report["table_columns"] = Json::array();
    for (const TableColumn& column : s.table_columns)
      columns.push_back({{"column", column.name},
                         {"categories", column.categories},
                         {"missing", column.missing}});
    report["constant_columns"] = s.constant_columns;
    report["range_ratio"] = s.range_ratio;
    report["repeated_rows"] = s.duplicate_rows;
    report["contradicting_rows"] = s.contradicting_rows;
    report["advice"] = lines;
  }

  std::string path_;
  ReadOptions read_;
};

}  // namespace

std::unique_ptr<Command> make_check_command() { return std::make_unique<CheckCommand>(); }

}  // namespace tamis::cli
