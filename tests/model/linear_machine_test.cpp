#include "model/linear_machine.hpp"
#include "model/model_parts.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "support/random_data.hpp"
#include "tamis/error.hpp"
#include "tamis/predict.hpp"

namespace tamis::testing {
namespace {

LinearParts random_parts(Decision decision, Index machines, Index cols, std::uint64_t seed) {
  Random random(seed);
  LinearParts parts;
  parts.decision = decision;
  parts.num_features = cols;
  for (Index k = 0; k < machines * cols; ++k) parts.weights.push_back(random.normal());
  for (Index m = 0; m < machines; ++m) parts.offsets.push_back(random.normal());
  return parts;
}

TEST(LinearMachine, IsWeightsTimesRowPlusOffset) {
  const Matrix rows = random_matrix(700, 6, 1, 0.5);
  for (const auto& [decision, machines] : {std::pair{Decision::single, Index{1}},
                                           {Decision::one_vs_one, 6},
                                           {Decision::one_vs_rest, 4}}) {
    const LinearParts parts = random_parts(decision, machines, 6, 2);
    const LinearMachine machine(parts);
    std::vector<double> dense(usize(700 * machines));
    std::vector<double> sparse(dense.size());
    machine.decision_values(rows, dense, {});
    machine.decision_values(rows.to_sparse(), sparse, {});
    std::vector<std::int32_t> classes(700);
    machine.classify(rows, classes, {});
    for (Index i = 0; i < 700; ++i) {
      std::vector<double> expected = parts.offsets;
      for (Index m = 0; m < machines; ++m) {
        for (Index j = 0; j < 6; ++j)
          expected[usize(m)] +=
              parts.weights[usize(m * 6 + j)] * static_cast<double>(rows.at(i, j));
        EXPECT_NEAR(dense[usize(i * machines + m)], expected[usize(m)], 1e-12);
        EXPECT_NEAR(sparse[usize(i * machines + m)], expected[usize(m)], 1e-12);
      }
      std::vector<std::int32_t> votes(decision == Decision::one_vs_one ? 4 : 0);
      EXPECT_EQ(classes[usize(i)], winning_class(decision, expected, votes));
    }
  }
}

TEST(LinearMachine, RefusesPartsThatDoNotFit) {
  EXPECT_THROW(LinearMachine(random_parts(Decision::single, 2, 3, 3)), DataError);
  EXPECT_THROW(LinearMachine(random_parts(Decision::one_vs_rest, 0, 3, 3)), DataError);
  LinearParts parts = random_parts(Decision::single, 1, 3, 3);
  parts.weights.pop_back();
  EXPECT_THROW(LinearMachine{parts}, DataError);
  parts.weights.push_back(std::numeric_limits<double>::infinity());
  EXPECT_THROW(LinearMachine{parts}, DataError);
  const LinearMachine three(random_parts(Decision::one_vs_rest, 3, 2, 4));
  EXPECT_THROW(three.decision_columns(Labels::numeric({1, 2})), DataError);
}

TEST(LinearMachine, RowsMayHaveFewerColumns) {
  const Model model = make_model(
      Task::regression, {}, {},
      std::make_shared<const LinearMachine>(LinearParts{3, Decision::single, {1, 2, 4}, {10}}),
      "linear");
  EXPECT_EQ(predict(model, Matrix::dense(1, 2, {1, 1})).number(0), 13);
  EXPECT_EQ(predict(model, Matrix::dense(1, 4, {1, 1, 1, 0})).number(0), 17);
  EXPECT_THROW(predict(model, Matrix::dense(1, 4, {1, 1, 1, 1})), DataError);
}

}  // namespace
}  // namespace tamis::testing
