// Which methods are thought of, how far their trials go, and which of them wins.
#include "selection/candidates.hpp"

#include <gtest/gtest.h>

#include "fake_series.hpp"
#include "selection/parameters.hpp"
#include "support/random_data.hpp"

namespace tamis::testing {
namespace {

std::vector<Candidate> candidates_of(const Dataset& data, const TrainOptions& asked,
                                     const TrainOptions& found) {
  const MetricChoice choice{found, {}};
  return candidates(data, asked, {&choice, 1});
}

std::vector<std::string> methods(const Dataset& data, const TrainOptions& asked) {
  std::vector<std::string> names;
  for (const Candidate& one : candidates_of(data, asked, asked)) names.push_back(one.method);
  return names;
}

Dataset rows_of(Index rows, Index cols) {
  return Dataset(random_matrix(rows, cols, 1), Labels::numeric(std::vector<double>(usize(rows))));
}

TEST(Candidates, TheRule) {
  using Names = std::vector<std::string>;
  TrainOptions asked;
  EXPECT_EQ(methods(rows_of(5000, 3), asked), (Names{"exact", "linear"}));
  EXPECT_EQ(methods(rows_of(5001, 3), asked), (Names{"exact", "linear", "falk"}));
  EXPECT_EQ(methods(rows_of(5001, 301), asked), (Names{"exact", "linear"}));
  asked.kernel = KernelType::polynomial;
  EXPECT_EQ(methods(rows_of(5001, 3), asked), (Names{"exact", "linear"}));
  asked.kernel = KernelType::precomputed;
  EXPECT_EQ(methods(rows_of(5001, 3), asked), (Names{"exact"}));
}

TEST(Candidates, EachKernelHasItsOwnAndLinearComesOnce) {
  std::vector<MetricChoice> found(2);
  found[0] = {with_kernel(at(4, 2), KernelType::rbf), "weights"};
  found[1] = {with_kernel(at(8, 1), KernelType::laplacian), {}};
  std::vector<std::string> names;
  for (const Candidate& one : candidates(rows_of(5001, 3), {}, found)) {
    names.push_back(one.method + " " + std::string(kernel_name(one.options.kernel_or_default())) +
                    " " + one.metric_remark);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"exact rbf weights", "exact laplacian ", "linear rbf ",
                                             "falk rbf weights"}));
}

TEST(Candidates, KernelsAreTriedUnlessTheUserSetOneOrGamma) {
  using Kernels = std::vector<KernelType>;
  TrainOptions asked;
  EXPECT_EQ(kernels_to_try(asked), (Kernels{KernelType::rbf, KernelType::laplacian}));
  asked.gamma = 0.5;
  EXPECT_EQ(kernels_to_try(asked), Kernels{KernelType::rbf});
  asked.kernel = KernelType::polynomial;
  EXPECT_EQ(kernels_to_try(asked), Kernels{KernelType::polynomial});
}

TEST(Candidates, LinearHasItsOwnCostUnlessTheUserSetOne) {
  const Dataset data = rows_of(20, 2);
  const TrainOptions found = at(256, 2);
  const std::vector<Candidate> free = candidates_of(data, {}, found);
  EXPECT_EQ(free[0].options.cost, 256);
  EXPECT_EQ(free[1].options.method, "linear");
  EXPECT_EQ(free[1].options.cost, TrainOptions().cost);
  EXPECT_EQ(free[1].options.bias.rule, Bias::Rule::free);
  EXPECT_EQ(candidates_of(data, at(256, 2), found)[1].options.cost, 256);
  const Candidate plainest = plainest_candidate(data, {}, found);
  EXPECT_EQ(plainest.options.method, "linear");
  EXPECT_EQ(plainest.options.cost, TrainOptions().cost);
  EXPECT_EQ(plainest.rows, 20);
}

Candidate with_error(const char* method, double error, double handicap = 1) {
  Candidate candidate{method, {}, handicap};
  candidate.forecast.error = error;
  return candidate;
}

TEST(Candidates, TheLowestErrorWinsAfterItsHandicap) {
  std::vector<Candidate> all{with_error("a", 0.2), with_error("b", 0.1), with_error("c", 0.1),
                             with_error("d", 0.098, 1.05)};
  sort_by_error(&all);
  EXPECT_EQ(all[0].method, "b");
  EXPECT_EQ(all[1].method, "c");
  EXPECT_EQ(all[2].method, "d");
  EXPECT_EQ(all[3].method, "a");
}

TEST(Candidates, TheSecondIsPromisingWhenItIsClose) {
  EXPECT_EQ(count_promising({}), 0U);
  EXPECT_EQ(count_promising(std::vector{with_error("a", 0.1)}), 1U);
  EXPECT_EQ(count_promising(std::vector{with_error("a", 0.1), with_error("b", 0.129)}), 2U);
  EXPECT_EQ(count_promising(std::vector{with_error("a", 0.1), with_error("b", 0.131)}), 1U);
}

TEST(Candidates, ForecastsAreForTheRowsThatFit) {
  Candidate candidate{"exact", {1, 2.5}};
  candidate.trials = {{1000, 1, 0.2}, {4000, 16, 0.2}};  // rows^2
  look_ahead(64, 1'000'000, &candidate);
  EXPECT_NEAR(static_cast<double>(candidate.rows), 8000, 1);
  EXPECT_NEAR(candidate.forecast.seconds, 64, 0.1);
  look_ahead(64, 6000, &candidate);
  EXPECT_EQ(candidate.rows, 6000);
  EXPECT_NEAR(candidate.forecast.seconds, 36, 1e-9);
}

TEST(Candidates, SettlingKeepsTheGrowthOfTrials) {
  Candidate candidate{"exact", {1, 2.5}};
  candidate.trials = {{1000, 1, 0.2}, {4000, 16, 0.2}};
  settle({at(9, 3), {4000, 20, 0.1}}, &candidate);
  EXPECT_EQ(candidate.options.cost, 9);
  EXPECT_EQ(trial_rows(candidate), (std::vector<Index>{1000, 4000}));
  EXPECT_EQ(candidate.trials.back().error, 0.1);
  settle({at(8, 3), {8000, 70, 0.09}}, &candidate);
  EXPECT_EQ(trial_rows(candidate), (std::vector<Index>{1000, 4000, 8000}));
}

}  // namespace
}  // namespace tamis::testing
