// evaluate() asks the machine for each row once, whatever it tells of it.
#include "tamis/evaluate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <memory>

#include "calibration/calibration.hpp"
#include "model/kernel_expansion.hpp"
#include "model/linear_machine.hpp"
#include "model/model_parts.hpp"
#include "tamis/error.hpp"

namespace tamis::testing {
namespace {

/// The value of a row is its first feature; rows that are asked for are counted.
class CountingMachine : public Machine {
 public:
  std::string_view kind() const override { return "counting"; }
  Index num_features() const override { return 1; }
  Index num_support_vectors() const override { return 0; }
  std::string describe() const override { return "counting"; }
  DecisionShape decision_shape() const override { return {}; }
  void decision_values(const Matrix& features, std::span<double> values,
                       const RunControl&) const override {
    rows_ += features.rows();
    for (Index i = 0; i < features.rows(); ++i)
      values[static_cast<std::size_t>(i)] = static_cast<double>(features.at(i, 0));
  }
  void classify(const Matrix& features, std::span<std::int32_t> classes,
                const RunControl&) const override {
    rows_ += features.rows();
    for (Index i = 0; i < features.rows(); ++i)
      classes[static_cast<std::size_t>(i)] = features.at(i, 0) > 0 ? 0 : 1;
  }
  Index rows_asked() const { return rows_; }

 private:
  mutable std::atomic<Index> rows_ = 0;
};

struct Counted {
  std::shared_ptr<CountingMachine> machine = std::make_shared<CountingMachine>();
  Model model = make_model(Task::classification, Labels::numeric({1, -1}), {}, machine, "counting");
  Dataset data{Matrix::dense(4, 1, {2, 1, -1, -2}), Labels::numeric({1, -1, -1, -1})};

  Model calibrated() const {
    Calibration sigmoid;
    sigmoid.num_classes = 2;
    sigmoid.machines = {Calibrator{-1, 0, {}, {}}};
    return with_calibration(model, std::make_shared<const Calibration>(sigmoid));
  }
};

TEST(Evaluate, AsksForEachRowOnce) {
  const Counted plain;
  EXPECT_EQ(evaluate(plain.model, plain.data).errors, 1);
  EXPECT_EQ(plain.machine->rows_asked(), 4);
  const Counted sure;
  const Evaluation result = evaluate(sure.calibrated(), sure.data);
  EXPECT_EQ(result.errors, 1);
  EXPECT_TRUE(result.has_probabilities);
  EXPECT_EQ(sure.machine->rows_asked(), 4);
}

TEST(Evaluate, TakesValuesThatAreThereAlready) {
  const Counted counted;
  const Model model = counted.calibrated();
  const Evaluation whole = evaluate(model, counted.data);
  const DecisionValues values = decision_values(model, counted.data.features());
  const Index before = counted.machine->rows_asked();
  const Evaluation result = evaluate(model, counted.data, values);
  EXPECT_EQ(result.errors, whole.errors);
  EXPECT_EQ(result.confusion, whole.confusion);
  EXPECT_EQ(result.log_loss, whole.log_loss);
  EXPECT_EQ(result.brier, whole.brier);
  EXPECT_DOUBLE_EQ(probabilities(model, values).at(1, 0), 1 / (1 + std::exp(-1.0)));
  EXPECT_EQ(indecision(model, values, std::vector<double>{1.5}), std::vector<double>{0.5});
  EXPECT_EQ(counted.machine->rows_asked(), before);
}

// More rows than are predicted at a time: what is told is the same to the last bit.
TEST(Evaluate, BlocksAddUpToTheWhole) {
  constexpr std::size_t kRows = (std::size_t{1} << 20) + 12345;
  std::vector<float> values(kRows);
  std::vector<double> labels(kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    values[i] = static_cast<float>(i % 1013) / 500 - 1;
    labels[i] = i % 7 < 3 ? 1 : i % 7 == 6 ? 5 : -1;
  }
  const Dataset data(Matrix::dense(kRows, 1, values), Labels::numeric(labels));
  const Counted counted;
  for (const Model& model : {counted.model, counted.calibrated()}) {
    const Evaluation blocks = evaluate(model, data);
    const Evaluation whole = evaluate(model, data, decision_values(model, data.features()));
    EXPECT_EQ(blocks.rows, whole.rows);
    EXPECT_EQ(blocks.errors, whole.errors);
    EXPECT_EQ(blocks.confusion, whole.confusion);
    EXPECT_EQ(blocks.log_loss, whole.log_loss);
    EXPECT_EQ(blocks.brier, whole.brier);
    ASSERT_EQ(blocks.classes.size(), 3U);
    EXPECT_EQ(blocks.classes[1].recall, whole.classes[1].recall);
  }
  const Model line = make_model(Task::regression, {}, {}, counted.machine, "counting");
  const Evaluation blocks = evaluate(line, data);
  const Evaluation whole = evaluate(line, data, decision_values(line, data.features()));
  EXPECT_GT(blocks.mse, 0);
  EXPECT_EQ(blocks.mse, whole.mse);
  EXPECT_EQ(blocks.mae, whole.mae);
  EXPECT_EQ(blocks.r2, whole.r2);
}

TEST(Evaluate, ValuesOfOtherRowsAreRefused) {
  const Counted counted;
  const DecisionValues three =
      decision_values(counted.model, counted.data.features().select(std::vector<Index>{0, 1, 2}));
  EXPECT_THROW(evaluate(counted.model, counted.data, three), InvalidArgument);
}

Model expansion_model(const Kernel& kernel, std::vector<double> coefficients,
                      Decision decision = Decision::single) {
  ExpansionParts parts;
  parts.kernel = kernel;
  parts.support_vectors = Matrix::dense(2, 2, {1, 0, 2, 2});
  parts.decision = decision;
  parts.offsets.assign(coefficients.size() / 2, 0.5);
  parts.coefficients = std::move(coefficients);
  return make_model(Task::classification, Labels::numeric({1, -1}), {},
                    std::make_shared<const KernelExpansion>(std::move(parts)), "exact");
}

// x = (1, 0) and z = (2, 2): <x, x> = 1, <x, z> = 2, <z, z> = 8, |x - z|^2 = 5.
TEST(DecisionNorm, IsThatOfTheWeightVector) {
  const std::vector<double> c{3, -0.5};
  const auto squared = [](const Model& model) {
    const DecisionNorm norm = decision_norm(model);
    return norm.value.value_or(-1) * norm.value.value_or(-1);
  };
  EXPECT_NEAR(squared(expansion_model({KernelType::linear}, c)), 4 + 1, 1e-9);  // w = (2, -1)
  const auto quadratic = [](double xx, double xz, double zz) {
    return 9 * xx - 2 * 1.5 * xz + 0.25 * zz;
  };
  EXPECT_NEAR(squared(expansion_model({KernelType::polynomial, 0.5, 1, 2}, c)),
              quadratic(2.25, 4, 25), 1e-5);
  EXPECT_NEAR(squared(expansion_model({KernelType::rbf, 0.1, 0, 3}, c)),
              quadratic(1, std::exp(-0.5), 1), 1e-5);
  LinearParts linear{2, Decision::single, {3, 4}, {0.5}};
  const Model weights = make_model(Task::classification, Labels::numeric({1, -1}), {},
                                   std::make_shared<const LinearMachine>(linear), "linear");
  EXPECT_NEAR(squared(weights), 25, 1e-12);
}

TEST(DecisionNorm, SaysWhyThereIsNone) {
  const std::vector<double> c{3, -0.5};
  const auto why = [](const Model& model) {
    const DecisionNorm norm = decision_norm(model);
    EXPECT_FALSE(norm.value.has_value());
    return norm.why_none;
  };
  EXPECT_NE(why(expansion_model({KernelType::sigmoid, 1, 0, 3}, c)).find("sigmoid"),
            std::string::npos);
  EXPECT_NE(why(expansion_model({KernelType::precomputed}, c)).find("precomputed"),
            std::string::npos);
  EXPECT_NE(why(expansion_model({KernelType::linear}, {3, 1, 2, 4}, Decision::one_vs_rest))
                .find("several"),
            std::string::npos);
  EXPECT_NE(why(expansion_model({KernelType::rbf, 1, 0, 3}, {0, 0})).find("same for every row"),
            std::string::npos);
  EXPECT_NE(why(Counted().model).find("counting"), std::string::npos);
  const Model number = make_model(Task::regression, {}, {}, Counted().machine, "counting");
  EXPECT_THROW(decision_norm(number), InvalidArgument);
}

}  // namespace
}  // namespace tamis::testing
