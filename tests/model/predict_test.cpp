#include "tamis/predict.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "model/expansion_fixtures.hpp"
#include "model/model_parts.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

Model random_model(Decision decision, Index classes, Index cols, Random& random,
                   Scaling scaling = {}) {
  std::vector<double> labels;
  for (Index c = 0; c < classes; ++c) labels.push_back(static_cast<double>(10 * c));
  auto machine = std::make_shared<const KernelExpansion>(
      random_parts({}, random_rows(20, cols, random), decision, classes, random));
  return make_model(Task::classification, Labels::numeric(labels), std::move(scaling), machine,
                    "test");
}

TEST(Predict, GivesTheLabelOfTheWinningClass) {
  Random random(1);
  for (const Decision decision : {Decision::single, Decision::one_vs_one, Decision::one_vs_rest}) {
    const Index classes = decision == Decision::single ? 2 : 3;
    const Model model = random_model(decision, classes, 4, random);
    const Matrix rows = random_rows(50, 4, random);
    const DecisionValues values = decision_values(model, rows);
    const Labels labels = predict(model, rows);
    std::vector<std::int32_t> votes(3);
    ASSERT_EQ(labels.size(), 50);
    for (Index i = 0; i < 50; ++i) {
      const std::span<const double> row(&values.values[static_cast<std::size_t>(i * values.cols)],
                                        static_cast<std::size_t>(values.cols));
      EXPECT_EQ(labels.number(i), 10.0 * winning_class(decision, row, votes));
    }
  }
  const Model pairs = random_model(Decision::one_vs_one, 3, 4, random);
  EXPECT_EQ(decision_values(pairs, random_rows(1, 4, random)).columns,
            (std::vector<std::string>{"0/10", "0/20", "10/20"}));
}

TEST(Predict, CodesArePositionsInTheClasses) {
  Random random(7);
  for (const Decision decision : {Decision::single, Decision::one_vs_one, Decision::one_vs_rest}) {
    const Model model = random_model(decision, decision == Decision::single ? 2 : 5, 4, random);
    const Matrix rows = random_rows(300, 4, random);
    const Labels labels = predict(model, rows);
    const std::vector<std::int32_t> codes = predict_codes(model, rows);
    ASSERT_EQ(codes.size(), 300);
    EXPECT_EQ(codes, encode_labels(labels, model.classes()));
    const DecisionValues values = decision_values(model, rows);
    EXPECT_EQ(predict_codes(model, values), codes);
    EXPECT_EQ(predict(model, values), labels);
  }
}

// A panel of rows has a sum for each of them.
TEST(Predict, SumsOfVeryManyBinarySvmsAreInTheBudget) {
  constexpr Index kClasses = 800;
  Random random(3);
  const Model model = random_model(Decision::one_vs_one, kClasses, 2, random);
  const Matrix rows = random_rows(64, 2, random);
  RunControl control;
  control.threads = 2;
  EXPECT_EQ(predict_codes(model, rows, control).size(), 64U);
  control.memory_bytes = 1;
  EXPECT_THROW(predict_codes(model, rows, control), ResourceError);
}

TEST(Predict, ValuesOfAnotherModelAreRefused) {
  Random random(8);
  const Model two = random_model(Decision::single, 2, 4, random);
  const Model three = random_model(Decision::one_vs_one, 3, 4, random);
  const DecisionValues values = decision_values(three, random_rows(3, 4, random));
  EXPECT_THROW(predict_codes(two, values), InvalidArgument);
  EXPECT_THROW(predict(two, values), InvalidArgument);
  const Model number = make_model(Task::regression, {}, {}, shared_machine(two), "test");
  EXPECT_THROW(predict(number, values), InvalidArgument);
  EXPECT_THROW(predict_codes(number, decision_values(number, random_rows(3, 4, random))),
               InvalidArgument);
  EXPECT_THROW(predict_codes(number, random_rows(3, 4, random)), InvalidArgument);
}

TEST(Predict, RegressionGivesTheValue) {
  Random random(2);
  auto machine = std::make_shared<const KernelExpansion>(
      random_parts({}, random_rows(20, 4, random), Decision::single, 2, random));
  const Model model = make_model(Task::regression, {}, {}, machine, "test");
  const Matrix rows = random_rows(5, 4, random);
  const DecisionValues values = decision_values(model, rows);
  EXPECT_EQ(values.columns, std::vector<std::string>{"value"});
  EXPECT_EQ(predict(model, rows), Labels::numeric(values.values));
  EXPECT_EQ(predict(model, values), Labels::numeric(values.values));
}

TEST(Predict, FitsColumns) {
  Random random(3);
  const Model model = random_model(Decision::single, 2, 4, random);
  const Matrix narrow = random_rows(9, 3, random);
  EXPECT_EQ(decision_values(model, narrow).values,
            decision_values(model, narrow.with_cols(4)).values);
  EXPECT_EQ(decision_values(model, narrow).values,
            decision_values(model, narrow.with_cols(7)).values);
  EXPECT_THROW(predict(model, random_rows(9, 6, random)), DataError);
}

TEST(Predict, Scales) {
  Random random(4);
  const Matrix rows = random_rows(8000, 600, random);  // more than one block of scaled rows
  const Matrix few = rows.select(std::vector<Index>{0, 1, 2, 3, 4, 5, 6, 7});
  const Scaling scaling = Scaling::fit(few, ScalingMethod::minmax, -1, 1);
  const Model plain = random_model(Decision::single, 2, 600, random);
  const Model scaled =
      make_model(plain.task(), plain.classes(), scaling, shared_machine(plain), "test");
  EXPECT_EQ(decision_values(scaled, rows).values,
            decision_values(plain, scaling.apply(rows)).values);
  double last = 0;
  RunControl control;
  control.on_progress = [&](const Progress& progress) {
    EXPECT_GE(progress.done_fraction, last);
    last = progress.done_fraction;
  };
  predict(scaled, rows, control);
  EXPECT_LE(last, 1);
}

TEST(Predict, RefusesWhatIsNotFiniteAndEmptyModels) {
  Random random(5);
  const Model model = random_model(Decision::single, 2, 2, random);
  EXPECT_THROW(predict(model, Matrix::dense(2, 2, {1, 2, 3, std::nanf("")})), DataError);
  EXPECT_THROW(predict(model, Matrix::dense(1, 2, {1, INFINITY}).to_sparse()), DataError);
  EXPECT_THROW(predict(Model(), Matrix::dense(1, 1, {1})), InvalidArgument);
  EXPECT_EQ(predict(model, Matrix::dense(0, 2, {})).size(), 0);
}

TEST(Predict, OneClassIsAlwaysItself) {
  Random random(6);
  const Model model = random_model(Decision::single, 1, 2, random);
  const Matrix rows = random_rows(3, 2, random);
  EXPECT_EQ(predict(model, rows), Labels::numeric({0, 0, 0}));
  EXPECT_EQ(predict(model, decision_values(model, rows)), Labels::numeric({0, 0, 0}));
}

}  // namespace
}  // namespace tamis
