// The last training of auto: on all rows or a part, and when the model of a trial takes its place.
#include "selection/final_training.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "base/memory.hpp"
#include "fake_series.hpp"
#include "support/patience.hpp"
#include "support/random_data.hpp"
#include "svm/train_binary.hpp"
#include "tamis/expansion.hpp"
#include "tamis/generate.hpp"

namespace tamis::testing {
namespace {

class FinalTrainingTest : public ::testing::Test {
 protected:
  TrainResult train(const AutoBudget& budget, Index rows) {
    Candidate candidate{"exact", {}};
    candidate.options = options_;
    candidate.rows = rows;
    return train_chosen(data_, strata_, candidate, trials_, budget, control_);
  }

  Dataset data_ = named(clouds(300, 3, 2, 1), {-1.0, 1.0});
  Strata strata_ = row_strata(data_, false);
  TrainOptions options_;
  RunControl control_;
  Trials trials_{data_, strata_, options_, control_};
};

TEST_F(FinalTrainingTest, TrainsOnAllRows) {
  const TrainResult result = train(AutoBudget(0, 300), 300);
  EXPECT_EQ(result.report.rows, 300);
  EXPECT_EQ(result.report.stop_reason, StopReason::converged);
}

TEST_F(FinalTrainingTest, SupportRowsOfAPartAreRowsOfTheData) {
  const TrainResult result = train(AutoBudget(1e6, 300), 120);
  EXPECT_EQ(result.report.rows, 120);
  const ExpansionParts* parts = expansion_parts(result.model);
  ASSERT_NE(parts, nullptr);
  const std::vector<Index>& rows = result.report.support_rows;
  ASSERT_EQ(std::ssize(rows), parts->support_vectors.rows());
  for (std::size_t s = 0; s < rows.size(); ++s)
    EXPECT_EQ(data_.features().at(rows[s], 1), parts->support_vectors.at(static_cast<Index>(s), 1));
}

// What would be refused at once is not even begun.
TEST(FinalTraining, CancelledBeforeItBeginsItIsTheModelOfATrial) {
  const Dataset board = generate("checkerboard", {.rows = 3000, .seed = 1}).data;
  const Strata strata = row_strata(board, false);
  std::atomic<bool> cancel = false;
  RunControl control;
  control.cancel = &cancel;
  Trials trials(board, strata, {}, control);
  ASSERT_TRUE(trials.series(0).run(at(10, 100), 1000, 100));
  cancel = true;
  Candidate refused{"exact", {}};
  refused.options.kernel = KernelType::precomputed;
  refused.rows = board.rows();
  const TrainResult result =
      train_chosen(board, strata, refused, trials, AutoBudget(0, 300), control);
  EXPECT_EQ(result.report.stop_reason, StopReason::interrupted);
  EXPECT_EQ(result.report.rows, 1000);
  EXPECT_FALSE(trials.series(0).run(at(10, 100), 1000, 100));
}

// Room for what the solver keeps of most rows, and no scratch files; small lists
// would be kept in memory all the same.
TEST(FinalTraining, RowsThatDoNotFitAreLeftOut) {
  if (kPatience > 1) GTEST_SKIP() << "what sanitizers note on every byte takes all of the budget";
  const Dataset data = named(clouds(400000, 2, 2, 1, 6), {-1.0, 1.0});
  const Strata strata = row_strata(data, false);
  RunControl control;
  const Trials trials(data, strata, {}, control);
  Candidate candidate{"exact", {}};
  candidate.rows = data.rows();
  control.memory_bytes = resident_memory_bytes() + 9 * binary_state_bytes(data.rows()) / 10;
  control.scratch_folder = "/nowhere";
  const TrainResult result =
      train_chosen(data, strata, candidate, trials, AutoBudget(0, 300), control);
  EXPECT_LT(result.report.rows, 400000);
  EXPECT_GT(result.report.rows, 1000);
  ASSERT_FALSE(result.report.warnings.empty());
  EXPECT_NE(result.report.warnings.back().find("the memory budget is too small for 400000 rows"),
            std::string::npos)
      << result.report.warnings.back();
}

// A linear kernel is wrong about half of a board, and does not converge in the hundredth of a
// second that is left.
TEST(FinalTraining, TheModelOfATrialReplacesAWorseOneThatTheLimitStopped) {
  const Dataset board = generate("checkerboard", {.rows = 3000, .seed = 1}).data;
  const Strata strata = row_strata(board, false);
  const RunControl control;
  Trials trials(board, strata, {}, control);
  ASSERT_TRUE(trials.series(0).run(at(10, 100), 1000, 100));
  ASSERT_LT(trials.best()->error, 0.2);
  Candidate candidate{"exact", {}};
  candidate.options.kernel = KernelType::linear;
  candidate.options.cost = 1e6;
  candidate.rows = board.rows();
  const TrainResult result =
      train_chosen(board, strata, candidate, trials, AutoBudget(1e-9, 300), control);
  EXPECT_EQ(held_out_error(result.model, trials.validation(), control), trials.best()->error);
  EXPECT_EQ(result.report.stop_reason, StopReason::time_limit);
  EXPECT_EQ(result.report.rows, 1000);
  ASSERT_FALSE(result.report.warnings.empty());
  EXPECT_EQ(result.report.warnings.back(),
            "the training was stopped: this is the model of a trial, exact on 1000 rows");
  ASSERT_FALSE(result.report.details.empty());
  EXPECT_EQ(result.report.details.back(), std::pair(std::string("rows_used"), 1000.0));
}

}  // namespace
}  // namespace tamis::testing
