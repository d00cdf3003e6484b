// falk and falk-c: cells owned by ranks give the model of one process.
#include <gtest/gtest.h>

#include <filesystem>
#include <mutex>

#include "base/thread_group.hpp"
#include "distributed/part_of.hpp"
#include "support/random_data.hpp"
#include "tamis/checkpoint.hpp"
#include "tamis/error.hpp"
#include "tamis/generate.hpp"
#include "tamis/io.hpp"
#include "tamis/train.hpp"

namespace tamis::testing {
namespace {

std::string train_on(int ranks, const Dataset& data, const TrainOptions& options,
                     const std::string& checkpoint = "") {
  std::string bytes;
  std::mutex mutex;
  run_as_group(ranks, [&](Group& group) {
    RunControl control;
    control.threads = 1;
    control.group = &group;
    std::unique_ptr<CheckpointStore> store;
    if (!checkpoint.empty()) store = file_checkpoints(checkpoint, &group);
    control.checkpoint = store.get();
    const TrainResult trained = train(part_of(data, group), options, control);
    const std::string own = model_to_bytes(trained.model);
    EXPECT_EQ(trained.report.rows, data.rows());
    const std::lock_guard lock(mutex);
    if (bytes.empty())
      bytes = own;
    else
      EXPECT_EQ(own, bytes) << "rank " << group.rank();
  });
  return bytes;
}

TrainOptions local_options(const std::string& method, Index cell_rows) {
  TrainOptions options;
  options.method = method;
  options.gamma = {Gamma::Rule::value, 5};
  options.cost = 4;
  options.local.k = 40;
  options.local.cell_rows = cell_rows;
  return options;
}

void expect_same_model(const Dataset& data, TrainOptions options) {
  for (const std::string method : {"falk", "falk-c"}) {
    options.method = method;
    RunControl control;
    control.threads = 1;
    const std::string alone = model_to_bytes(train(data, options, control).model);
    for (const int ranks : {2, 3, 5})
      EXPECT_EQ(train_on(ranks, data, options), alone) << method << " on " << ranks << " ranks";
  }
}

TEST(CellsTogether, ManyCells) {
  expect_same_model(generate("checkerboard", {.rows = 3000, .seed = 3}).data,
                    local_options("", 400));
}

TEST(CellsTogether, OneCellIsAllRowsAtOnce) {
  expect_same_model(generate("checkerboard", {.rows = 1500, .seed = 3}).data,
                    local_options("", 1'000'000));
}

TEST(CellsTogether, ScaledWithManyClassesAndWeights) {
  const Clouds clouds_of_four = clouds(2400, 3, 4, 5);
  std::vector<double> weights;
  for (Index i = 0; i < 2400; ++i) weights.push_back(1 + static_cast<double>(i % 3));
  TrainOptions options = local_options("", 500);
  options.scaling = ScalingMethod::standard;
  options.gamma.reset();
  options.balanced = true;
  expect_same_model(named(clouds_of_four, {1, 2, 3, 4}, weights), options);
}

TEST(CellsTogether, Regression) {
  TrainOptions options = local_options("", 400);
  options.task = Task::regression;
  options.scaling = ScalingMethod::minmax;
  expect_same_model(
      generate("gaussians", {.rows = 2000, .seed = 3, .features = 3, .regression = true}).data,
      options);
}

TEST(CellsTogether, SparseRows) {
  const Clouds dense = clouds(1000, 12, 2, 6);
  const Matrix sparse = random_matrix(1000, 12, 7, 0.3).to_sparse();
  std::vector<double> labels;
  for (const int c : dense.classes) labels.push_back(c);
  TrainOptions options = local_options("", 250);
  options.cost = 1e-3;  // so that the rows stay sparse
  expect_same_model(Dataset(sparse, Labels::numeric(labels)), options);
  options.cost = 1e4;  // so that they do not
  expect_same_model(Dataset(sparse, Labels::numeric(labels)), options);
}

TEST(CellsTogether, ContinuesOnAnotherNumberOfRanks) {
  const Dataset data = generate("checkerboard", {.rows = 3000, .seed = 3}).data;
  const TrainOptions options = local_options("falk-c", 400);
  const std::string alone = model_to_bytes(train(data, options).model);
  const std::string folder =
      (std::filesystem::temp_directory_path() / "tamis-cells-together").string();
  std::filesystem::remove_all(folder);
  EXPECT_EQ(train_on(3, data, options, folder), alone);
  // As if the run had ended before three of the cells were trained, whose rows are gone too.
  for (const int cell : {1, 4, 5})
    EXPECT_TRUE(std::filesystem::remove(folder + "/cells/" + std::to_string(cell) + ".trained"));
  EXPECT_EQ(train_on(2, data, options, folder), alone);
  EXPECT_EQ(train_on(1, data, options, folder), alone);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tamis::testing
