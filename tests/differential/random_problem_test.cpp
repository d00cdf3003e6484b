// Problems that differential_fuzz found.
#include "differential/random_problem.hpp"

#include <gtest/gtest.h>

#include "tamis/certify.hpp"
#include "tamis/train.hpp"

namespace tamis::testing {
namespace {

// 46 rows of values around 20,000: C K is so large that rounding in double exceeds the tolerance,
// and pairs moved for as long as they were let.
TEST(RandomProblem, RoundingEndsTheTraining) {
  RandomProblem problem = random_problem(1, 3);
  problem.options.max_iterations = 4'000'000;
  const TrainReport report = train(problem.data(), problem.options).report;
  EXPECT_EQ(report.stop_reason, StopReason::precision_limit);
  EXPECT_LT(report.violation, 0.01);
}

// The diagonal of the kernel matrix is negative, and of order 10^9: float32 was taken to be enough.
TEST(RandomProblem, NegativeDiagonalsCountByTheirSize) {
  const RandomProblem problem = random_problem(21, 660);
  ASSERT_LT(problem.options.coef0, -1000);
  const Model model = train(problem.data(), problem.options).model;
  EXPECT_LT(certify(model, problem.data(), problem.options).violation, problem.options.eps);
}

}  // namespace
}  // namespace tamis::testing
