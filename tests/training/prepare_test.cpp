#include "training/prepare.hpp"
#include "training/learn_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/distance_rounding.hpp"
#include "kernels/kernel_blocks.hpp"
#include "support/random_data.hpp"
#include "tamis/error.hpp"
#include "tamis/predict.hpp"
#include "tamis/train.hpp"

namespace tamis::testing {
namespace {

Dataset weighted(double weight) {
  const Clouds data = clouds(8, 1, 2, 3);
  return named(data, {-1, 1}, {weight, 1, 1, weight, 2, 1, weight, weight});
}

// Labels of a mapped file may change after the classes were learned.
TEST(Prepare, LabelsOfNoClassAreAnError) {
  const Labels classes = Labels::numeric({1, 2});
  EXPECT_EQ(codes_of_classes(Labels::numeric({2, 1}), classes), (std::vector<std::int32_t>{1, 0}));
  EXPECT_THROW(codes_of_classes(Labels::numeric({2, 3}), classes), DataError);
}

// 1 / (2 C) of squared slacks was infinite in float, squares of the coefficients overflowed.
TEST(Prepare, ExtremeWeightsGiveNumbers) {
  for (const double weight : {1e-300, 1e-40, 1e300, 1e308}) {
    for (const SlackLoss loss : {SlackLoss::l1, SlackLoss::l2}) {
      TrainOptions options;
      options.loss = loss;
      options.max_iterations = 10'000;
      options.kernel = KernelType::linear;
      const auto [model, report] = train(weighted(weight), options);
      EXPECT_TRUE(std::isfinite(report.objective))
          << weight << (loss == SlackLoss::l1 ? " l1" : " l2");
      const DecisionValues values = decision_values(model, weighted(weight).features());
      for (const double value : values.values)
        EXPECT_TRUE(std::isfinite(value)) << weight << (loss == SlackLoss::l1 ? " l1" : " l2");
    }
  }
}

// Sparse rows of uniform values: those of odd number are near copies of the ones before, as support
// vectors of a narrow kernel are.
Matrix near_pairs(Index rows, Index cols, double density, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<std::size_t>(rows * cols), 0.0F);
  for (Index i = 0; i < rows * cols; ++i) {
    auto& value = values[static_cast<std::size_t>(i)];
    if (i / cols % 2 == 1) {
      value = values[static_cast<std::size_t>(i - cols)];
      if (value != 0) value += static_cast<float>(0.02 * random.uniform());
    } else if (random.uniform() < density) {
      value = static_cast<float>(random.uniform());
    }
  }
  return Matrix::dense(rows, cols, std::move(values)).to_sparse();
}

// The formula against what the kernels really compute, next to double.
TEST(Prepare, TheRoundingOfSparseDistancesIsAsPredicted) {
  for (const Index values_per_row : {4, 12, 48}) {
    const Index rows = 400;
    const Matrix data = near_pairs(rows, 2 * values_per_row, 0.5, 5);
    std::vector<Index> all;
    double norm = 0;
    for (Index i = 0; i < rows; ++i) {
      all.push_back(i);
      for (const float v : data.sparse_row(i).values)
        norm += static_cast<double>(v) * static_cast<double>(v) / static_cast<double>(rows);
    }
    const KernelBlocks blocks = KernelBlocks::squared_distances(data, all);
    std::vector<float> got(static_cast<std::size_t>(rows));
    double squares = 0;
    for (Index i = 0; i < rows; i += 2) {
      blocks.evaluate(data, std::vector<Index>{i}, 0, rows, got.data(), rows, {});
      double expected = 0;
      for (Index j = 0; j < data.cols(); ++j) {
        const double difference =
            static_cast<double>(data.at(i, j)) - static_cast<double>(data.at(i + 1, j));
        expected += difference * difference;
      }
      const double error = static_cast<double>(got[static_cast<std::size_t>(i + 1)]) - expected;
      squares += error * error;
    }
    const double measured = std::sqrt(squares / (static_cast<double>(rows) / 2));
    const double predicted = sparse_distance_rounding(norm, static_cast<double>(values_per_row));
    EXPECT_GT(predicted, 0.7 * measured) << values_per_row;
    EXPECT_LT(predicted, 4 * measured) << values_per_row;
  }
}

TEST(Prepare, SparseRowsBecomeDenseWhereRoundingWouldShow) {
  const Matrix rows = near_pairs(200, 24, 0.5, 6);
  std::vector<double> labels;
  for (Index i = 0; i < rows.rows(); ++i) labels.push_back(i % 2 == 0 ? -1 : 1);
  const Dataset data(rows, Labels::numeric(labels));
  TrainOptions options;
  options.cost = 10;
  for (const auto& [gamma, sparse] : {std::pair{1.0, true}, std::pair{64.0, false}}) {
    options.gamma = Gamma(gamma);
    EXPECT_EQ(prepare(data, options, true, {}).set.features.is_sparse(), sparse) << gamma;
  }
  options.eps = 1;
  EXPECT_TRUE(prepare(data, options, true, {}).set.features.is_sparse());
}

}  // namespace
}  // namespace tamis::testing
