#include "methods/leader/leader.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "kernels/kernel_value.hpp"
#include "methods/leader/class_thresholds.hpp"
#include "methods/leader/leader_pass.hpp"
#include "methods/leader/leader_stream.hpp"
#include "methods/leader/leader_threshold.hpp"
#include "methods/sifting/sifting.hpp"
#include "support/training_sets.hpp"
#include "tamis/error.hpp"

namespace tamis::testing {
namespace {

// D(x, z)^2 = K(x, x) - 2 K(x, z) + K(z, z), from the formula.
double kernel_distance(const Metric& metric, const Matrix& rows, Index a, Index b) {
  const auto value = [&](Index x, Index z) {
    return kernel_value(*metric.kernel, rows, x, rows, z);
  };
  return std::sqrt(std::max(0.0, value(a, a) - 2 * value(a, b) + value(b, b)));
}

// A threshold from among the distances of all pairs that none of them is so near to that rounding
// could decide: squares of distances are differences of kernel values, which have 24 bits.
double clear_threshold(const Metric& metric, const Matrix& rows, Random* random) {
  const std::vector<double> diagonal =
      kernel_diagonal(*metric.kernel, rows, iota_rows(rows.rows()));
  const double margin = 4e-6 * *std::max_element(diagonal.begin(), diagonal.end()) + 1e-9;
  std::vector<double> squares{0.0};
  for (Index a = 0; a < rows.rows(); ++a) {
    for (Index b = 0; b < a; ++b)
      squares.push_back(std::pow(kernel_distance(metric, rows, a, b), 2));
  }
  std::sort(squares.begin(), squares.end());
  auto at = usize(random->below(static_cast<Index>(squares.size())));
  while (at + 1 < squares.size() && squares[at + 1] < squares[at] + margin) ++at;
  return std::sqrt(at + 1 < squares.size() ? (squares[at] + squares[at + 1]) / 2
                                           : squares[at] + margin);
}

bool any_near(const Metric& metric, const Matrix& rows, Index row, const std::vector<Index>& others,
              double distance) {
  return std::any_of(others.begin(), others.end(), [&](Index other) {
    return kernel_distance(metric, rows, row, other) <= distance;
  });
}

// The algorithm of the paper, row by row.
std::vector<Index> naive_leaders(const TrainingSet& set, const Metric& metric,
                                 const std::vector<Index>& order, double threshold,
                                 std::vector<Index> leaders = {}) {
  for (const Index row : order) {
    if (!any_near(metric, set.features, row, leaders, threshold)) leaders.push_back(row);
  }
  return leaders;
}

TrainingSet set_of(Matrix features, const Kernel& kernel, Index classes = 2) {
  TrainingSet set;
  set.num_classes = classes;
  set.kernel = kernel;
  std::vector<double> names;
  for (Index i = 0; i < features.rows(); ++i)
    set.codes.push_back(static_cast<std::int32_t>(i % classes));
  for (Index c = 0; c < classes; ++c) names.push_back(static_cast<double>(c));
  set.classes = Labels::numeric(names);
  set.cost.assign(usize(features.rows()), 2.0);
  set.features = std::move(features);
  return set;
}

const Kernel kRbf{KernelType::rbf, 0.4, 0, 3};
const Kernel kLinear{KernelType::linear, 1, 0, 3};
const Kernel kPolynomial{KernelType::polynomial, 0.3, 1, 2};

RC_GTEST_PROP(Leaders, AreThoseOfTheNaiveScan, ()) {
  const auto rows = *rc::gen::inRange<Index>(1, 150);
  const auto cols = *rc::gen::inRange<Index>(1, 40);
  const auto seed = *rc::gen::arbitrary<std::uint32_t>();
  const Kernel kernel = *rc::gen::element(kRbf, kLinear, kPolynomial);
  const bool sparse = *rc::gen::arbitrary<bool>();
  const bool copies = *rc::gen::arbitrary<bool>();
  Matrix features = random_matrix(rows, cols, seed, sparse ? 0.2 : 1.0);
  if (copies) {
    std::vector<Index> drawn(usize(rows));
    Random random(seed, 1);
    for (Index& row : drawn) row = random.below(std::max<Index>(1, rows / 3));
    features = features.select(drawn);
  }
  if (sparse) features = features.to_sparse();
  const TrainingSet set = set_of(features, kernel);
  const Metric metric{kernel};
  Random random(seed, 2);
  const double threshold = clear_threshold(metric, features, &random);
  std::vector<Index> order = iota_rows(rows);
  random.shuffle(order);
  const MethodCall run;
  RC_ASSERT(find_leaders(set, metric, order, threshold, run.context()) ==
            naive_leaders(set, metric, order, threshold));
}

RC_GTEST_PROP(LeaderStream, FindsTheLeadersOfTheNaiveScan, ()) {
  const auto rows = *rc::gen::inRange<Index>(1, 150);
  const auto cols = *rc::gen::inRange<Index>(1, 10);
  const auto seed = *rc::gen::arbitrary<std::uint32_t>();
  const auto block_rows = *rc::gen::inRange<Index>(1, 40);
  const Kernel kernel = *rc::gen::element(kRbf, kLinear, kPolynomial);
  const Matrix features = random_matrix(rows, cols, seed);
  const TrainingSet set = set_of(features, kernel);
  const Metric metric{kernel};
  Random random(seed, 2);
  const double threshold = clear_threshold(metric, features, &random);
  LeaderStream stream(metric, threshold);
  std::vector<Index> leaders;
  for (Index begin = 0; begin < rows; begin += block_rows) {
    std::vector<Index> block(usize(std::min(block_rows, rows - begin)));
    std::iota(block.begin(), block.end(), begin);
    const Matrix part = features.select(block);
    for (const Index row : stream.add(part, iota_rows(part.rows()), {}))
      leaders.push_back(begin + row);
  }
  RC_ASSERT(stream.size() == static_cast<Index>(leaders.size()));
  RC_ASSERT(leaders == naive_leaders(set, metric, iota_rows(rows), threshold));
}

TEST(Leaders, OfTheWholeMethodAreThoseOfEachClass) {
  const TrainingSet set = set_of(random_matrix(600, 3, 1), kRbf, 3);
  MethodCall run;
  run.options.leader.threshold = 0.3;
  run.options.leader.class_thresholds = {{"1", 0.5}, {"+2", 0.1}};
  const TrainContext context = run.context();
  const MethodResult result = train_leader(set, context);
  const ReportTable& table = result.report.tables.at(1);
  ASSERT_EQ(table.name, "leaders");
  const Metric metric{Kernel{KernelType::rbf, 0.4 / 3, 0, 3}};
  const auto order = leader_order(set, context);
  const double thresholds[] = {0.3, 0.5, 0.1};
  double all = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_EQ(table.rows[c][0], 200);
    EXPECT_EQ(table.rows[c][1],
              static_cast<double>(naive_leaders(set, metric, order[c], thresholds[c]).size()));
    EXPECT_EQ(table.rows[c][2], thresholds[c]);
    all += table.rows[c][1];
  }
  EXPECT_GT(table.rows[2][1], table.rows[0][1]);
  MethodResult copy = result;
  EXPECT_EQ(report_detail(copy.report, "rows_used"), all);
}

TEST(Leaders, TheDistanceHasItsOwnGamma) {
  const TrainingSet set = set_of(random_matrix(50, 8, 1), kRbf);
  TrainOptions options;
  EXPECT_DOUBLE_EQ(leader_metric(set, options).kernel->gamma, 0.4 / 8);
  options.leader.gamma = 3;
  EXPECT_DOUBLE_EQ(leader_metric(set, options).kernel->gamma, 3);
  const TrainingSet straight = set_of(random_matrix(50, 8, 1), kLinear);
  EXPECT_EQ(leader_metric(straight, options).kernel->type, KernelType::linear);
}

TEST(Leaders, RowsOfAPrecomputedKernelAreAsFarApartAsTheKernelSays) {
  const Matrix points = random_matrix(120, 4, 3);
  std::vector<float> values;
  for (Index i = 0; i < 120; ++i) {
    values.push_back(static_cast<float>(i + 1));  // the row's number, as LIBSVM has it
    for (Index j = 0; j < 120; ++j)
      values.push_back(static_cast<float>(kernel_value(kRbf, points, i, points, j)));
  }
  const Kernel precomputed{KernelType::precomputed, 1, 0, 3};
  const TrainingSet set = set_of(Matrix::dense(120, 121, values), precomputed);
  const TrainingSet plain = set_of(points, kRbf);
  const std::vector<Index> order = iota_rows(120);
  const MethodCall run;
  const auto leaders = find_leaders(set, {precomputed}, order, 0.8, run.context());
  EXPECT_EQ(leaders, naive_leaders(plain, {kRbf}, order, 0.8));
  EXPECT_GT(leaders.size(), 5U);
  EXPECT_LT(leaders.size(), 100U);
}

TEST(Leaders, AWantedNumberIsAboutMet) {
  MethodCall run;
  const Matrix rows[] = {random_matrix(20'000, 2, 1), random_matrix(20'000, 10, 2),
                         random_matrix(3000, 5, 3)};
  for (const Matrix& features : rows) {
    const TrainingSet set = set_of(features, kRbf);
    for (const Index wanted : {50, 400, 2000}) {
      SCOPED_TRACE(std::to_string(features.rows()) + " rows, wanted " + std::to_string(wanted));
      run.options.leader.leaders = wanted;
      MethodResult result = train_leader(set, run.context());
      EXPECT_NEAR(report_detail(result.report, "rows_used"), static_cast<double>(wanted),
                  0.1 * static_cast<double>(wanted));
    }
  }
  // By default, a tenth.
  run.options.leader.leaders.reset();
  run.options.leader.refine = 0;
  MethodResult result = train_leader(set_of(rows[0], kRbf), run.context());
  EXPECT_NEAR(report_detail(result.report, "rows_used"), 2000, 200);
}

// Class c has rows[c] of the rows, spread[c] times as far apart as those of a class with 1.
TrainingSet spread_classes(const std::vector<Index>& rows, const std::vector<float>& spread) {
  const Index total = std::accumulate(rows.begin(), rows.end(), Index{0});
  const Matrix unit = random_matrix(total, 3, 11);
  std::vector<float> values;
  std::vector<std::int32_t> codes;
  for (std::size_t c = 0; c < rows.size(); ++c)
    codes.insert(codes.end(), usize(rows[c]), static_cast<std::int32_t>(c));
  for (Index i = 0; i < total; ++i) {
    for (Index j = 0; j < 3; ++j) values.push_back(spread[usize(codes[usize(i)])] * unit.at(i, j));
  }
  TrainingSet set = set_of(Matrix::dense(total, 3, values), kRbf, static_cast<Index>(rows.size()));
  set.codes.assign(codes.begin(), codes.end());
  return set;
}

// The table `leaders`: of each class rows, leaders, threshold.
std::vector<std::vector<double>> leaders_table(const TrainingSet& set, MethodCall run) {
  run.options.leader.refine = 0;
  const MethodResult result = train_leader(set, run.context());
  return result.report.tables.at(1).rows;
}

TEST(Leaders, NoClassHasLessThanHalfItsShare) {
  // With one threshold for both, class 0 had one leader.
  const auto table = leaders_table(spread_classes({3000, 3000}, {0.05F, 1}), {});
  EXPECT_NEAR(table[0][1], 150, 15);
  EXPECT_NEAR(table[1][1], 450, 45);
  EXPECT_LT(table[0][2], table[1][2] / 2);
}

TEST(Leaders, NoClassHasMoreThanTwiceItsShare) {
  // With one threshold for both, class 1 had half of the leaders, with a tenth of the rows.
  const auto table = leaders_table(spread_classes({5400, 600}, {0.3F, 1}), {});
  EXPECT_NEAR(table[0][1], 480, 48);
  EXPECT_NEAR(table[1][1], 120, 12);
  EXPECT_GT(table[1][2], table[0][2]);
}

TEST(Leaders, ClassesWithAboutTheirShareHaveOneThreshold) {
  const auto table = leaders_table(spread_classes({3000, 2000, 1000}, {1, 1, 1}), {});
  EXPECT_EQ(table[0][2], table[1][2]);
  EXPECT_EQ(table[0][2], table[2][2]);
  EXPECT_GT(table[2][1], 120) << "few rows are farther apart: more than the share of 100";
}

TEST(Leaders, ARareClassHasFiftyOrAll) {
  const auto table = leaders_table(spread_classes({5000, 200, 20}, {1, 0.05F, 0.05F}), {});
  EXPECT_NEAR(table[1][1], 50, 10);
  EXPECT_EQ(table[2][1], 20);
}

TEST(Leaders, CopiesDoNotMisleadTheSearch) {
  // Class 0 are copies for the most part, and class 1 has far more than its share with any one
  // threshold: samples say little about how the numbers of leaders grow, as in logs of a network.
  TrainingSet set = spread_classes({160'000, 40'000}, {0.1F, 1});
  std::vector<Index> drawn = iota_rows(200'000);
  for (Index i = 0; i < 200'000; ++i) {
    const Index first = i < 160'000 ? 0 : 160'000;
    if (i % 20 != 0) drawn[usize(i)] = first + i % 40;
  }
  set.features = set.features.select(drawn);
  MethodCall run;
  run.options.leader.leaders = 3000;
  const auto table = leaders_table(set, run);
  EXPECT_GT(table[0][1], 1100) << "half the share of 2400";
  EXPECT_GT(table[1][1], 270) << "half the share of 600";
  EXPECT_LT(table[1][1], 1300) << "twice the share of 600";
  EXPECT_NEAR(table[0][1] + table[1][1], 3000, 600);
}

TEST(Leaders, AClassThatTheSampleMissesHasTheCommonThreshold) {
  const TrainingSet all = spread_classes({3000, 3000, 40}, {1, 1, 0.01F});
  TrainingSet part = all;  // the rows of the first two classes
  part.features = all.features.select(iota_rows(6000));
  part.codes.resize(6000);
  part.cost.resize(6000);
  const MethodCall run;
  const Index class_rows[] = {30'000, 30'000, 40};
  const auto thresholds = leader_thresholds(part, {kRbf}, class_rows, run.context());
  EXPECT_GT(thresholds[0], 0);
  EXPECT_EQ(thresholds, std::vector<double>(3, thresholds[0]));
}

TEST(Leaders, AWantedNumberIsAboutMetFromAPartOfTheRows) {
  const MethodCall run;
  const TrainContext context = run.context();
  for (const Index cols : {2, 4}) {
    const TrainingSet all = set_of(random_matrix(200'000, cols, 9), kRbf, 1);
    TrainingSet part = set_of(all.features.select(iota_rows(20'000)), kRbf, 1);
    const Metric metric = leader_metric(all, run.options);
    const std::vector<Index> at_hand = iota_rows(part.rows());
    const FoundThreshold found =
        find_threshold(part, metric, {at_hand, all.rows(), 2000}, 1, context);
    const auto leaders = find_leaders(all, metric, iota_rows(all.rows()), found.threshold, context);
    EXPECT_NEAR(found.leaders.at(0), 2000, 100) << "as the search says";
    EXPECT_NEAR(static_cast<double>(leaders.size()), 2000, 200) << cols << " columns";
  }
}

TEST(Leaders, TheirNumberGrowsEverMoreSlowly) {
  // Exponents that fall by the same factor: d log leaders / d log rows = 0.8 * 0.9^(log rows).
  const auto slowing = [](double rows) {
    return std::exp(0.8 / std::log(0.9) * std::pow(0.9, std::log(rows)));
  };
  // Points that cover a square.
  const auto filling = [](double rows) { return 1 / (1e-4 + 0.02 / std::sqrt(rows)); };
  for (const auto& leaders : {std::function<double(double)>(slowing), {filling}}) {
    const double growth =
        leader_growth({1000, 4000, 16'000}, {leaders(1000), leaders(4000), leaders(16'000)}, 1e5);
    const double expected = leaders(1e5) / leaders(16'000);
    EXPECT_GT(expected, 1.1);
    EXPECT_NEAR(growth, expected, 0.1 * expected);
  }
  // A power law goes on, what does not grow stays, and nothing grows faster than the rows.
  EXPECT_NEAR(leader_growth({100, 400, 1600}, {10, 20, 40}, 6400), 2, 1e-9);
  EXPECT_EQ(leader_growth({100, 400, 1600}, {10, 10, 10}, 6400), 1);
  EXPECT_NEAR(leader_growth({100, 400, 1600}, {1, 30, 1600}, 6400), 4, 1e-9);
  EXPECT_EQ(leader_growth({100, 400, 1600}, {10, 20, 30}, 1600), 1);
}

TEST(Leaders, CopiesHaveOneLeader) {
  std::vector<Index> copies;
  for (Index i = 0; i < 400; ++i) copies.push_back(i % 7);
  const TrainingSet set = set_of(random_matrix(7, 2, 1).select(copies), kRbf, 1);
  const MethodCall run;
  const TrainContext context = run.context();
  const Metric metric = leader_metric(set, run.options);
  const std::vector<Index> order = iota_rows(400);
  const FoundThreshold found = find_threshold(set, metric, {order, 400, 40}, 1, context);
  EXPECT_EQ(found.leaders.at(0), 7);
  EXPECT_EQ(find_leaders(set, metric, order, found.threshold, context), iota_rows(7));
}

TEST(Leaders, LowerThresholdsAroundSomeAddTheRowsThatAreMissing) {
  const TrainingSet set = set_of(random_matrix(500, 3, 4), kRbf);
  const Metric metric{kRbf};
  const MethodCall run;
  const TrainContext context = run.context();
  std::vector<Index> order = iota_rows(500);
  Random(4).shuffle(order);
  const std::vector<Index> leaders = find_leaders(set, metric, order, 0.8, context);
  const std::vector<Index> around(leaders.begin() + 2, leaders.begin() + 9);
  std::vector<Index> near;
  for (const Index row : order) {
    if (any_near(metric, set.features, row, around, 0.8)) near.push_back(row);
  }
  const std::vector<Index> expected = naive_leaders(set, metric, near, 0.4, leaders);
  EXPECT_EQ(find_more_leaders(set, metric, order, leaders, around, 0.8, 0.4, context), expected);
  EXPECT_GT(expected.size(), leaders.size() + 10);
}

// Ten copies of a full row, and 20 rows with 5 of 40 values that are 0.01 apart, far from zero: all
// rows together are held dense, leaders alone are not, and distances from norms see them as equal.
TEST(Leaders, NoneIsLostWhereDistancesAreRoundedInAnotherWay) {
  std::vector<Index> begins = {0};
  std::vector<std::int32_t> columns;
  std::vector<float> values;
  for (Index i = 0; i < 30; ++i) {
    for (Index c = 0; c < (i < 10 ? 40 : 5); ++c) {
      columns.push_back(static_cast<std::int32_t>(c));
      values.push_back(i < 10 ? 50.0F : 100.0F + (c == 0 ? 0.01F * static_cast<float>(i) : 0.0F));
    }
    begins.push_back(std::ssize(columns));
  }
  const TrainingSet set =
      set_of(Matrix::sparse(40, std::move(begins), std::move(columns), std::move(values)), kRbf);
  const Metric metric{kRbf};
  const MethodCall run;
  const TrainContext context = run.context();
  const std::vector<Index> order = iota_rows(30);
  const double threshold = std::sqrt(2 - 2 * std::exp(-kRbf.gamma * 0.005 * 0.005));
  const std::vector<Index> leaders = find_leaders(set, metric, order, threshold, context);
  EXPECT_EQ(std::ssize(leaders), 21);
  EXPECT_EQ(find_more_leaders(set, metric, order, leaders, std::vector<Index>{leaders[5]},
                              threshold, threshold / 2, context),
            leaders);
}

TEST(Leaders, AClusterCostsWhatItsRowsCost) {
  TrainingSet set = set_of(random_matrix(300, 3, 5), kRbf);
  std::iota(set.cost.begin(), set.cost.end(), 1.0);
  const Metric metric{kRbf};
  const MethodCall run;
  const std::vector<Index> order = iota_rows(300);
  const auto leaders = find_leaders(set, metric, order, 0.6, run.context());
  std::vector<double> expected(leaders.size(), 0.0);
  for (const Index row : order) {
    const auto nearest = std::min_element(leaders.begin(), leaders.end(), [&](Index a, Index b) {
      return kernel_distance(metric, set.features, row, a) <
             kernel_distance(metric, set.features, row, b);
    });
    expected[usize(nearest - leaders.begin())] += set.cost[usize(row)];
  }
  EXPECT_EQ(cluster_costs(set, metric, order, leaders, run.context()), expected);
}

TEST(Leaders, RefiningAddsLeadersNearTheBoundary) {
  const TrainingSet set = checkerboard_set(4000, 6);
  MethodCall run;
  run.options.leader.threshold = 0.5;
  MethodResult coarse = train_leader(set, run.context());
  run.options.leader.refine = 2;
  MethodResult fine = train_leader(set, run.context());
  EXPECT_EQ(fine.report.tables.at(0).rows.size(), 3U);
  EXPECT_EQ(fine.report.tables.at(0).rows[0][0], report_detail(coarse.report, "rows_used"));
  EXPECT_GT(report_detail(fine.report, "rows_used"), report_detail(coarse.report, "rows_used"));
  const ReportTable& leaders = fine.report.tables.at(1);  // those of the last round
  EXPECT_EQ(leaders.rows[0][1] + leaders.rows[1][1], report_detail(fine.report, "rows_used"));
}

TEST(Leaders, ByDefaultTheThresholdIsHalvedOnceUnlessItOrTheNumberIsGiven) {
  const TrainingSet set = checkerboard_set(3000, 7);
  const auto rounds = [&](const MethodCall& run) {
    return train_leader(set, run.context()).report.tables.at(0).rows.size();
  };
  MethodCall run;
  EXPECT_EQ(rounds(run), 2U);
  run.options.leader.leaders = 300;
  EXPECT_EQ(rounds(run), 1U);
  run.options.leader.leaders.reset();
  run.options.leader.threshold = 0.5;
  EXPECT_EQ(rounds(run), 1U);
  run.options.leader.refine = 1;
  EXPECT_EQ(rounds(run), 2U);
}

TEST(Leaders, BoundaryLeadersAreThoseOfTheNaiveScan) {
  const TrainingSet set = set_of(random_matrix(400, 3, 8), kRbf, 3);
  const Metric metric{Kernel{KernelType::rbf, 0.4 / 3, 0, 3}};
  MethodCall run;
  const double thresholds[] = {0.5, 0.5, 0.3};
  run.options.leader.threshold = 0.5;
  run.options.leader.class_thresholds = {{"2", 0.3}};
  run.options.leader.refine = 1;
  run.options.leader.boundary = LeaderBoundary::leaders;
  const TrainContext context = run.context();
  const auto order = leader_order(set, context);
  std::vector<std::vector<Index>> leaders;
  for (std::size_t c = 0; c < 3; ++c)
    leaders.push_back(naive_leaders(set, metric, order[c], thresholds[c]));
  const ReportTable table = train_leader(set, context).report.tables.at(1);
  std::size_t left_out = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    std::vector<Index> around;
    for (const Index leader : leaders[c]) {
      const bool is_near =
          any_near(metric, set.features, leader, leaders[(c + 1) % 3], thresholds[c]) ||
          any_near(metric, set.features, leader, leaders[(c + 2) % 3], thresholds[c]);
      if (is_near) around.push_back(leader);
    }
    std::vector<Index> near;
    for (const Index row : order[c]) {
      if (any_near(metric, set.features, row, around, thresholds[c])) near.push_back(row);
    }
    const auto expected = naive_leaders(set, metric, near, thresholds[c] / 2, leaders[c]);
    EXPECT_EQ(table.rows[c][1], static_cast<double>(expected.size())) << "class " << c;
    EXPECT_GT(expected.size(), leaders[c].size());
    left_out += leaders[c].size() - around.size();
  }
  EXPECT_GT(left_out, 0U) << "all leaders are at the boundary, so the choice shows nowhere";
}

TEST(Leaders, ThresholdsMustNameClassesOfTheData) {
  const TrainingSet set = set_of(random_matrix(60, 3, 1), kRbf);
  MethodCall run;
  run.options.leader.class_thresholds = {{"7", 0.1}};
  EXPECT_THROW(train_leader(set, run.context()), InvalidArgument);
  run.options.leader.class_thresholds = {{"1", 0.1}};
  EXPECT_THROW(train_leader(set, run.context()), InvalidArgument) << "class 0 has no threshold";
  run.options.leader.class_thresholds = {{"1", 0.1}, {"0", 0.2}};
  EXPECT_NO_THROW(train_leader(set, run.context()));
}

}  // namespace
}  // namespace tamis::testing
