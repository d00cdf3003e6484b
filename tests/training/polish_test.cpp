#include "training/polish.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/checked.hpp"
#include "methods/common/kernel_machine.hpp"
#include "methods/exact/exact.hpp"
#include "support/random_data.hpp"
#include "tamis/error.hpp"
#include "tamis/train.hpp"

namespace tamis::testing {
namespace {

TrainingSet training_set(Index rows, int classes) {
  const Clouds data = clouds(rows, 3, classes, 7);
  TrainingSet set;
  set.features = data.features;
  set.codes.assign(data.classes.begin(), data.classes.end());
  set.num_classes = classes;
  set.cost.assign(usize(rows), 2.0);
  set.kernel = Kernel{KernelType::rbf, 0.5, 0, 3};
  return set;
}

MethodResult trained_on_a_part(const TrainingSet& data, const TrainContext& context) {
  std::vector<Index> rows;
  for (Index i = 0; i < data.rows(); i += 4) rows.push_back(i);
  return expansion_result(data, train_kernel_machine(data, rows, context));
}

class OtherMachine : public Machine {
 public:
  std::string_view kind() const override { return "other"; }
  Index num_features() const override { return 3; }
  Index num_support_vectors() const override { return 0; }
  std::string describe() const override { return ""; }
  DecisionShape decision_shape() const override { return {}; }
  void decision_values(const Matrix&, std::span<double>, const RunControl&) const override {}
  void classify(const Matrix&, std::span<std::int32_t>, const RunControl&) const override {}
};

TEST(Polish, EndsAtTheOptimumOfAllRows) {
  for (const int classes : {2, 4}) {
    const TrainingSet data = training_set(800, classes);
    TrainOptions options;
    options.eps = 1e-4;
    const RunControl control;
    const TrainContext context{options, control, {}};
    const double wanted = train_exact(data, context).report.objective;
    const MethodResult part = trained_on_a_part(data, context);
    EXPECT_GT(std::abs(part.report.objective - wanted), 0.01 * std::abs(wanted));
    const MethodResult whole = polish(data, context, part);
    EXPECT_NEAR(whole.report.objective, wanted, 1e-4 * std::abs(wanted));
    EXPECT_LE(whole.report.violation, options.eps);
    EXPECT_GT(whole.machine->num_support_vectors(), part.machine->num_support_vectors());
  }
}

TEST(Polish, TheOptimumIsLeftAsItIs) {
  const TrainingSet data = training_set(600, 2);
  const TrainOptions options;
  const RunControl control;
  const TrainContext context{options, control, {}};
  MethodResult exact = train_exact(data, context);
  const std::int64_t before = exact.report.iterations;
  const MethodResult again = polish(data, context, std::move(exact));
  EXPECT_LT(again.report.iterations - before, before / 20 + 5);
}

TEST(Polish, OtherMachinesAreReturnedWithAWarning) {
  const TrainingSet data = training_set(60, 2);
  const TrainOptions options;
  const RunControl control;
  const TrainContext context{options, control, {}};
  const auto machine = std::make_shared<OtherMachine>();
  const MethodResult result = polish(data, context, {machine, {}});
  EXPECT_EQ(result.machine, machine);
  ASSERT_EQ(result.report.warnings.size(), 1);
  EXPECT_NE(result.report.warnings[0].find("not polished"), std::string::npos);
}

TEST(Polish, MethodsThatLookAtAllRowsRefuseIt) {
  TrainOptions options;
  options.polish = true;
  EXPECT_THROW(options.validate(), InvalidArgument);
}

}  // namespace
}  // namespace tamis::testing
