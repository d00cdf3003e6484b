// The local machines against what their definitions say, word by word.
#include "methods/local/falk.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>

#include "contract/fixtures.hpp"
#include "methods/local/local_selection.hpp"
#include "methods/local/local_training.hpp"
#include "methods/local/neighborhoods.hpp"
#include "model/local_models.hpp"
#include "model/model_parts.hpp"
#include "support/training_sets.hpp"

namespace tamis::testing {
namespace {

// Rows by squared distance, then number.
std::vector<Index> naive_neighbours(const Matrix& rows, const Matrix& queries, Index query) {
  std::vector<std::pair<float, Index>> all;
  for (Index i = 0; i < rows.rows(); ++i) {
    float sum = 0;
    for (Index j = 0; j < rows.cols(); ++j) {
      const float difference = rows.at(i, j) - queries.at(query, j);
      sum += difference * difference;
    }
    all.emplace_back(sum, i);
  }
  std::sort(all.begin(), all.end());
  std::vector<Index> result;
  for (const auto& [distance, row] : all) result.push_back(row);
  return result;
}

TrainOptions local_options(const std::string& method, std::optional<Index> k) {
  TrainOptions options;
  options.method = method;
  options.gamma = {Gamma::Rule::value, 0.5};
  options.cost = 4;
  options.local.k = k;
  return options;
}

const LocalModels& local_models(const Model& model) {
  return dynamic_cast<const LocalModels&>(machine_of(model));
}

TEST(Falk, AllRowsInOneNeighbourhoodIsTheExactMachine) {
  for (const int classes : {2, 4}) {
    const Clouds data = clouds(200, 3, classes, 1);
    const Dataset given = named(data, {1.0, 2.0, 3.0, 4.0});
    const Matrix queries = random_matrix(100, 3, 2);
    TrainOptions options = local_options("exact", {});
    const Model exact = train(given, options).model;
    for (const std::string method : {"falk", "falk-c"}) {
      for (const Index k : {Index{200}, Index{5000}}) {
        options.method = method;
        options.local.k = k;
        const Model model = train(given, options).model;
        EXPECT_EQ(local_models(model).num_machines(), 1);
        EXPECT_LT(
            largest_difference(decision_values(model, queries), decision_values(exact, queries)),
            1e-12);
        EXPECT_TRUE(predict(model, queries) == predict(exact, queries));
      }
    }
  }
}

TEST(Falk, EveryRowIsACentreWhenItCoversOnlyItself) {
  const Dataset given = named(clouds(150, 2, 2, 3), {1.0, 2.0});
  TrainOptions options = local_options("falk", 20);
  options.local.k_prime = 1;
  const TrainResult result = train(given, options);
  const LocalModels& local = local_models(result.model);
  EXPECT_EQ(local.num_machines(), 150);
  // Each row is its own centre's nearest.
  EXPECT_EQ(result.report.details[0].first, "centres");
  EXPECT_EQ(result.report.details[0].second, 150);
}

TEST(Falk, CentresCoverAndRowsGoWhereTheirRankIsLowest) {
  for (const Index k_prime : {Index{1}, Index{7}, Index{25}}) {
    const Matrix rows = random_matrix(400, 2, 4);
    const auto index = make_neighbor_index(rows, Metric{}, Structure::kd_tree);
    const Neighborhoods found = cover_rows(*index, rows, 25, k_prime, {});
    std::vector<Index> best(400, 1000);
    std::vector<std::int32_t> owner(400, -1);
    for (Index c = 0; c < found.size(); ++c) {
      const std::vector<Index> expected = naive_neighbours(rows, rows, found.centres[usize(c)]);
      EXPECT_TRUE(std::equal(found.rows_of(c).begin(), found.rows_of(c).end(), expected.begin()));
      for (Index r = 0; r < 25; ++r) {
        const std::size_t row = usize(expected[usize(r)]);
        if (r >= best[row]) continue;
        // A centre is taken only while no earlier one covers it.
        if (r == 0) {
          EXPECT_GE(best[row], k_prime);
        }
        best[row] = r;
        owner[row] = static_cast<std::int32_t>(c);
      }
    }
    EXPECT_EQ(owner, found.centre_of_row);
    for (const Index rank : best) EXPECT_LT(rank, k_prime);
  }
}

TEST(Falk, CopiesAreCoveredTogether) {
  // 3,000 copies of one row and 30 others: the copies need one centre, not a thousand.
  std::vector<float> values(6000, 1.0F);
  const Matrix others = random_matrix(30, 2, 5);
  values.insert(values.end(), others.dense_values().begin(), others.dense_values().end());
  const Matrix rows = Matrix::dense(3030, 2, values);
  const auto index = make_neighbor_index(rows, Metric{}, Structure::automatic);
  const Neighborhoods found = cover_rows(*index, rows, 20, 10, {});
  EXPECT_LT(found.size(), 31);
  for (const std::int32_t centre : found.centre_of_row) EXPECT_GE(centre, 0);
}

// With the Laplacian kernel too, neighbors are Euclidean: the same centers as with RBF.
TEST(Falk, LaplacianNeighborsAreEuclidean) {
  const Dataset given = named(clouds(300, 3, 2, 8), {1.0, 2.0});
  const Matrix queries = random_matrix(100, 3, 9);
  TrainOptions options = local_options("falk", 40);
  const Model rbf = train(given, options).model;
  options.kernel = KernelType::laplacian;
  const Model laplacian = train(given, options).model;
  const auto found = local_models(laplacian).parts().machine_of_anchor.span();
  const auto expected = local_models(rbf).parts().machine_of_anchor.span();
  EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin(), expected.end()));
  EXPECT_GT(agreement(predict(laplacian, queries), predict(rbf, queries)), 0.8);
}

// falk: the machine of the nearest row's centre; falk-c: that of the nearest centre.
TEST(Falk, QueriesGoToTheMachineTheyShould) {
  const Clouds data = clouds(300, 2, 3, 6);
  const Dataset given = named(data, {1.0, 2.0, 3.0});
  const Matrix queries = random_matrix(80, 2, 7);
  const Model by_row = train(given, local_options("falk", 40)).model;
  const Model by_centre = train(given, local_options("falk-c", 40)).model;
  const LocalParts& rows = local_models(by_row).parts();
  const LocalParts& centres = local_models(by_centre).parts();
  ASSERT_GT(local_models(by_row).num_machines(), 3);
  const DecisionValues row_values = decision_values(by_row, queries);
  const DecisionValues centre_values = decision_values(by_centre, queries);
  const auto expect_machine = [&](const LocalParts& parts, Index machine, Index query,
                                  const DecisionValues& values) {
    LocalView view;
    view.only_class = parts.only_class[machine];
    for (Index p = parts.pair_begin[machine]; p < parts.pair_begin[machine + 1]; ++p) {
      view.pairs.push_back(
          {parts.pair_classes[2 * p], parts.pair_classes[2 * p + 1], parts.offsets[p],
           parts.term_rows.range(parts.term_begin[p], parts.term_begin[p + 1]),
           parts.coefficients.range(parts.term_begin[p], parts.term_begin[p + 1])});
    }
    std::vector<double> expected(3);
    local_values(view, parts.kernel, parts.rows, 3, queries, std::vector<Index>{query}, expected);
    for (Index c = 0; c < 3; ++c) EXPECT_NEAR(values.at(query, c), expected[usize(c)], 1e-12);
  };
  for (Index q = 0; q < 80; ++q) {
    const Index row = naive_neighbours(rows.rows, queries, q)[0];
    expect_machine(rows, rows.machine_of_anchor[row], q, row_values);
    const Matrix places = centres.rows.select(centres.anchors.span());
    expect_machine(centres, naive_neighbours(places, queries, q)[0], q, centre_values);
  }
}

double accuracy(const Model& model, const Dataset& data) {
  return agreement(predict(model, data.features()), data.labels());
}

// Time that is over before it begins, and no interrupt: a sample of the rows is trained on.
TEST(Falk, WithoutTimeItIsBetterThanAConstant) {
  for (const std::string method : {"falk", "falk-c", "falk-l"}) {
    SCOPED_TRACE(method);
    const Dataset data = named(clouds(3000, 3, 2, 1, 4), {-1.0, 1.0});
    TrainOptions options = local_options(method, std::nullopt);
    options.max_seconds = 1e-9;
    const TrainResult result = train(data, options);
    EXPECT_EQ(result.report.stop_reason, StopReason::time_limit);
    EXPECT_FALSE(result.model.is_constant());
    EXPECT_GT(accuracy(result.model, data), 0.9);
    EXPECT_EQ(saved_bytes(result.model).empty(), false);
  }
  const Dataset numbers = wave(3000, 2, 1);
  TrainOptions options = local_options("falk", std::nullopt);
  options.task = Task::regression;
  options.max_seconds = 1e-9;
  EXPECT_FALSE(train(numbers, options).model.is_constant());
}

TEST(Falk, CancelledBeforeItBeginsItIsAConstantAndSaysSo) {
  const std::atomic<bool> cancel = true;
  RunControl control;
  control.cancel = &cancel;
  for (const std::string method : {"falk", "falk-c", "falk-l"}) {
    const Dataset data = named(clouds(3000, 3, 2, 1, 4), {-1.0, 1.0});
    const TrainResult result = train(data, local_options(method, std::nullopt), control);
    EXPECT_EQ(result.report.stop_reason, StopReason::interrupted);
    EXPECT_TRUE(result.model.is_constant());
  }
}

// What was trained before the stop is kept; the sample answers for the rest.
TEST(Falk, AStoppedRunKeepsWhatItTrained) {
  const TrainingSet set = checkerboard_set(4000, 1);
  MethodCall call;
  std::atomic<bool> cancel = false;
  call.control.cancel = &cancel;
  const TrainContext context = call.context();
  const LocalSettings settings{40, 10, 1, -1};
  const auto index = make_neighbor_index(set.features, Metric{set.kernel}, Structure::kd_tree);
  CoverSearch search(*index, set.features, 40, 10, call.control);
  Index asked = 0;
  search.advance([&] { return ++asked > 1; });
  ASSERT_FALSE(search.is_complete());
  LocalTraining training(set, settings, context);
  training.train(search.found());
  const Index kept = search.found().size();
  ASSERT_GT(kept, 2);
  cancel = true;
  search.advance();
  training.train(search.found());
  TrainReport report;
  const TrainedLocally trained = training.finish(search.found(), &report);
  EXPECT_EQ(report.stop_reason, StopReason::interrupted);
  ASSERT_EQ(static_cast<Index>(trained.machines.size()), kept + 1);
  EXPECT_EQ(trained.stopgap, kept);
  EXPECT_FALSE(trained.machines.back().pairs.empty());
  for (Index c = 0; c < kept; ++c) EXPECT_EQ(trained.machine_of_centre[usize(c)], c);
}

TEST(Falk, APauseDoesNotShowInTheCover) {
  const Matrix rows = random_matrix(2000, 2, 4);
  const auto index = make_neighbor_index(rows, Metric{}, Structure::kd_tree);
  const Neighborhoods whole = cover_rows(*index, rows, 25, 7, {});
  CoverSearch search(*index, rows, 25, 7, {});
  Index pauses = 0;
  for (; !search.is_complete(); ++pauses) {
    Index asked = 0;
    search.advance([&] { return ++asked > 1; });
  }
  EXPECT_GT(pauses, 2);
  EXPECT_EQ(search.found().centres, whole.centres);
  EXPECT_EQ(search.found().centre_of_row, whole.centre_of_row);
}

TEST(Falk, OneClassNeighbourhoodsAreConstants) {
  // Two clouds far apart, and a third between: most neighbourhoods have one class.
  const Clouds data = clouds(400, 2, 2, 8, 30);
  const TrainResult result = train(named(data, {1.0, 2.0}), local_options("falk", 20));
  EXPECT_GT(result.report.details[3].second, 0.9);
  EXPECT_EQ(result.report.details[3].first, "one_class_fraction");
  EXPECT_GE(agreement(predict(result.model, data.features), named(data, {1.0, 2.0}).labels()), 1);
}

TEST(Falk, LearnsNumbers) {
  std::vector<double> targets;
  const Matrix rows = random_matrix(600, 2, 9);
  for (Index i = 0; i < 600; ++i)
    targets.push_back(std::sin(3 * static_cast<double>(rows.at(i, 0))) +
                      static_cast<double>(rows.at(i, 1)));
  TrainOptions options = local_options("falk", 80);
  options.task = Task::regression;
  options.gamma = {Gamma::Rule::value, 2};
  options.cost = 10;
  for (const std::string method : {"falk", "falk-c", "knn-svm"}) {
    options.method = method;
    const Labels found =
        predict(train(Dataset(rows, Labels::numeric(targets)), options).model, rows);
    double worst = 0;
    for (Index i = 0; i < 600; ++i) worst += std::abs(found.number(i) - targets[usize(i)]) / 600;
    EXPECT_LT(worst, 0.12) << method;
  }
}

TEST(Falk, LocalWidthsFollowTheLocalDistances) {
  const Matrix rows = Matrix::dense(4, 1, {0, 1, 3, 7});
  // Squared distances: 1, 4, 9, 16, 36, 49, each twice.
  EXPECT_DOUBLE_EQ(local_gamma(KernelType::rbf, rows, iota_rows(4), 0), 1.0);
  EXPECT_DOUBLE_EQ(local_gamma(KernelType::rbf, rows, iota_rows(4), 50), 1.0 / 16);
  EXPECT_DOUBLE_EQ(local_gamma(KernelType::rbf, rows, iota_rows(4), 100), 1.0 / 49);
  EXPECT_DOUBLE_EQ(local_gamma(KernelType::laplacian, rows, iota_rows(4), 50), 1.0 / 4);
  EXPECT_DOUBLE_EQ(local_gamma(KernelType::rbf, Matrix::dense(3, 1, {2, 2, 2}), iota_rows(3), 50),
                   1);
}

// A row of the table "selection": what was taken.
const std::vector<double>& selected(const TrainReport& report) {
  const ReportTable& table = report.tables.at(0);
  const auto& details = report.details;
  const auto chosen = std::find_if(table.rows.begin(), table.rows.end(), [&](const auto& row) {
    return row[0] == details[0].second && row[1] == details[1].second &&
           row[2] == details[2].second;
  });
  if (chosen == table.rows.end()) throw std::logic_error("what was taken was not tried");
  return *chosen;
}

TrainOptions selecting(SelectionRule rule) {
  TrainOptions options = local_options("falk-l", {});
  options.local.selection_rule = rule;
  options.local.k_grid = {30, 60, 120, 240};
  options.local.selection_centres = 4;
  return options;
}

TEST(Falk, SelectionTriesAndTells) {
  const Clouds data = clouds(500, 2, 2, 10);
  const TrainResult result = train(named(data, {1.0, 2.0}), selecting(SelectionRule::lowest_error));
  ASSERT_EQ(result.report.tables.size(), 1U);
  const ReportTable& table = result.report.tables[0];
  EXPECT_EQ(table.columns, (std::vector<std::string>{"k", "cost", "percentile", "error"}));
  EXPECT_EQ(table.rows.size() % 16, 0U);
  const std::vector<double>& chosen = selected(result.report);
  EXPECT_LE(table.rows.back()[0], 2 * chosen[0]) << "one k beyond the chosen one ends the search";
  EXPECT_EQ(local_models(result.model).parts().gammas.size(),
            local_models(result.model).num_machines());
}

// Definition 5 of the paper, and the default.
TEST(Falk, SelectionTakesTheLowestError) {
  EXPECT_EQ(LocalOptions().selection_rule, SelectionRule::lowest_error);
  for (const std::uint64_t seed : {10U, 20U, 30U}) {
    const Dataset data = named(clouds(500, 2, 2, seed), {1.0, 2.0});
    const TrainReport report = train(data, selecting(SelectionRule::lowest_error)).report;
    const std::vector<double>& chosen = selected(report);
    for (const auto& row : report.tables[0].rows) {
      EXPECT_GE(row[3], chosen[3]);
      if (row[3] > chosen[3] || row == chosen) continue;
      // As few errors: then a larger k, or with the same k not as smooth.
      EXPECT_TRUE(row[0] > chosen[0] ||
                  (row[0] == chosen[0] &&
                   (row[1] > chosen[1] || (row[1] == chosen[1] && row[2] < chosen[2]))));
    }
  }
}

// Training itself then has time enough, but another computer might choose otherwise.
TEST(Falk, ASelectionThatALimitEndedSaysSo) {
  TrainOptions options = selecting(SelectionRule::lowest_error);
  options.local.cost_grid.clear();
  for (int k = 0; k < 200; ++k) options.local.cost_grid.push_back(1 + k);
  options.local.percentiles.clear();
  for (int k = 1; k < 100; ++k) options.local.percentiles.push_back(k);
  options.max_seconds = 0.3;
  const TrainResult result = train(named(clouds(500, 2, 2, 10), {1.0, 2.0}), options);
  EXPECT_EQ(result.report.stop_reason, StopReason::time_limit);
  EXPECT_FALSE(result.model.is_constant());
}

TEST(Falk, SelectionCanPreferTheSmoothest) {
  bool has_fewer_errors = false;
  for (const std::uint64_t seed : {10U, 20U, 30U}) {
    const Dataset data = named(clouds(500, 2, 2, seed), {1.0, 2.0});
    const TrainReport report = train(data, selecting(SelectionRule::smoothest)).report;
    const std::vector<double>& chosen = selected(report);
    for (const auto& row : report.tables[0].rows) {
      if (row[0] != chosen[0] || row[3] >= chosen[3]) continue;
      has_fewer_errors = true;
      EXPECT_TRUE(row[1] > chosen[1] || (row[1] == chosen[1] && row[2] < chosen[2]));
    }
  }
  EXPECT_TRUE(has_fewer_errors) << "these data do not tell the rules apart";
}

TEST(Knn, VotesAsANaiveCount) {
  for (const int classes : {2, 5}) {
    const Clouds data = clouds(200, 3, classes, 11);
    const std::vector<double> names{1.0, 2.0, 3.0, 4.0, 5.0};
    const Matrix queries = random_matrix(120, 3, 12);
    const Model model = train(named(data, names), local_options("knn", 9)).model;
    const Labels found = predict(model, queries);
    for (Index q = 0; q < 120; ++q) {
      const std::vector<Index> near = naive_neighbours(data.features, queries, q);
      std::vector<int> votes(usize(classes), 0);
      for (Index r = 0; r < 9; ++r) ++votes[usize(data.classes[usize(near[usize(r)])])];
      const auto most = std::max_element(votes.begin(), votes.end());
      EXPECT_EQ(votes[static_cast<std::size_t>(found.number(q)) - 1], *most);
    }
  }
}

TEST(KnnSvm, IsAMachineOnTheNeighboursOfEachQuery) {
  for (const int classes : {2, 3}) {
    const Clouds data = clouds(250, 3, classes, 13);
    const Dataset given = named(data, {1.0, 2.0, 3.0});
    const Matrix queries = random_matrix(40, 3, 14);
    const TrainOptions options = local_options("knn-svm", 30);
    const Labels found = predict(train(given, options).model, queries);
    TrainOptions exact = options;
    exact.method = "exact";
    for (Index q = 0; q < 40; ++q) {
      std::vector<Index> near = naive_neighbours(data.features, queries, q);
      near.resize(30);
      std::sort(near.begin(), near.end());
      const Dataset part = given.select(near);
      const Matrix query = queries.select(std::vector<Index>{q});
      if (distinct_classes(part.labels()).size() == 1) {
        EXPECT_EQ(found.number(q), part.labels().number(0));
      } else {
        EXPECT_EQ(found.number(q), predict(train(part, exact).model, query).number(0));
      }
    }
  }
}

}  // namespace
}  // namespace tamis::testing
