// Cells against what they must be, found by looking at every row.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>

#include "base/checked.hpp"
#include "methods/common/binary_settings.hpp"
#include "methods/local/cell_plan.hpp"
#include "model/local_models.hpp"
#include "model/model_parts.hpp"
#include "support/random_data.hpp"
#include "support/training_sets.hpp"
#include "svm/train_local.hpp"
#include "tamis/checkpoint.hpp"
#include "tamis/error.hpp"
#include "tamis/generate.hpp"
#include "tamis/io.hpp"
#include "tamis/predict.hpp"
#include "tamis/train.hpp"

namespace tamis::testing {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    path_ = (fs::temp_directory_path() / "tamis-cells-test-XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no temporary folder");
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }
  Index files() const {
    Index count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(path_))
      count += entry.is_regular_file() ? 1 : 0;
    return count;
  }

 private:
  std::string path_;
};

TrainOptions cell_options(const std::string& method, Index cell_rows, Index k) {
  TrainOptions options;
  options.method = method;
  options.gamma = {Gamma::Rule::value, 20};
  options.cost = 4;
  options.local.k = k;
  options.local.cell_rows = cell_rows;
  return options;
}

double detail(const TrainReport& report, std::string_view name) {
  for (const auto& [key, value] : report.details) {
    if (key == name) return value;
  }
  ADD_FAILURE() << "no detail " << name;
  return -1;
}

const LocalModels& local_models(const Model& model) {
  return dynamic_cast<const LocalModels&>(machine_of(model));
}

// Every row is in one cell, and whatever is within the safe distance of it is in the cell or its
// halo.
void expect_safe(const Matrix& rows, Index cells, Index k) {
  const CellPlan plan(rows, rows.rows(), cells, k, {});
  EXPECT_EQ(plan.size(), cells);
  std::vector<Index> cell_of;
  std::vector<std::vector<bool>> holds(usize(cells), std::vector<bool>(usize(rows.rows()), false));
  std::vector<Index> own(usize(cells), 0);
  std::vector<Index> halo(usize(cells), 0);
  for (Index i = 0; i < rows.rows(); ++i) {
    cell_of.push_back(plan.cell_of(rows, i));
    ++own[usize(cell_of.back())];
    holds[usize(cell_of.back())][usize(i)] = true;
    std::vector<Index> others;
    plan.append_halos(rows, i, cell_of.back(), &others);
    for (const Index other : others) {
      EXPECT_NE(other, cell_of.back());
      EXPECT_FALSE(holds[usize(other)][usize(i)]);
      holds[usize(other)][usize(i)] = true;
      ++halo[usize(other)];
    }
  }
  for (Index c = 0; c < cells; ++c) {
    EXPECT_LT(own[usize(c)], 2 * rows.rows() / cells);
    EXPECT_LE(halo[usize(c)], own[usize(c)] + 1);
  }
  for (Index i = 0; i < rows.rows(); i += 7) {
    const Index c = cell_of[usize(i)];
    const double safe = plan.box(c).safe_distance(rows, i);
    EXPECT_GE(safe, 0);
    for (Index j = 0; j < rows.rows(); ++j) {
      if (std::sqrt(squared_distance(rows, i, j)) <= safe) {
        EXPECT_TRUE(holds[usize(c)][usize(j)]) << "row " << j << " near row " << i;
      }
    }
  }
}

TEST(CellPlan, HoldsWhatIsWithinTheSafeDistance) {
  for (const Index cols : {1, 2, 3, 6}) {
    SCOPED_TRACE(cols);
    expect_safe(random_matrix(1500, cols, 1), 5, 20);
    expect_safe(random_matrix(1500, cols, 2), 8, 20);
  }
  expect_safe(random_matrix(1500, 10, 3, 0.4).to_sparse(), 4, 20);
}

TEST(CellPlan, RowsThatCannotBeToldApartStayTogether) {
  const Matrix same = Matrix::dense(100, 2, std::vector<float>(200, 1.0F));
  EXPECT_EQ(CellPlan(same, 100, 8, 5, {}).size(), 1);
  // Three values in one column: at most three cells.
  std::vector<float> values;
  for (Index i = 0; i < 300; ++i) values.push_back(static_cast<float>(i % 3));
  const Matrix few = Matrix::dense(300, 1, std::move(values));
  const CellPlan plan(few, 300, 8, 5, {});
  EXPECT_EQ(plan.size(), 3);
  EXPECT_EQ(plan.cell_of(few, 0), plan.cell_of(few, 3));
}

// The variance of 167 times 0.11 is not quite 0 in floating point.
TEST(CellPlan, EqualValuesWhoseVarianceIsRounded) {
  std::vector<float> values;
  for (Index i = 0; i < 833; ++i) values.push_back(static_cast<float>(i) * 1e-4F);
  values.resize(1000, 0.11F);
  const Matrix rows = Matrix::dense(1000, 1, std::move(values));
  const CellPlan plan(rows, 1000, 16, 5, {});
  EXPECT_GT(plan.size(), 8);
  std::vector<Index> own(usize(plan.size()), 0);
  for (Index i = 0; i < 1000; ++i) ++own[usize(plan.cell_of(rows, i))];
  EXPECT_EQ(std::count(own.begin(), own.end(), 0), 0);
  EXPECT_EQ(own[usize(plan.cell_of(rows, 999))], 167);
}

// The naive twin: the k nearest of all rows, found one by one, and an SVM on them.
LocalMachine naive_machine(const TrainingSet& set, const MethodCall& call, Index centre, Index k) {
  std::vector<std::pair<float, Index>> order;
  for (Index i = 0; i < set.rows(); ++i) {
    float sum = 0;
    for (Index j = 0; j < set.features.cols(); ++j) {
      const float difference = set.features.at(i, j) - set.features.at(centre, j);
      sum += difference * difference;
    }
    order.emplace_back(sum, i);
  }
  std::sort(order.begin(), order.end());
  std::vector<Index> rows;
  for (Index i = 0; i < k; ++i) rows.push_back(order[usize(i)].second);
  std::sort(rows.begin(), rows.end());
  const LocalRows data{set.features, set.codes, set.targets, set.cost, {}};
  return train_local(data, rows, binary_settings(set, call.context(), 1 << 20), {}).machine;
}

// Coefficients by the values of their rows.
std::map<std::vector<float>, double> terms_of(const Matrix& rows, std::span<const Index> which,
                                              std::span<const double> coefficients) {
  std::map<std::vector<float>, double> terms;
  for (std::size_t t = 0; t < which.size(); ++t) {
    const auto row = rows.dense_row(which[t]);
    terms[{row.begin(), row.end()}] = coefficients[t];
  }
  return terms;
}

void expect_machines_of_all_rows(Index cols, double most_inexact) {
  constexpr Index kRows = 3000;
  constexpr Index kNeighbors = 40;
  const Dataset data = named(clouds(kRows, cols, 2, 5), {1, -1});
  const TrainResult result = train(data, cell_options("falk-c", 400, kNeighbors));
  const LocalParts& parts = local_models(result.model).parts();
  MethodCall call;
  call.options = cell_options("falk-c", 400, kNeighbors);
  TrainingSet set;
  set.features = data.features();
  for (const std::int32_t code : encode_labels(data.labels(), distinct_classes(data.labels())))
    set.codes.push_back(code);
  set.num_classes = 2;
  set.cost.assign(usize(kRows), 4.0);
  set.kernel = Kernel{KernelType::rbf, 20, 0, 3};
  std::map<std::vector<float>, Index> row_of;
  for (Index i = 0; i < kRows; ++i) {
    const auto row = data.features().dense_row(i);
    row_of[{row.begin(), row.end()}] = i;
  }
  Index different = 0;
  for (Index m = 0; m < parts.only_class.size(); ++m) {
    const auto centre = parts.rows.dense_row(parts.anchors[m]);
    const LocalMachine expected =
        naive_machine(set, call, row_of.at({centre.begin(), centre.end()}), kNeighbors);
    bool same = parts.only_class[m] == expected.only_class;
    if (same && expected.only_class < 0) {
      const Index p = parts.pair_begin[m];
      const TrainedMachine& one = expected.pairs[0].machine;
      const Index begin = parts.term_begin[p];
      const Index end = parts.term_begin[p + 1];
      same =
          parts.offsets[p] == one.offset && terms_of(parts.rows, parts.term_rows.range(begin, end),
                                                     parts.coefficients.range(begin, end)) ==
                                                terms_of(set.features, one.rows, one.coefficients);
    }
    different += same ? 0 : 1;
  }
  EXPECT_EQ(detail(result.report, "cells"), 8);
  const double centres = detail(result.report, "centres");
  EXPECT_EQ(static_cast<double>(parts.only_class.size()), centres);
  const double inexact = detail(result.report, "inexact_fraction") * centres;
  EXPECT_LE(static_cast<double>(different), inexact + 1e-6);
  EXPECT_LE(inexact, most_inexact * centres);
}

TEST(Cells, MachinesAreThoseOfTheNearestOfAllRows) {
  expect_machines_of_all_rows(2, 0.1);
  expect_machines_of_all_rows(3, 0.6);  // small cells: as many rows around them as in them
}

// Without cells, falk's centers are others; but each row must be answered for by a machine that has
// it among its innermost rows, and the model must be about as good.
TEST(Cells, AboutAsGoodAsAllRowsAtOnce) {
  const Dataset data = generate("checkerboard", {.rows = 6000, .seed = 1}).data;
  const Dataset test = generate("checkerboard", {.rows = 4000, .seed = 2}).data;
  for (const std::string method : {"falk", "falk-c"}) {
    const auto error = [&](Index cell_rows) {
      const TrainResult result = train(data, cell_options(method, cell_rows, 60));
      const Labels labels = predict(result.model, test.features());
      Index wrong = 0;
      for (Index i = 0; i < labels.size(); ++i)
        wrong += labels.number(i) != test.labels().number(i) ? 1 : 0;
      return static_cast<double>(wrong) / static_cast<double>(labels.size());
    };
    const double whole = error(1'000'000);
    const double in_cells = error(700);
    EXPECT_LT(whole, 0.2);
    EXPECT_NEAR(in_cells, whole, 0.01) << method;
  }
}

TEST(Cells, FalkKeepsEveryRowOnce) {
  const Dataset data = generate("checkerboard", {.rows = 3000, .seed = 1}).data;
  const TrainResult result = train(data, cell_options("falk", 500, 50));
  const LocalParts& parts = local_models(result.model).parts();
  EXPECT_EQ(parts.rows.rows(), 3000);
  EXPECT_TRUE(parts.anchors.empty());
  std::vector<std::pair<float, float>> given;
  std::vector<std::pair<float, float>> kept;
  for (Index i = 0; i < 3000; ++i) {
    given.emplace_back(data.features().at(i, 0), data.features().at(i, 1));
    kept.emplace_back(parts.rows.at(i, 0), parts.rows.at(i, 1));
  }
  std::sort(given.begin(), given.end());
  std::sort(kept.begin(), kept.end());
  EXPECT_EQ(given, kept);
}

TEST(Cells, ThreadsDoNotShow) {
  const Dataset data = generate("checkerboard", {.rows = 5000, .seed = 4}).data;
  for (const std::string method : {"falk", "falk-c"}) {
    RunControl control;
    control.threads = 1;
    const std::string one =
        model_to_bytes(train(data, cell_options(method, 700, 50), control).model);
    control.threads = 5;
    EXPECT_EQ(model_to_bytes(train(data, cell_options(method, 700, 50), control).model), one);
  }
}

TEST(Cells, ContinuesFromTheCellsThatAreFinished) {
  const Dataset data = generate("checkerboard", {.rows = 5000, .seed = 4}).data;
  for (const std::string method : {"falk", "falk-c"}) {
    const TrainOptions options = cell_options(method, 500, 50);
    const std::string straight = model_to_bytes(train(data, options).model);
    const Folder folder;
    const auto store = file_checkpoints(folder.path());
    const auto finished = [&] {
      Index count = 0;
      for (const auto& entry : fs::directory_iterator(folder.path() + "/cells"))
        count += entry.path().extension() == ".trained" ? 1 : 0;
      return count;
    };
    // Cancelled again and again, a cell or two further each time.
    std::string bytes;
    Index before = 0;
    for (int attempt = 0; attempt < 40 && bytes.empty(); ++attempt) {
      std::atomic<bool> cancel = false;
      RunControl control;
      control.checkpoint = store.get();
      control.cancel = &cancel;
      control.threads = 2;
      std::atomic<bool> is_done = false;
      std::thread watcher([&] {
        while (!is_done && !cancel) {
          if (fs::exists(folder.path() + "/cells") && finished() > before) cancel = true;
        }
      });
      const TrainResult result = train(data, options, control);
      is_done = true;
      watcher.join();
      if (result.report.stop_reason == StopReason::converged) bytes = model_to_bytes(result.model);
      EXPECT_GT(finished(), before);
      before = finished();
    }
    EXPECT_EQ(bytes, straight);
    EXPECT_EQ(before, 16);
    // Rows that were not all written are written again, for the cells that lack a result.
    std::ofstream(folder.path() + "/cells/rows", std::ios::app) << " incomplete";
    fs::remove(folder.path() + "/cells/3.trained");
    RunControl again;
    again.checkpoint = store.get();
    EXPECT_EQ(model_to_bytes(train(data, options, again).model), straight);
    // Of other options: refused.
    TrainOptions other = options;
    other.cost = 5;
    RunControl control;
    control.checkpoint = store.get();
    EXPECT_THROW(train(data, other, control), DataError);
    store->clear();
    EXPECT_EQ(folder.files(), 0);
  }
}

TEST(Cells, OneRunAtATimeInACheckpoint) {
  const Dataset data = generate("checkerboard", {.rows = 2000, .seed = 4}).data;
  const Folder folder;
  const auto store = file_checkpoints(folder.path());
  fs::create_directories(folder.path() + "/cells");
  const int lock = open((folder.path() + "/cells/lock").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(flock(lock, LOCK_EX | LOCK_NB), 0);
  RunControl control;
  control.checkpoint = store.get();
  EXPECT_THROW(train(data, cell_options("falk-c", 500, 50), control), IoError);
  close(lock);
  EXPECT_NO_THROW(train(data, cell_options("falk-c", 500, 50), control));
}

TEST(Cells, LeavesNothingBehindAndRemovesWhatKilledRunsLeft) {
  const Dataset data = generate("checkerboard", {.rows = 2000, .seed = 4}).data;
  const Folder folder;
  fs::create_directories(folder.path() + "/tamis-cells-killed");
  close(open((folder.path() + "/tamis-cells-killed/lock").c_str(), O_RDWR | O_CREAT, 0600));
  fs::create_directories(folder.path() + "/tamis-cells-alive");
  const int lock =
      open((folder.path() + "/tamis-cells-alive/lock").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(flock(lock, LOCK_EX | LOCK_NB), 0);
  RunControl control;
  control.scratch_folder = folder.path();
  const Model model = train(data, cell_options("falk-c", 500, 50), control).model;
  EXPECT_FALSE(fs::exists(folder.path() + "/tamis-cells-killed"));
  EXPECT_EQ(folder.files(), 1);  // the lock of the other run
  close(lock);
  // The model is still there.
  EXPECT_EQ(predict(model, data.features()).size(), 2000);
}

TEST(Cells, AFullDiskSaysHowMuchIsNeeded) {
  const Dataset data = generate("checkerboard", {.rows = 20000, .seed = 4}).data;
  const Folder folder;
  RunControl control;
  control.scratch_folder = folder.path();
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit = before;
  limit.rlim_cur = 20000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  std::string message;
  try {
    train(data, cell_options("falk-c", 5000, 50), control);
  } catch (const IoError& error) {
    message = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(message.find("they need"), std::string::npos) << message;
  EXPECT_EQ(folder.files(), 0);
}

TEST(Cells, TimeLimitLeavesAModel) {
  const Dataset data = generate("checkerboard", {.rows = 60000, .seed = 4}).data;
  const Dataset test = generate("checkerboard", {.rows = 2000, .seed = 5}).data;
  for (const double seconds : {1e-6, 0.3}) {
    for (const std::string method : {"falk", "falk-c"}) {
      TrainOptions options = cell_options(method, 5000, 500);
      options.max_seconds = seconds;
      const TrainResult result = train(data, options);
      if (result.report.stop_reason == StopReason::converged) continue;  // a fast computer
      EXPECT_EQ(result.report.stop_reason, StopReason::time_limit);
      const Labels labels = predict(result.model, test.features());
      Index right = 0;
      for (Index i = 0; i < labels.size(); ++i)
        right += labels.number(i) == test.labels().number(i) ? 1 : 0;
      EXPECT_GT(right, 1300) << seconds << " " << method;
    }
  }
}

TEST(Cells, CancelledBeforeAnythingIsAConstant) {
  const Dataset data = generate("checkerboard", {.rows = 3000, .seed = 4}).data;
  const std::atomic<bool> cancel = true;
  RunControl control;
  control.cancel = &cancel;
  TrainOptions options = cell_options("falk-c", 500, 50);
  const TrainResult result = train(data, options, control);
  EXPECT_EQ(result.report.stop_reason, StopReason::interrupted);
  EXPECT_TRUE(result.model.is_constant());
}

TEST(Cells, TooLittleMemoryNamesTheNeed) {
  const Dataset data = generate("gaussians", {.rows = 30000, .seed = 4, .features = 200}).data;
  RunControl control;
  control.memory_bytes = Index{90} << 20;
  try {
    train(data, cell_options("falk-c", 15000, 50), control);
    FAIL() << "trained";
  } catch (const ResourceError& error) {
    EXPECT_NE(std::string(error.what()).find("needs"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tamis::testing
