// Models that an earlier version wrote must load for ever and predict what they predicted then; and
// docs/model_format.md must name everything that is written. See golden/README.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "format/edited_header.hpp"
#include "io/libsvm_model.hpp"
#include "io/machine_format.hpp"
#include "support/targets.hpp"
#include "tamis/calibrate.hpp"
#include "tamis/io.hpp"
#include "tamis/predict.hpp"

namespace tamis {
namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool is_native(const fs::path& model) { return !is_libsvm_model(read_text(model)); }

// What `tamis predict` printed: a header line, then a label and numbers, separated by tabs.
struct Table {
  std::vector<std::string> labels;
  std::vector<double> values;
};

Table read_table(const fs::path& path) {
  std::istringstream lines(read_text(path));
  std::string line;
  std::getline(lines, line);
  Table table;
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::string field;
    std::getline(fields, field, '\t');
    table.labels.push_back(field);
    while (std::getline(fields, field, '\t')) {
      double value = 0;
      std::from_chars(field.data(), field.data() + field.size(), value);
      table.values.push_back(value);
    }
  }
  return table;
}

std::vector<fs::path> stored_models() {
  std::vector<fs::path> models;
  for (const auto& entry : fs::recursive_directory_iterator(TAMIS_GOLDEN_FOLDER)) {
    if (entry.path().extension() == ".model") models.push_back(entry.path());
  }
  std::sort(models.begin(), models.end());
  return models;
}

fs::path beside(const fs::path& model, const std::string& ending) {
  return fs::path(model).replace_extension(ending);
}

Matrix rows_for(const fs::path& path, const Model& model) {
  ReadOptions options;
  options.min_features = model.num_features();
  options.index_base = path.stem() == "kernel-expansion-precomputed" ? 0 : 1;
  const fs::path csv = beside(path, ".rows.csv");
  const fs::path rows = fs::exists(csv) ? csv : beside(path, ".rows.svm");
  options.columns = model.columns();
  return tamis::rows_for(model, read_dataset(rows.string(), options)).features();
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected,
                 double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << i;
}

// A few units in the last place of float32, in which kernel values are computed. A k-NN SVM is as
// good as its training, which ends at a tolerance of 1e-6.
double tolerance_for(const fs::path& model, const std::vector<double>& values) {
  if (model.stem().string().starts_with("knn-svm")) return 1e-4;
  double largest = 1;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return 16 * 0x1p-23 * largest;
}

void expect_predictions(const fs::path& path) {
  const Model model = load_model(path.string());
  const Matrix rows = rows_for(path, model);
  const Table expected = read_table(beside(path, ".expected.tsv"));
  ASSERT_EQ(static_cast<Index>(expected.labels.size()), rows.rows());
  expect_near(decision_values(model, rows).values, expected.values,
              tolerance_for(path, expected.values));
  const Labels labels = predict(model, rows);
  for (Index i = 0; i < labels.size() && model.task() == Task::classification; ++i)
    EXPECT_EQ(labels.name(i), expected.labels[static_cast<std::size_t>(i)]) << i;
  const fs::path calibrated = beside(path, ".probabilities.tsv");
  EXPECT_EQ(model.has_probabilities(), fs::exists(calibrated));
  if (model.has_probabilities())
    expect_near(probabilities(model, rows).values, read_table(calibrated).values, 1e-5);
}

TEST(GoldenModel, PredictsWhatItAlwaysDid) {
  ASSERT_FALSE(stored_models().empty());
  testing::on_each_target([] {
    for (const fs::path& path : stored_models()) {
      SCOPED_TRACE(path.filename().string());
      expect_predictions(path);
    }
  });
}

TEST(GoldenModel, IsThereForEveryKind) {
  std::set<std::string> found;
  for (const fs::path& path : stored_models()) {
    if (is_native(path)) found.insert(testing::header_of(read_text(path))["__metadata__"]["kind"]);
  }
  for (const std::string_view kind : machine_kinds())
    EXPECT_TRUE(found.contains(std::string(kind))) << kind << ": store one, see golden/README.md";
}

// What the document has between backticks, outside its blocks of code.
std::set<std::string> documented_names() {
  std::istringstream lines(read_text(TAMIS_FORMAT_DOCUMENT));
  std::set<std::string> names;
  bool is_code = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) is_code = !is_code;
    if (is_code) continue;
    std::istringstream parts(line);
    std::string part;
    for (bool is_quoted = false; std::getline(parts, part, '`'); is_quoted = !is_quoted) {
      if (is_quoted) names.insert(part);
    }
  }
  return names;
}

// Every key, every name among the values, and every array of a file.
std::vector<std::string> names_in(const std::string& saved) {
  const auto header = testing::header_of(saved);
  const auto& metadata = header["__metadata__"];
  std::vector<std::string> names;
  for (const auto& [name, entry] : header.items()) names.push_back(name);
  for (const auto& [key, value] : metadata.items()) names.push_back(key);
  for (const char* key : {"task", "kind", "scaling", "calibration", "decision"}) {
    if (metadata.contains(key)) names.push_back(metadata[key]);
  }
  for (const char* key : {"kernel", "training"}) {
    if (!metadata.contains(key)) continue;
    const auto settings = nlohmann::json::parse(metadata[key].get<std::string>());
    for (const auto& [name, value] : settings.items()) names.push_back(name);
    if (settings.contains("type")) names.push_back(settings["type"]);
  }
  return names;
}

TEST(GoldenModel, EverythingWrittenIsDocumented) {
  const std::set<std::string> documented = documented_names();
  for (const fs::path& path : stored_models()) {
    SCOPED_TRACE(path.filename().string());
    // Written again, so that what later versions add to the format counts as well.
    std::vector<std::string> names = names_in(model_to_bytes(load_model(path.string())));
    if (is_native(path)) {
      for (const std::string& name : names_in(read_text(path))) names.push_back(name);
    }
    for (const std::string& name : names)
      EXPECT_TRUE(documented.contains(name))
          << "docs/model_format.md does not name `" << name << "`";
  }
  for (const std::string_view kind : machine_kinds())
    EXPECT_TRUE(documented.contains(std::string(kind))) << kind;
}

}  // namespace
}  // namespace tamis
