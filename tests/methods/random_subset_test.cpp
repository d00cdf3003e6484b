// random-subset and ransac against what they are defined as.
#include "methods/ensemble/random_subset.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "contract/fixtures.hpp"
#include "model/kernel_expansion.hpp"
#include "model/model_parts.hpp"
#include "model/weighted_ensemble.hpp"
#include "tamis/calibrate.hpp"
#include "tamis/evaluate.hpp"

namespace tamis::testing {
namespace {

TrainOptions subset_options(const std::string& method) {
  TrainOptions options;
  options.method = method;
  options.gamma = {Gamma::Rule::value, 0.5};
  options.cost = 4;
  options.ensemble.members = 20;
  options.ensemble.trials = 20;
  options.ensemble.subset_rows = 40;
  return options;
}

const ReportTable& table_of(const TrainReport& report, std::string_view name) {
  return *std::find_if(report.tables.begin(), report.tables.end(),
                       [&](const ReportTable& table) { return table.name == name; });
}

double detail(const TrainReport& report, const std::string& name) {
  for (const auto& [key, value] : report.details) {
    if (key == name) return value;
  }
  ADD_FAILURE() << "no detail " << name;
  return 0;
}

const WeightedEnsemble& ensemble_of(const Model& model) {
  return dynamic_cast<const WeightedEnsemble&>(machine_of(model));
}

double recall_of(const std::string& label, const Model& model, const Dataset& data) {
  for (const ClassScore& score : evaluate(model, data).classes) {
    if (score.label == label) return score.recall;
  }
  ADD_FAILURE() << "no class " << label;
  return 0;
}

std::pair<Dataset, Dataset> halves(const Dataset& data) {
  const std::vector<Index> rows = iota_rows(data.rows());
  const auto all = std::span(rows);
  return {data.select(all.first(rows.size() / 2)), data.select(all.last(rows.size() / 2))};
}

TEST(RandomSubset, OneMemberOnAllRowsIsTheExactMachine) {
  for (const int classes : {2, 3}) {
    const Dataset data = named(clouds(150, 3, classes, 1), {1.0, 2.0, 3.0});
    const Matrix queries = random_matrix(80, 3, 2);
    TrainOptions options = subset_options("random-subset");
    options.ensemble.members = 1;
    options.ensemble.subset_rows = 1000;
    options.ensemble.cost_range = options.ensemble.gamma_range = {1, 1};
    options.ensemble.combine = Combination::average;
    options.eps = 1e-6;
    const DecisionValues found = decision_values(train(data, options).model, queries);
    options.method = "exact";
    const DecisionValues exact = decision_values(train(data, options).model, queries);
    // Values are divided by the size of the member's, which is positive.
    for (Index m = 0; m < exact.cols; ++m) {
      double products = 0;
      double squares = 0;
      for (Index i = 0; i < 80; ++i) {
        products += found.at(i, m) * exact.at(i, m);
        squares += exact.at(i, m) * exact.at(i, m);
      }
      const double ratio = products / squares;
      EXPECT_GT(ratio, 0);
      for (Index i = 0; i < 80; ++i)
        EXPECT_NEAR(found.at(i, m), ratio * exact.at(i, m), 1e-3 * (1 + std::abs(found.at(i, m))));
    }
  }
}

TEST(RandomSubset, ShuffledRowsGiveTheSameEnsemble) {
  const Dataset data = named(clouds(150, 3, 3, 4), {1.0, 2.0, 3.0});
  std::vector<Index> order = iota_rows(data.rows());
  Random(7).shuffle(order);
  const TrainOptions options = subset_options("random-subset");
  const DecisionValues a = decision_values(train(data, options).model, data.features());
  const DecisionValues b =
      decision_values(train(data.select(order), options).model, data.features());
  for (std::size_t i = 0; i < a.values.size(); ++i) EXPECT_NEAR(a.values[i], b.values[i], 1e-6);
}

TEST(RandomSubset, MoreMembersBeginWithTheSame) {
  const Dataset data = named(clouds(400, 3, 2, 3), {1.0, 2.0});
  for (const Combination how : {Combination::average, Combination::linear}) {
    TrainOptions options = subset_options("random-subset");
    options.ensemble.combine = how;
    options.ensemble.candidates = 3;
    const TrainResult more = train(data, options);
    options.ensemble.members = 7;
    const TrainResult fewer = train(data, options);
    const auto& all = table_of(more.report, "members").rows;
    const auto& first = table_of(fewer.report, "members").rows;
    ASSERT_EQ(all.size(), 20U);
    ASSERT_EQ(first.size(), 7U);
    EXPECT_TRUE(std::equal(first.begin(), first.end(), all.begin()));
  }
}

TEST(RandomSubset, TheReportSaysWhatTheModelIs) {
  const Dataset data = named(clouds(400, 3, 3, 4), {1.0, 2.0, 3.0});
  TrainOptions options = subset_options("random-subset");
  options.ensemble.score_rows = 120;
  options.ensemble.search_trials = 5;
  const TrainResult result = train(data, options);
  const WeightedEnsemble& ensemble = ensemble_of(result.model);
  EXPECT_EQ(ensemble.num_machines(), 3);
  EXPECT_EQ(detail(result.report, "members_kept"), static_cast<double>(ensemble.num_members()));
  EXPECT_EQ(detail(result.report, "subset_rows"), 40);
  EXPECT_EQ(detail(result.report, "score_rows"), 120);
  EXPECT_EQ(detail(result.report, "kernel_evaluations_per_row"),
            static_cast<double>(ensemble.evaluations_per_row()));
  EXPECT_EQ(result.report.machines, 3 * (20 + 5));
  EXPECT_TRUE(std::ranges::none_of(result.report.details, [](const auto& one) {
    return one.first == "listed_binary_svms";  // all are
  }));
  const ReportTable& members = table_of(result.report, "members");
  ASSERT_EQ(members.rows.size(), 60U);
  EXPECT_EQ(members.columns[5], "accuracy");
  for (const auto& row : members.rows) {
    EXPECT_GT(row[5], 0.5);
    EXPECT_LE(row[5], 1);
  }
  EXPECT_EQ(table_of(result.report, "search").rows.size(), 15U);
  ASSERT_EQ(result.report.phase_seconds.size(), 4U);
  EXPECT_EQ(result.report.phase_seconds[1].first, "members");
  EXPECT_EQ(result.report.phase_seconds[2].first, "scoring");
  EXPECT_EQ(result.report.phase_seconds[3].first, "combining");
}

// 47 classes have 1,081 pairs.
TEST(RandomSubset, TablesListTheFirstThousandMachinesAndSaySo) {
  std::vector<double> names(47);
  std::iota(names.begin(), names.end(), 0.0);
  TrainOptions options = subset_options("random-subset");
  options.ensemble.members = 1;
  const auto [model, report] = train(named(clouds(188, 2, 47, 4), names), options);
  EXPECT_EQ(ensemble_of(model).num_machines(), 1081);
  EXPECT_EQ(detail(report, "listed_binary_svms"), 1000);
  const ReportTable& members = table_of(report, "members");
  ASSERT_EQ(members.rows.size(), 1000U);
  EXPECT_EQ(members.rows.front().front(), 1);
  EXPECT_EQ(members.rows.back().front(), 1000);
}

TEST(RandomSubset, MembersTrainedTogetherBeatOne) {
  const auto [data, test] = halves(named(clouds(3000, 5, 2, 5), {1.0, 2.0}));
  for (const Combination how :
       {Combination::average, Combination::linear, Combination::nonnegative}) {
    TrainOptions options = subset_options("random-subset");
    options.ensemble.combine = how;
    const double many = evaluate(train(data, options).model, test).accuracy;
    options.ensemble.members = 1;
    const double one = evaluate(train(data, options).model, test).accuracy;
    EXPECT_GT(many, one + 0.01) << static_cast<int>(how);
  }
}

TEST(RandomSubset, NonnegativeWeightsAreKept) {
  const Dataset data = named(clouds(400, 3, 2, 6), {1.0, 2.0});
  TrainOptions options = subset_options("random-subset");
  options.ensemble.subset_rows = 10;
  const auto lowest = [&](Combination how) {
    options.ensemble.combine = how;
    const Model model = train(data, options).model;
    const std::vector<double>& weights = ensemble_of(model).parts().weights;
    return *std::min_element(weights.begin(), weights.end());
  };
  EXPECT_LT(lowest(Combination::linear), 0);
  EXPECT_GT(lowest(Combination::nonnegative), 0);
}

// A search around a gamma that is far off finds a better one.
TEST(RandomSubset, TheSearchMovesTheRanges) {
  const auto [data, test] = halves(named(clouds(1200, 3, 2, 5, 3), {1.0, 2.0}));
  TrainOptions options = subset_options("random-subset");
  options.gamma = {Gamma::Rule::value, 30};
  options.ensemble.gamma_range = {0.5, 2};
  const double without = evaluate(train(data, options).model, test).accuracy;
  options.ensemble.search_trials = 30;
  const TrainResult result = train(data, options);
  EXPECT_GT(evaluate(result.model, test).accuracy, without + 0.05);
  const ReportTable& search = table_of(result.report, "search");
  const auto best = std::min_element(search.rows.begin(), search.rows.end(),
                                     [](const auto& a, const auto& b) { return a[3] < b[3]; });
  for (const auto& row : table_of(result.report, "members").rows) {
    EXPECT_GE(row[3], (*best)[2] / 2 * 0.999);
    EXPECT_LE(row[3], (*best)[2] * 2 * 1.001);
  }
}

TEST(RandomSubset, SearchesUnlessCostOrGammaIsSet) {
  const Dataset data = named(clouds(300, 3, 2, 5), {1.0, 2.0});
  const auto searched = [&](const TrainOptions& options) {
    for (const ReportTable& table : train(data, options).report.tables) {
      if (table.name == "search") return table.rows.size();
    }
    return std::size_t{0};
  };
  TrainOptions options = subset_options("random-subset");
  EXPECT_EQ(searched(options), 0U);
  options.gamma.reset();
  EXPECT_EQ(searched(options), 0U);
  options.cost.reset();
  EXPECT_EQ(searched(options), 64U);
  options.ensemble.search_trials = 0;
  EXPECT_EQ(searched(options), 0U);
}

// The paper's five subsets with five pairs of C and gamma each: 25 SVMs for a member.
TEST(RandomSubset, TriesParametersOnEachSubset) {
  const Dataset data = named(clouds(400, 3, 2, 3), {1.0, 2.0});
  TrainOptions options = subset_options("random-subset");
  options.ensemble.members = 3;
  options.ensemble.candidates = 5;
  options.ensemble.parameter_draws = 5;
  const TrainResult result = train(data, options);
  EXPECT_EQ(result.report.machines, 3 * 25);
  EXPECT_EQ(table_of(result.report, "members").rows.size(), 3U);
}

TEST(RandomSubset, MixesKernels) {
  const auto [data, test] = halves(named(clouds(1200, 3, 2, 5), {1.0, 2.0}));
  TrainOptions options = subset_options("random-subset");
  options.ensemble.mixed_kernels = true;
  options.ensemble.combine = Combination::average;
  const Model model = train(data, options).model;
  const std::vector<Index>& types = ensemble_of(model).parts().kernel_types;
  ASSERT_EQ(types.size(), 20U);
  for (const KernelType type : {KernelType::linear, KernelType::polynomial, KernelType::rbf})
    EXPECT_GT(std::count(types.begin(), types.end(), static_cast<Index>(type)), 1);
  EXPECT_GT(evaluate(model, test).accuracy, 0.7);
}

TEST(RandomSubset, ProbabilitiesOfMembersAreCombined) {
  const auto [data, test] = halves(named(clouds(1200, 3, 2, 5), {1.0, 2.0}));
  TrainOptions options = subset_options("random-subset");
  const double by_values = evaluate(train(data, options).model, test).accuracy;
  options.ensemble.member_value = MemberValue::probability;
  options.ensemble.combine = Combination::average;
  const Model model = train(data, options).model;
  EXPECT_EQ(ensemble_of(model).parts().sigmoid_slopes.size(), 20U);
  for (const double value : decision_values(model, test.features()).values)
    EXPECT_LT(std::abs(value), 1);  // a mean of numbers from -1 to 1
  EXPECT_GT(evaluate(model, test).accuracy, by_values - 0.05);
}

// Class 2 has a tenth of the rows, and half of every balanced subset.
TEST(RandomSubset, BalancedSubsetsHaveAsManyRowsOfEachClass) {
  Dataset data = named(clouds(2000, 2, 2, 4), {1.0, 2.0});
  std::vector<Index> kept;
  for (Index i = 0; i < data.rows(); ++i) {
    if (data.labels().name(i) == "1" || i % 20 < 2) kept.push_back(i);
  }
  data = data.select(kept);
  TrainOptions options = subset_options("random-subset");
  options.ensemble.combine = Combination::average;
  const double uniform = recall_of("2", train(data, options).model, data);
  options.ensemble.subset_sampling = SubsetSampling::balanced;
  EXPECT_GT(recall_of("2", train(data, options).model, data), uniform + 0.1);
}

// Rows of a heavy class are drawn more often; their C is that of the others.
TEST(RandomSubset, WeightsCanBeProbabilities) {
  const Dataset plain = named(clouds(600, 2, 2, 4), {1.0, 2.0});
  TrainOptions options = subset_options("random-subset");
  options.class_weights = {{"2", 30}};
  options.ensemble.combine = Combination::average;
  options.ensemble.subset_sampling = SubsetSampling::weights;
  options.ensemble.cost_range = {1, 1};
  const Model model = train(plain, options).model;
  for (const double coefficient : ensemble_of(model).parts().coefficients)
    EXPECT_LE(std::abs(coefficient), 4.001);
  options.class_weights = {};
  const Model even = train(plain, options).model;
  EXPECT_GT(recall_of("2", model, plain), recall_of("2", even, plain));
}

// The members so far, and their weights, are a model.
TEST(RandomSubset, TimeEndsItWithTheMembersSoFar) {
  const auto [data, test] = halves(named(clouds(3000, 5, 2, 5), {1.0, 2.0}));
  for (const Combination how : {Combination::average, Combination::nonnegative}) {
    TrainOptions options = subset_options("random-subset");
    options.ensemble.combine = how;
    options.ensemble.members = 20'000;
    options.ensemble.score_rows = 500;
    options.max_seconds = 0.3;
    const TrainResult result = train(data, options);
    EXPECT_EQ(result.report.stop_reason, StopReason::time_limit);
    EXPECT_GT(table_of(result.report, "members").rows.size(), 1U);
    EXPECT_GT(evaluate(result.model, test).accuracy, 0.75);
  }
}

TEST(RandomSubset, TooManyMembersForTheMemoryAreRefused) {
  const Dataset data = named(clouds(400, 3, 2, 6), {1.0, 2.0});
  TrainOptions options = subset_options("random-subset");
  options.ensemble.members = 1'000'000'000;
  EXPECT_NE(error_of<ResourceError>([&] { train(data, options); }).find("score-rows"),
            std::string::npos);
}

TEST(RandomSubset, SaysWhatItCannotDo) {
  TrainOptions options = subset_options("random-subset");
  options.kernel = KernelType::precomputed;
  std::vector<float> values;
  std::vector<double> labels;
  for (int i = 0; i < 4; ++i) {
    values.push_back(static_cast<float>(i + 1));
    for (int j = 0; j < 4; ++j) values.push_back(i == j ? 1.0F : 0.0F);
    labels.push_back(i % 2);
  }
  const Dataset data(Matrix::dense(4, 5, values), Labels::numeric(labels));
  EXPECT_NE(error_of<InvalidArgument>([&] { train(data, options); }).find("precomputed"),
            std::string::npos);
  options.method = "ransac";
  EXPECT_EQ(predict(train(data, options).model, data.features()).size(), 4);
}

TEST(RandomSubset, TakesProbabilities) {
  const Dataset data = named(clouds(500, 3, 3, 8), {1.0, 2.0, 3.0});
  for (const std::string method : {"random-subset", "ransac"}) {
    const Model model =
        calibrate(train(data, subset_options(method)).model, data, CalibrationMethod::sigmoid);
    const Probabilities found = probabilities(model, data.features());
    for (Index i = 0; i < found.rows; ++i)
      EXPECT_NEAR(found.at(i, 0) + found.at(i, 1) + found.at(i, 2), 1, 1e-9);
    EXPECT_LT(evaluate(model, data).log_loss, 0.9);
  }
}

TEST(Ransac, KeepsTheTrialWithTheFewestErrors) {
  for (const int classes : {2, 3}) {
    const Dataset data = named(clouds(600, 3, classes, 9), {1.0, 2.0, 3.0});
    const TrainResult result = train(data, subset_options("ransac"));
    const ReportTable& trials = table_of(result.report, "trials");
    ASSERT_EQ(trials.rows.size(), 20U);
    const auto best = std::min_element(trials.rows.begin(), trials.rows.end(),
                                       [](const auto& a, const auto& b) { return a[4] < b[4]; });
    EXPECT_EQ(detail(result.report, "best_trial"), (*best)[0]);
    EXPECT_EQ(detail(result.report, "accuracy"), 1 - (*best)[4]);
    EXPECT_EQ(detail(result.report, "best_gamma"), (*best)[2]);
    const auto& machine = dynamic_cast<const KernelExpansion&>(machine_of(result.model));
    EXPECT_EQ(machine.kernel().gamma, (*best)[2]);
    EXPECT_EQ(static_cast<double>(machine.num_support_vectors()), (*best)[3]);
    // Scored on the 560 rows it has not seen: 40 are right more often.
    EXPECT_NEAR(evaluate(result.model, data).accuracy, 1 - (*best)[4], 40.0 / 600);
    const TemporaryFile file;
    save_model(result.model, file.path(), ModelFormat::libsvm);
    EXPECT_TRUE(predict(load_model(file.path()), data.features()) ==
                predict(result.model, data.features()));
  }
}

TEST(Ransac, NamesTheRowsOfItsSupportVectors) {
  for (const int classes : {2, 3}) {
    const Dataset data = named(clouds(600, 3, classes, 13), {1.0, 2.0, 3.0});
    TrainOptions options = subset_options("ransac");
    const TrainResult result = train(data, options);
    const auto& machine = dynamic_cast<const KernelExpansion&>(machine_of(result.model));
    ASSERT_EQ(static_cast<Index>(result.report.support_rows.size()), machine.num_support_vectors());
    for (Index s = 0; s < machine.num_support_vectors(); ++s) {
      for (Index j = 0; j < 3; ++j)
        EXPECT_EQ(machine.support_vectors().at(s, j),
                  data.features().at(result.report.support_rows[usize(s)], j));
    }
    options.polish = true;
    const TrainResult polished = train(data, options);
    options.method = "exact";
    options.polish = false;
    const double optimum = train(data, options).report.objective;
    EXPECT_NEAR(polished.report.objective, optimum, 1e-3 * std::abs(optimum));
  }
}

TEST(Ransac, MoreTrialsAreNoWorse) {
  const Dataset data = named(clouds(600, 3, 2, 10), {1.0, 2.0});
  TrainOptions options = subset_options("ransac");
  double before = 0;
  for (const Index trials : {1, 5, 40}) {
    options.ensemble.trials = trials;
    const double accuracy = detail(train(data, options).report, "accuracy");
    EXPECT_GE(accuracy, before);
    before = accuracy;
  }
}

TEST(Ransac, SecondsCanBeTheBudget) {
  const Dataset data = named(clouds(300, 3, 2, 11), {1.0, 2.0});
  TrainOptions options = subset_options("ransac");
  options.ensemble.trials.reset();
  options.max_seconds = 0.2;
  const TrainResult result = train(data, options);
  EXPECT_EQ(result.report.stop_reason, StopReason::converged) << "it did what it was asked for";
  EXPECT_GT(detail(result.report, "trials_scored"), 0);
}

TEST(Ransac, WeightsDecideWhichErrorsCount) {
  // Class 2 is rare and weighs a lot: a machine that gives it up is not the best.
  const Clouds cloud = clouds(600, 2, 2, 12, 0.5);
  std::vector<double> weights;
  for (const int c : cloud.classes) weights.push_back(c == 1 ? 50 : 1);
  const Dataset data = named(cloud, {1.0, 2.0}, weights);
  const Model model = train(data, subset_options("ransac")).model;
  const Labels found = predict(model, data.features());
  Index rare = 0;
  for (Index i = 0; i < found.size(); ++i) rare += found.number(i) == 2 ? 1 : 0;
  EXPECT_GT(rare, 500);
}

}  // namespace
}  // namespace tamis::testing
