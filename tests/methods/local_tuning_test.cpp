#include "methods/local/local_tuning.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/checked.hpp"
#include "base/random.hpp"
#include "methods/common/kernel_machine.hpp"
#include "support/random_data.hpp"
#include "tamis/evaluate.hpp"
#include "tamis/io.hpp"
#include "tamis/train.hpp"

namespace tamis::testing {
namespace {

// Squares of half a unit to the left of 0, of two units to the right: no gamma is good for both.
Dataset two_boards(Index rows, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values;
  std::vector<double> labels;
  for (Index i = 0; i < rows; ++i) {
    const double x = 4 * random.uniform() - 2;
    const double y = 4 * random.uniform() - 2;
    const double size = x < 0 ? 0.5 : 2;
    const auto square = static_cast<long>(std::floor(x / size) + std::floor(y / size));
    const bool flipped = x >= 0 && random.uniform() < 0.15;
    values.insert(values.end(), {static_cast<float>(x), static_cast<float>(y)});
    labels.push_back((square % 2 == 0) != flipped ? 1 : -1);
  }
  return Dataset(Matrix::dense(rows, 2, values), Labels::numeric(labels));
}

TrainingSet encoded(const Dataset& rows, double gamma) {
  TrainingSet set;
  set.features = rows.features();
  set.num_classes = 3;  // the third is in none of the rows
  set.kernel = {KernelType::rbf, gamma};
  for (Index i = 0; i < rows.rows(); ++i) set.codes.push_back(rows.labels().number(i) > 0 ? 2 : 0);
  set.cost.assign(usize(rows.rows()), 1.0);
  return set;
}

// Errors of SVMs that were trained from scratch, each on all rows but a third of the innermost.
double naive_errors(const Dataset& rows, Index innermost, double cost, double gamma) {
  double errors = 0;
  for (Index fold = 0; fold < 3; ++fold) {
    std::vector<Index> kept;
    std::vector<Index> asked;
    for (Index i = 0; i < rows.rows(); ++i)
      (i < innermost && i % 3 == fold ? asked : kept).push_back(i);
    TrainOptions options;
    options.method = "exact";
    options.cost = cost;
    options.gamma = gamma;
    const Evaluation found = evaluate(train(rows.select(kept), options).model, rows.select(asked));
    errors += found.error_rate / 3;
  }
  return errors;
}

TEST(LocalTuning, ChoosesWhatANaiveSearchDoes) {
  TrainOptions options;
  options.cost = 1;
  const RunControl control;
  int moved = 0;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    const Dataset rows = two_boards(240, seed);
    for (const double gamma : {0.5, 4.0}) {
      const LocalChoice found =
          tune_neighborhood(encoded(rows, gamma), 120, {options, control, {}});
      const double own = naive_errors(rows, 120, 1, gamma);
      double lowest = own;
      for (const double c : {0.25, 1.0, 4.0}) {
        for (const double g : {0.25, 1.0, 4.0})
          lowest = std::min(lowest, naive_errors(rows, 120, c, gamma * g));
      }
      const bool pays = (own - lowest) * 120 > std::sqrt(own * 120);
      EXPECT_EQ(found != (LocalChoice{1, gamma}), pays) << seed << " " << gamma;
      if (!pays) continue;
      ++moved;
      // One of the points with the lowest error, up to the tolerance of the solver: a row or two.
      EXPECT_NEAR(naive_errors(rows, 120, found.cost_factor, found.gamma), lowest, 2.1 / 120);
    }
  }
  EXPECT_GT(moved, 2);
}

TEST(LocalTuning, HelpsWhereNoGammaIsGoodEverywhere) {
  const Dataset rows = two_boards(4000, 1);
  const Dataset test = two_boards(4000, 2);
  for (const std::string method : {"falk", "falk-c"}) {
    TrainOptions options;
    options.method = method;
    options.gamma = 0.7;
    options.local.k = 400;
    const double plain = evaluate(train(rows, options).model, test).error_rate;
    options.local.local_tuning = true;
    const TrainResult tuned = train(rows, options);
    EXPECT_LT(evaluate(tuned.model, test).error_rate, 0.85 * plain) << method;
    double moved = 0;
    for (const auto& [name, value] : tuned.report.details) {
      if (name == "centres_tuned") moved = value;
    }
    EXPECT_GT(moved, 0) << method;
    const Model again = model_from_bytes(model_to_bytes(tuned.model));
    EXPECT_EQ(evaluate(again, test).error_rate, evaluate(tuned.model, test).error_rate);
  }
}

TEST(LocalTuning, DoesNotDependOnThreadsOrCells) {
  const Dataset rows = two_boards(900, 3);
  TrainOptions options;
  options.method = "falk";
  options.local.k = 100;
  options.local.local_tuning = true;
  RunControl one;
  one.threads = 1;
  RunControl three;
  three.threads = 3;
  EXPECT_EQ(model_to_bytes(train(rows, options, one).model),
            model_to_bytes(train(rows, options, three).model));
  options.local.cell_rows = 400;
  EXPECT_FALSE(train(rows, options).model.empty());
}

TEST(LocalTuning, RegressionToo) {
  const Dataset rows = wave(900, 2, 1);
  TrainOptions options;
  options.method = "falk";
  options.task = Task::regression;
  options.gamma = 0.01;
  options.local.k = 150;
  const double plain = evaluate(train(rows, options).model, rows).mse;
  options.local.local_tuning = true;
  EXPECT_LT(evaluate(train(rows, options).model, rows).mse, plain);
}

TEST(LocalTuning, AStoppedRunChangesNothing) {
  const std::atomic<bool> cancel = true;
  RunControl control;
  control.cancel = &cancel;
  const TrainOptions options;
  const LocalChoice found =
      tune_neighborhood(encoded(two_boards(100, 4), 2), 50, {options, control, {}});
  EXPECT_EQ(found, (LocalChoice{1, 2}));
}

}  // namespace
}  // namespace tamis::testing
