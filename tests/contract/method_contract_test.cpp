// What every method must do with its data, whatever it is inside.
#include <cmath>
#include <limits>

#include "base/clock.hpp"
#include "contract/fixtures.hpp"
#include "support/patience.hpp"
#include "tamis/evaluate.hpp"
#include "tamis/expansion.hpp"

namespace tamis::testing {
namespace {

TEST_P(MethodContract, ThreadsDoNotChangeTheModel) {
  // The last is larger than what is solved on a stored matrix.
  const std::vector<Dataset> sets{named(clouds(300, 6, 2, 1), {-1.0, 1.0}),
                                  named(clouds(300, 6, 4, 2), {1.0, 2.0, 3.0, 4.0}),
                                  named(clouds(2600, 8, 2, 3), {-1.0, 1.0})};
  for (const Dataset& data : sets) {
    std::string first;
    for (const int threads : {1, 2, 5}) {
      RunControl control;
      control.threads = threads;
      const std::string bytes = saved_bytes(train(data, options(), control).model);
      if (first.empty()) first = bytes;
      EXPECT_TRUE(bytes == first) << data.rows() << " rows, " << threads << " threads";
    }
  }
}

TEST_P(MethodContract, TheSameSeedGivesTheSameModel) {
  const Dataset data = named(clouds(300, 4, 3, 4), {1.0, 2.0, 3.0});
  EXPECT_TRUE(saved_bytes(train(data, options()).model) ==
              saved_bytes(train(data, options()).model));
}

TEST_P(MethodContract, AWeightIsSoManyCopies) {
  const Clouds data = clouds(120, 3, 2, 5);
  std::vector<double> weights;
  std::vector<Index> copies;
  for (Index i = 0; i < 120; ++i) {
    weights.push_back(static_cast<double>(i % 4));  // some weigh nothing
    for (Index c = 0; c < i % 4; ++c) copies.push_back(i);
  }
  const Dataset weighted = named(data, {-1.0, 1.0}, weights);
  const Dataset copied = named(data, std::vector<double>{-1.0, 1.0}).select(copies);
  for (const SlackLoss loss : {SlackLoss::l1, SlackLoss::l2}) {
    TrainOptions o = options();
    o.eps = 1e-4;
    o.loss = loss;
    const TrainResult a = train(weighted, o);
    const TrainResult b = train(copied, o);
    EXPECT_GE(agreement(predict(a.model, data.features), predict(b.model, data.features)),
              promises().copies_are_weights ? 1.0 : 0.85);
    if (is_optimum()) {
      EXPECT_LT(largest_difference(decision_values(a.model, data.features),
                                   decision_values(b.model, data.features)),
                1e-2);
      EXPECT_NEAR(a.report.objective, b.report.objective, 1e-4 * std::abs(b.report.objective));
    }
  }
}

TEST_P(MethodContract, AClassWeightIsARowWeight) {
  const Clouds data = clouds(120, 3, 2, 6);
  std::vector<double> weights;
  for (const int c : data.classes) weights.push_back(c == 0 ? 3 : 1);
  TrainOptions o = options();
  o.eps = 1e-4;
  const Model rows = train(named(data, {1.0, 2.0}, weights), o).model;
  o.class_weights = {{"1", 3.0}};
  const Model classes = train(named(data, std::vector<double>{1.0, 2.0}), o).model;
  EXPECT_GE(agreement(predict(rows, data.features), predict(classes, data.features)), 0.9);
  if (is_optimum()) {
    EXPECT_LT(largest_difference(decision_values(rows, data.features),
                                 decision_values(classes, data.features)),
              1e-2);
  }
}

TEST_P(MethodContract, SupportRowsAreTheRowsOfTheSupportVectors) {
  const Clouds data = clouds(150, 3, 3, 8);
  std::vector<double> weights;
  for (Index i = 0; i < 150; ++i) weights.push_back(i % 5 == 0 ? 0 : 1);
  TrainOptions o = options();
  for (const Multiclass multiclass : {Multiclass::one_vs_one, Multiclass::one_vs_rest}) {
    o.multiclass = multiclass;
    const TrainResult result = train(named(data, {1.0, 2.0, 3.0}, weights), o);
    const ExpansionParts* parts = expansion_parts(result.model);
    ASSERT_TRUE(parts != nullptr || !is_optimum() || is_linear());
    if (parts == nullptr) continue;
    ASSERT_EQ(static_cast<Index>(result.report.support_rows.size()), parts->support_vectors.rows());
    for (Index s = 0; s < parts->support_vectors.rows(); ++s) {
      for (Index j = 0; j < 3; ++j) {
        EXPECT_EQ(parts->support_vectors.at(s, j),
                  data.features.at(result.report.support_rows[usize(s)], j));
      }
    }
  }
}

TEST_P(MethodContract, ChosenRowsAreThoseOfTheModel) {
  const Clouds data = clouds(2000, 3, 2, 8);
  std::vector<double> weights(2000, 1.0);
  for (std::size_t i = 0; i < 2000; i += 5) weights[i] = 0;
  const TrainResult result = train(named(data, {1.0, 2.0}, weights), options());
  const std::vector<Index>& chosen = result.report.chosen_rows;
  const std::vector<Index>& support = result.report.support_rows;
  const auto info = std::find_if(methods().begin(), methods().end(),
                                 [](const MethodInfo& one) { return one.name == GetParam(); });
  const bool chooses = info->kind == MethodKind::part_of_rows;
  ASSERT_EQ(!chosen.empty(), chooses);
  if (!chooses) return;
  EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
  EXPECT_EQ(std::adjacent_find(chosen.begin(), chosen.end()), chosen.end());
  for (const Index row : chosen) {
    ASSERT_LT(row, 2000);
    EXPECT_NE(weights[usize(row)], 0) << "row " << row;
  }
  for (const Index row : support)
    EXPECT_TRUE(std::binary_search(chosen.begin(), chosen.end(), row)) << "row " << row;
  for (const auto& [name, value] : result.report.details) {
    if (name == "rows_used") {
      EXPECT_EQ(value, static_cast<double>(chosen.size()));
    }
  }
}

TEST_P(MethodContract, ChosenRowsAreThoseThatATimeLimitLeft) {
  const Clouds data = clouds(3000, 3, 2, 8);
  TrainOptions limited = options();
  limited.max_seconds = 1e-9;
  const TrainReport report = train(named(data, {1.0, 2.0}), limited).report;
  const bool is_on_sample = std::any_of(
      report.warnings.begin(), report.warnings.end(),
      [](const std::string& one) { return one.starts_with("the time limit ended before"); });
  if (is_on_sample) {
    EXPECT_FALSE(report.chosen_rows.empty());
    EXPECT_TRUE(std::is_sorted(report.chosen_rows.begin(), report.chosen_rows.end()));
  }
  if (report.chosen_rows.empty()) return;
  for (const Index row : report.support_rows)
    EXPECT_TRUE(std::binary_search(report.chosen_rows.begin(), report.chosen_rows.end(), row));
}

TEST_P(MethodContract, NamesOfClassesDoNotMatter) {
  const Clouds data = clouds(150, 3, 2, 7);
  const Model plain = train(named(data, std::vector<double>{-1.0, 1.0}), options()).model;
  const DecisionValues expected = decision_values(plain, data.features);
  const auto check = [&](const Dataset& renamed, bool same_order) {
    const Model model = train(renamed, options()).model;
    const DecisionValues values = decision_values(model, data.features);
    const Labels labels = predict(model, data.features);
    for (Index i = 0; i < 150; ++i) {
      if (same_order) {
        ASSERT_EQ(values.at(i, 0), expected.at(i, 0));
      }
      const bool first = predict(plain, data.features.select(std::vector<Index>{i})).number(0) < 0;
      if (std::abs(expected.at(i, 0)) < 0.01 || !is_optimum()) continue;
      EXPECT_EQ(labels.name(i) == renamed.labels().name(0), first) << "row " << i;
    }
  };
  check(named(data, std::vector<double>{0.0, 1.0}), true);
  check(named(data, std::vector<double>{-7.5, 1e9}), true);
  check(named(data, std::vector<std::string>{"cat", "dog"}), true);
  check(named(data, std::vector<double>{5.0, 2.0}), false);
  check(named(data, std::vector<std::string>{"yes", "no"}), false);
}

TEST_P(MethodContract, OneClassIsAnError) {
  const Matrix features = random_matrix(20, 2, 8);
  const std::string message = error_of<DataError>(
      [&] { train(Dataset(features, Labels::numeric(std::vector<double>(20, 7.0))), options()); });
  EXPECT_NE(message.find('7'), std::string::npos) << message;
  EXPECT_NE(message.find("class"), std::string::npos) << message;
  // Also when the other class has no weight.
  std::vector<double> labels(20, 7.0);
  std::vector<double> weights(20, 1.0);
  labels[3] = 1;
  weights[3] = 0;
  error_of<DataError>(
      [&] { train(Dataset(features, Labels::numeric(labels), weights), options()); });
}

TEST_P(MethodContract, UnusableDataIsAnError) {
  const Matrix features = random_matrix(20, 2, 9);
  const Labels labels = named(clouds(20, 2, 2, 9), {-1.0, 1.0}).labels();
  const std::string weightless = error_of<DataError>(
      [&] { train(Dataset(features, labels, std::vector<double>(20, 0.0)), options()); });
  EXPECT_NE(weightless.find("weight"), std::string::npos) << weightless;
  const std::string unlabelled = error_of<DataError>([&] { train(Dataset(features), options()); });
  EXPECT_NE(unlabelled.find("label"), std::string::npos) << unlabelled;
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> values(features.dense_values().begin(), features.dense_values().end());
    values[7] = bad;  // row 4, column 2
    const std::string message = error_of<DataError>(
        [&] { train(Dataset(Matrix::dense(20, 2, values), labels), options()); });
    EXPECT_NE(message.find('4'), std::string::npos) << message;
    EXPECT_NE(message.find('2'), std::string::npos) << message;
  }
  error_of<DataError>([&] { train(Dataset(), options()); });
}

TEST_P(MethodContract, ContradictingDuplicatesTrain) {
  const Clouds data = clouds(60, 2, 2, 10);
  std::vector<Index> rows;
  std::vector<double> labels;
  for (Index i = 0; i < 60; ++i) {
    for (const double label : {1.0, -1.0}) {
      rows.push_back(i);
      labels.push_back(label);
    }
  }
  // The epochs of coordinate descent grow with the cost.
  for (const double cost : {1.0, is_linear() ? 1e2 : 1e5}) {
    TrainOptions o = options();
    o.cost = cost;
    TrainResult result;
    const bool is_refused = is_refused_as_inseparable(
        [&] { result = train(Dataset(data.features.select(rows), Labels::numeric(labels)), o); });
    EXPECT_EQ(is_refused, needs_separable());
    if (is_refused) continue;
    EXPECT_EQ(result.report.stop_reason, StopReason::converged);
    expect_finite(decision_values(result.model, data.features));
  }
}

TEST_P(MethodContract, TheOrderOfRowsMattersAsPromised) {
  const Clouds data = clouds(200, 3, 3, 11);
  const Dataset given = named(data, {1.0, 2.0, 3.0});
  std::vector<Index> order = iota_rows(200);
  Random(11).shuffle(order);
  TrainOptions o = options();
  o.eps = 1e-4;
  // falk-l may find other settings best on other folds, and says which; this is about the rows.
  o.local.cost_grid = {4};
  o.local.percentiles = {50};
  const Model a = train(given, o).model;
  const Model b = train(given.select(order), o).model;
  const double difference =
      largest_difference(decision_values(a, data.features), decision_values(b, data.features));
  EXPECT_GE(agreement(predict(a, data.features), predict(b, data.features)),
            promises().ignores_row_order ? 1.0
            : is_optimum()               ? 0.99
                                         : 0.85);
  if (is_optimum()) {
    EXPECT_LT(difference, 1e-2);
  }
  // The same numbers, added up in another order.
  if (promises().ignores_row_order) {
    EXPECT_LT(difference, 1e-5);
  }
}

TEST_P(MethodContract, TinyAndDegenerateDataTrain) {
  const auto check = [&](const Matrix& features, const std::vector<double>& labels) {
    for (const KernelType kernel :
         {KernelType::linear, KernelType::polynomial, KernelType::rbf, KernelType::laplacian}) {
      for (const Gamma::Rule rule : {Gamma::Rule::scale, Gamma::Rule::per_features}) {
        TrainOptions o = options();
        o.kernel = kernel;
        o.gamma = {rule, 0};
        TrainResult result;
        if (is_refused_as_inseparable(
                [&] { result = train(Dataset(features, Labels::numeric(labels)), o); }))
          continue;
        expect_finite(decision_values(result.model, features));
        EXPECT_EQ(predict(result.model, features).size(), features.rows());
      }
    }
  };
  check(Matrix::dense(2, 1, {0, 1}), {-1, 1});
  check(Matrix::dense(2, 1, {1, 1}), {-1, 1});
  check(Matrix::dense(3, 1, {0, 1, 2}), {1, 2, 3});
  check(Matrix::dense(6, 2, std::vector<float>(12, 4.0F)), {-1, 1, 1, -1, 1, 1});
  check(Matrix::dense(6, 2, std::vector<float>(12, 0.0F)), {-1, 1, 1, -1, 1, 1});
  check(Matrix::dense(6, 2, std::vector<float>(12, 0.0F)).to_sparse(), {-1, 1, 1, -1, 1, 1});
  std::vector<double> alternating;
  for (int i = 0; i < 40; ++i) alternating.push_back(i % 2);
  check(random_matrix(40, 1, 12), alternating);
}

TEST_P(MethodContract, SavedAndLoadedItPredictsTheSame) {
  for (const int classes : {2, 4}) {
    const Clouds data = clouds(160, 4, classes, 13);
    TrainOptions o = options();
    o.scaling = ScalingMethod::standard;
    const Model model = train(named(data, std::vector<std::string>{"a", "b", "c", "d"}), o).model;
    const TemporaryFile file;
    save_model(model, file.path());
    const Model loaded = load_model(file.path());
    EXPECT_TRUE(predict(model, data.features) == predict(loaded, data.features));
    EXPECT_EQ(decision_values(model, data.features).values,
              decision_values(loaded, data.features).values);
    EXPECT_EQ(loaded.method(), GetParam());
  }
}

TEST_P(MethodContract, LabelsFollowFromTheDecisionValues) {
  const Matrix rows = clouds(500, 3, 5, 17).features;
  for (const int classes : {2, 5}) {
    for (const Multiclass multiclass : {Multiclass::one_vs_one, Multiclass::one_vs_rest}) {
      std::vector<double> names;
      for (int c = 0; c < classes; ++c) names.push_back(c + 1);
      TrainOptions o = options();
      o.multiclass = multiclass;
      const Model model = train(named(clouds(200, 3, classes, 16), names), o).model;
      const DecisionValues values = decision_values(model, rows);
      EXPECT_EQ(predict_codes(model, values), predict_codes(model, rows));
      EXPECT_EQ(predict(model, values), predict(model, rows));
    }
  }
}

TEST_P(MethodContract, LearnsSeveralClasses) {
  for (const int classes : {3, 4, 5}) {
    for (const Multiclass way : {Multiclass::one_vs_one, Multiclass::one_vs_rest}) {
      const Clouds data = clouds(300, 4, classes, 14, 6);
      const Dataset given = named(data, std::vector<std::string>{"one", "two", "three", "4", "5"});
      TrainOptions o = options();
      o.multiclass = way;
      const TrainResult result = train(given, o);
      EXPECT_GT(evaluate(result.model, given).accuracy, 0.95);
      EXPECT_EQ(result.report.classes, classes);
      EXPECT_EQ(result.model.classes().size(), classes);
    }
  }
}

TEST_P(MethodContract, LearnsNumbersOrSaysThatItCannot) {
  const Dataset data = is_linear() ? line(200, 15) : wave(200, 1, 15);
  TrainOptions o = options();
  o.task = Task::regression;
  o.gamma = 1.0;
  o.cost = 10;
  if (needs_separable()) o.tube = 1;  // all rows must fit into it
  try {
    const TrainResult result = train(data, o);
    EXPECT_GT(evaluate(result.model, data).r2, 0.9);
    EXPECT_EQ(result.report.classes, 0);
    error_of<DataError>([&] {
      train(named(clouds(20, 2, 2, 1), std::vector<std::string>{"a", "b"}), o);
    });
    std::vector<double> targets(200, 1.0);
    targets[4] = std::numeric_limits<double>::infinity();
    const std::string message =
        error_of<DataError>([&] { train(Dataset(data.features(), Labels::numeric(targets)), o); });
    EXPECT_NE(message.find('5'), std::string::npos) << message;
    // Targets that are all the same are not an error for a regression.
    const TrainResult flat =
        train(Dataset(data.features(), Labels::numeric(std::vector<double>(200, 3.0))), o);
    EXPECT_NEAR(predict(flat.model, data.features()).number(7), 3, o.tube_or_default() + 1e-3);
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("regression"), std::string::npos) << error.what();
  }
}

TEST_P(MethodContract, SparseAndDenseRowsGiveTheSameMachine) {
  const Clouds data = clouds(200, 10, 2, 16);
  std::vector<float> values(data.features.dense_values().begin(),
                            data.features.dense_values().end());
  for (float& v : values) v = std::abs(v) < 0.8F ? 0.0F : v;
  const Matrix dense = Matrix::dense(200, 10, values);
  const Labels labels = named(data, std::vector<double>{-1.0, 1.0}).labels();
  for (const KernelType kernel :
       {KernelType::linear, KernelType::polynomial, KernelType::rbf, KernelType::laplacian}) {
    TrainOptions o = options();
    o.kernel = kernel;
    o.gamma = {Gamma::Rule::scale, 0};
    o.eps = 1e-4;
    const Model a = train(Dataset(dense, labels), o).model;
    const Model b = train(Dataset(dense.to_sparse(), labels), o).model;
    EXPECT_GE(agreement(predict(a, dense), predict(b, dense)), is_optimum() ? 0.99 : 0.85);
    EXPECT_LT(largest_difference(decision_values(a, dense), decision_values(a, dense.to_sparse())),
              1e-3);
    if (is_optimum()) {
      EXPECT_LT(largest_difference(decision_values(a, dense), decision_values(b, dense)), 2e-2);
    }
  }
}

// Values near the end of float: an error that says so, or finite answers; never a hang.
TEST_P(MethodContract, HugeValuesAreRefusedOrSurvived) {
  for (const float size : {1e15F, 1e30F, std::numeric_limits<float>::max()}) {
    for (const KernelType kernel : {KernelType::linear, KernelType::polynomial, KernelType::rbf,
                                    KernelType::sigmoid, KernelType::laplacian}) {
      for (const ScalingMethod scaling :
           {ScalingMethod::none, ScalingMethod::minmax, ScalingMethod::standard,
            ScalingMethod::maxabs, ScalingMethod::robust, ScalingMethod::quantile}) {
        SCOPED_TRACE(std::string(kernel_name(kernel)) + " values " + std::to_string(size) +
                     " scaling " + std::string(scaling_name(scaling)));
        Random random(17);
        std::vector<float> values;
        std::vector<double> labels;
        for (int i = 0; i < 60; ++i) {
          values.push_back(size * static_cast<float>(random.uniform(-1, 1)));
          values.push_back(i % 3 == 0 ? size : -size);
          labels.push_back(values[usize(2 * i)] > 0);
        }
        const Matrix features = Matrix::dense(60, 2, values);
        TrainOptions o = options();
        o.kernel = kernel;
        o.gamma = {Gamma::Rule::scale, 0};
        o.scaling = scaling;
        o.max_seconds = 5;
        const Stopwatch watch;
        try {
          const TrainResult result = train(Dataset(features, Labels::numeric(labels)), o);
          expect_finite(decision_values(result.model, features));
          EXPECT_TRUE(std::isfinite(result.report.objective));
        } catch (const DataError& error) {
          EXPECT_FALSE(std::string(error.what()).empty());
        }
        EXPECT_LT(watch.seconds(), 4 * kPatience);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, MethodContract, ::testing::ValuesIn(all_methods()),
                         method_test_name);

}  // namespace
}  // namespace tamis::testing
