// train_stream(): what it says of a file is what is in it.
#include "tamis/stream.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "contract/fixtures.hpp"
#include "tamis/evaluate.hpp"

namespace tamis::testing {
namespace {

TrainOptions leader_options() {
  TrainOptions options;
  options.method = "leader";
  options.gamma = {Gamma::Rule::value, 0.3};
  return options;
}

double squared_distance(const Dataset& data, Index a, Index b) {
  double sum = 0;
  for (Index j = 0; j < data.cols(); ++j) {
    const double difference = static_cast<double>(data.features().at(a, j)) -
                              static_cast<double>(data.features().at(b, j));
    sum += difference * difference;
  }
  return sum;
}

// The leaders of a class, in the order of the file, by the Euclidean radius that the threshold is.
std::vector<Index> naive_leaders(const Dataset& data, double label, double squared_radius) {
  std::vector<Index> leaders;
  for (Index i = 0; i < data.rows(); ++i) {
    if (data.labels().number(i) != label) continue;
    const bool led = std::any_of(leaders.begin(), leaders.end(), [&](Index leader) {
      return squared_distance(data, i, leader) <= squared_radius;
    });
    if (!led) leaders.push_back(i);
  }
  return leaders;
}

// D^2 = 2 - 2 exp(-gamma / d |x - z|^2), with four columns and the gamma of leader_options().
double squared_radius_of(double threshold) {
  return -std::log(1 - threshold * threshold / 2) * 4 / 0.3;
}

TEST(Stream, TakesTheLeadersInTheOrderOfTheFile) {
  const TemporaryFile file;
  const Dataset data = named(clouds(900, 4, 3, 1), {3.0, 1.0, 2.0});
  write_dataset(file.path(), data);
  TrainOptions options = leader_options();
  options.leader.threshold = 0.2;
  options.leader.class_thresholds = {{"2", 0.1}};
  const TrainResult result = train_stream(file.path(), {}, options);
  EXPECT_EQ(result.model.method(), "leader");
  EXPECT_EQ(result.report.rows, 900);
  EXPECT_EQ(result.report.classes, 3);
  const ReportTable& table = result.report.tables.at(0);
  ASSERT_EQ(table.name, "leaders");
  double all = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    const double threshold = c == 1 ? 0.1 : 0.2;
    const auto leaders =
        naive_leaders(data, static_cast<double>(c + 1), squared_radius_of(threshold));
    EXPECT_EQ(table.rows[c][0], 300);
    EXPECT_EQ(table.rows[c][1], static_cast<double>(leaders.size()));
    EXPECT_EQ(table.rows[c][2], threshold);
    all += table.rows[c][1];
  }
  EXPECT_LT(all, 800);
  EXPECT_GT(all, 100);
  EXPECT_EQ(result.report.details.at(0).second, all);
  EXPECT_GT(evaluate(result.model, data).accuracy, 0.6);
}

// The model of the leaders, each with as many rows as are nearest to it.
TEST(Stream, ClusterWeightsAsCountedByHand) {
  const TemporaryFile file;
  const Dataset data = named(clouds(600, 4, 2, 5), {1.0, 2.0});
  write_dataset(file.path(), data);
  TrainOptions options = leader_options();
  options.leader.threshold = 0.3;
  options.leader.weights = LeaderWeights::cluster;
  std::vector<Index> leaders;
  std::vector<double> weights;
  for (const double label : {1.0, 2.0}) {
    const std::vector<Index> of_class = naive_leaders(data, label, squared_radius_of(0.3));
    std::vector<double> counts(of_class.size(), 0.0);
    for (Index i = 0; i < data.rows(); ++i) {
      if (data.labels().number(i) != label) continue;
      std::vector<double> distances;
      for (const Index leader : of_class) distances.push_back(squared_distance(data, i, leader));
      ++counts[usize(std::min_element(distances.begin(), distances.end()) - distances.begin())];
    }
    leaders.insert(leaders.end(), of_class.begin(), of_class.end());
    weights.insert(weights.end(), counts.begin(), counts.end());
  }
  ASSERT_LT(leaders.size(), 500U);
  TrainOptions exact = options;
  exact.method = "exact";
  exact.leader = {};
  const Model expected =
      train(Dataset(data.features().select(leaders), data.labels().select(leaders), weights), exact)
          .model;
  const Model found = train_stream(file.path(), {}, options).model;
  const auto wanted = decision_values(expected, data.features()).values;
  const auto got = decision_values(found, data.features()).values;
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-2);
}

TEST(Stream, AThresholdIsFoundOnASample) {
  const TemporaryFile file;
  const Dataset data = named(clouds(30'000, 2, 2, 2), std::vector<std::string>{"no", "yes"});
  write_dataset(file.path(), data);
  TrainOptions options = leader_options();
  options.leader.leaders = 1000;
  options.balanced = true;
  for (const Gamma::Rule rule : {Gamma::Rule::scale, Gamma::Rule::per_features}) {
    options.gamma = rule;
    const TrainResult result = train_stream(file.path(), {}, options);
    EXPECT_NEAR(result.report.details.at(0).second, 1000, 100);
    const TrainResult whole = train(data, options);
    EXPECT_GE(
        agreement(predict(result.model, data.features()), predict(whole.model, data.features())),
        0.9)
        << "other leaders, and a weight for each class";
  }
}

TEST(Stream, NoClassIsLeftWithoutLeaders) {
  const TemporaryFile file;
  const Dataset wide = named(clouds(4000, 3, 2, 5), {1.0, 2.0});
  std::vector<float> values;
  for (Index i = 0; i < wide.rows(); ++i) {
    const bool tight = wide.labels().number(i) == wide.labels().number(0);
    for (Index j = 0; j < 3; ++j) values.push_back((tight ? 0.01F : 1) * wide.features().at(i, j));
  }
  write_dataset(file.path(), Dataset(Matrix::dense(wide.rows(), 3, values), wide.labels()));
  const TrainResult result = train_stream(file.path(), {}, leader_options());
  const ReportTable& table = result.report.tables.back();
  ASSERT_EQ(table.name, "leaders");
  for (const std::vector<double>& of_class : table.rows)
    EXPECT_GT(of_class[1], 80) << "half the share of 200, or nearly";
}

TEST(Stream, RowsWithWeightsAreRefused) {
  const TemporaryFile file;
  write_dataset(file.path(), named(clouds(300, 3, 2, 4), {1.0, 2.0}, std::vector<double>(300, 2)),
                {.format = DataFormat::csv});
  ReadOptions read;
  read.format = DataFormat::csv;
  read.weight_column = "weight";
  EXPECT_NE(error_of<InvalidArgument>([&] {
              train_stream(file.path(), read, leader_options());
            }).find("rows cannot have weights"),
            std::string::npos);
}

TEST(Stream, BalancedMultipliesClassWeights) {
  const TemporaryFile file;
  write_dataset(file.path(), named(clouds(300, 3, 3, 4), std::vector<double>{1.0, 1.0, 2.0}));
  TrainOptions options = leader_options();
  options.leader.threshold = 0.2;
  options.balanced = true;
  options.class_weights = {{"1", 3.0}};
  const std::string both = saved_bytes(train_stream(file.path(), {}, options).model);
  options.balanced = false;
  options.class_weights = {{"1", 3.0 * (300.0 / (2 * 200))}, {"2", 300.0 / (2 * 100)}};
  EXPECT_TRUE(saved_bytes(train_stream(file.path(), {}, options).model) == both);
}

TEST(Stream, OptionsThatNeedAllRowsAreRefused) {
  const TemporaryFile file;
  write_dataset(file.path(), named(clouds(60, 2, 2, 3), {1.0, 2.0}));
  const auto refused = [&](const char* what, const auto& change) {
    TrainOptions options = leader_options();
    change(options);
    const std::string message =
        error_of<InvalidArgument>([&] { train_stream(file.path(), {}, options); });
    EXPECT_NE(message.find(what), std::string::npos) << message;
  };
  refused("leader", [](TrainOptions& o) { o.method = "exact"; });
  refused("regression", [](TrainOptions& o) { o.task = Task::regression; });
  refused("scale", [](TrainOptions& o) { o.scaling = ScalingMethod::minmax; });
  refused("precomputed", [](TrainOptions& o) { o.kernel = KernelType::precomputed; });
  refused("polished", [](TrainOptions& o) { o.polish = true; });
  refused("refine", [](TrainOptions& o) { o.leader.refine = 1; });
  refused("boundary", [](TrainOptions& o) { o.leader.boundary = LeaderBoundary::leaders; });
}

TEST(Stream, UnusableFilesAreErrors) {
  const TemporaryFile file;
  const auto message = [&](const std::string& text) {
    write_text(file.path(), text);
    return error_of<DataError>([&] { train_stream(file.path(), {}, leader_options()); });
  };
  EXPECT_NE(message("").find("no rows"), std::string::npos);
  EXPECT_NE(message("1 1:1\n1 1:2\n").find("label 1"), std::string::npos);
  EXPECT_NE(message("1:1\n1:2\n").find("no labels"), std::string::npos);
}

}  // namespace
}  // namespace tamis::testing
