// Training on tables with missing values and text, next to training on columns made by hand.
#include "selection/mapped_training.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/random_data.hpp"
#include "tamis/calibrate.hpp"
#include "tamis/certify.hpp"
#include "tamis/compare.hpp"
#include "tamis/error.hpp"
#include "tamis/evaluate.hpp"
#include "tamis/io.hpp"
#include "tamis/predict.hpp"
#include "tamis/tune.hpp"

namespace tamis::testing {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The class depends on a color, on a size that is often missing, and on its being missing.
// `by_hand` are the columns that the map should make: blue, red, size, size missing.
struct Drawn {
  Dataset table;
  Matrix by_hand;
};

Drawn draw(Index rows, std::uint64_t seed, float median) {
  Random random(seed);
  std::vector<float> values;
  std::vector<float> outputs;
  std::vector<double> labels;
  for (Index i = 0; i < rows; ++i) {
    const bool is_red = random.uniform() < 0.5;
    const bool is_missing = random.uniform() < 0.3;
    const auto size = static_cast<float>(random.normal());
    values.insert(values.end(), {is_red ? 2.0F : 1.0F, is_missing ? kNan : size});
    outputs.insert(outputs.end(), {is_red ? 0.0F : 1.0F, is_red ? 1.0F : 0.0F,
                                   is_missing ? median : size, is_missing ? 1.0F : 0.0F});
    const bool is_positive = is_missing ? is_red : (size > 0) != is_red;
    labels.push_back(is_positive ? 1 : -1);
  }
  return {Dataset(Matrix::dense(rows, 2, std::move(values)), Labels::numeric(std::move(labels)), {},
                  {"color", "size"})
              .with_categories({{"blue", "red"}, {}}),
          Matrix::dense(rows, 4, std::move(outputs))};
}

TrainOptions table_options() {
  TrainOptions options;
  options.method = "exact";
  options.cost = 4;
  options.missing = MissingValues::impute;
  options.text_columns = TextColumns::one_hot;
  return options;
}

TEST(MappedTraining, IsTrainingOnColumnsMadeByHand) {
  const TrainOptions options = table_options();
  for (const ScalingMethod scaling : {ScalingMethod::none, ScalingMethod::quantile}) {
    TrainOptions own = options;
    own.scaling = scaling;
    const Drawn unknown = draw(300, 1, 0);
    const auto [model, report] = train(unknown.table, own);
    const float median = model.columns().fills[1];
    const Drawn rows = draw(300, 1, median);
    const Drawn test = draw(200, 2, median);
    TrainOptions plain = own;
    plain.missing = MissingValues::refuse;
    plain.text_columns = TextColumns::refuse;
    const Dataset by_hand(rows.by_hand, rows.table.labels());
    const Model twin = train(by_hand, plain).model;
    const Dataset test_by_hand(test.by_hand, test.table.labels());
    EXPECT_EQ(decision_values(model, rows_for(model, test.table).features()).values,
              decision_values(twin, test.by_hand).values);
    EXPECT_LT(evaluate(model, test.table).error_rate, 0.1);
    EXPECT_EQ(evaluate(model, test.table).error_rate, evaluate(twin, test_by_hand).error_rate);
    EXPECT_TRUE(certify(model, rows.table, own).certified);
    EXPECT_EQ(model.num_features(), 2);
    EXPECT_EQ(report.features, 2);
    EXPECT_EQ(
        report.remarks.at(0),
        "columns: 2 columns, 1 text column as 2 one-hot columns, 1 column with missing values "
        "imputed; trained on 4 columns");
    // The file holds all of it.
    const Model again = model_from_bytes(model_to_bytes(model));
    EXPECT_EQ(again.columns(), model.columns());
    EXPECT_TRUE(predict(again, test.table) == predict(model, test.table));
  }
}

TEST(MappedTraining, OtherEntriesMapToo) {
  const Drawn rows = draw(300, 3, 0);
  const Drawn test = draw(200, 4, 0);
  TrainOptions options = table_options();
  const Model calibrated = train_calibrated(rows.table, options, 3).model;
  EXPECT_TRUE(calibrated.has_probabilities());
  EXPECT_LT(evaluate(calibrated, test.table).error_rate, 0.1);
  const Model again = calibrate(train(rows.table, options).model, test.table);
  EXPECT_LT(evaluate(again, test.table).error_rate, 0.1);

  TuneOptions search;
  search.base = options;
  search.axes = {{"cost", {0.1, 10}}};
  EXPECT_LT(tune(rows.table, search).points[1].error, 0.15);
  EXPECT_EQ(default_axes(rows.table, options).size(), 2U);

  CompareOptions plan;
  plan.methods = {{"exact", options}};
  plan.regions = true;
  const Comparison comparison = compare(rows.table, test.table, plan);
  EXPECT_EQ(comparison.rows[0].failure, "");
  EXPECT_LT(comparison.rows[0].error.mean, 0.1);

  options.method = "auto";
  options.cost.reset();
  options.max_seconds = 3;
  EXPECT_LT(evaluate(train(rows.table, options).model, test.table).error_rate, 0.15);
}

TEST(MappedTraining, RefusesWhatNobodyAskedFor) {
  const Drawn rows = draw(50, 5, 0);
  TrainOptions options = table_options();
  options.text_columns = TextColumns::refuse;
  EXPECT_THROW(train(rows.table, options), DataError);
  options = table_options();
  options.missing = MissingValues::refuse;
  EXPECT_THROW(train(rows.table, options), DataError);
  const Dataset numbers(rows.table.features(), rows.table.labels());
  EXPECT_THROW(train(numbers, TrainOptions()), DataError);
  options = table_options();
  options.kernel = KernelType::precomputed;
  EXPECT_THROW(options.validate(), InvalidArgument);
  options = TrainOptions();
  options.max_categories = 5;
  EXPECT_THROW(options.validate(), InvalidArgument);
}

TEST(MappedTraining, NamesAreKeptAndFound) {
  const Clouds drawn = clouds(120, 3, 2, 6);
  const Labels labels = named(drawn, {1, 2}).labels();
  const Dataset rows(drawn.features, labels, {}, {"x", "y", "z"});
  const Model model = train(rows).model;
  EXPECT_TRUE(model.columns().is_identity());
  std::vector<float> turned;
  for (Index i = 0; i < 120; ++i) {
    for (const Index j : {2, 0, 1}) turned.push_back(drawn.features.at(i, j));
  }
  const Dataset other(Matrix::dense(120, 3, turned), labels, {}, {"z", "x", "y"});
  EXPECT_TRUE(predict(model, other) == predict(model, rows));
  EXPECT_EQ(evaluate(model, other).error_rate, evaluate(model, rows).error_rate);
  EXPECT_THROW(predict(model, Dataset(drawn.features, labels, {}, {"x", "y", "w"})), DataError);
}

TEST(MappedTraining, RowsWithoutWeightAreNotLearnedFrom) {
  const Drawn drawn = draw(100, 7, 0);
  std::vector<double> weights(100, 1.0);
  for (std::size_t i = 50; i < 100; ++i) weights[i] = 0;
  const Dataset weighted =
      Dataset(drawn.table.features(), drawn.table.labels(), weights, {"color", "size"})
          .with_categories({{"blue", "red"}, {}});
  EXPECT_EQ(train(weighted, table_options()).model.columns(),
            train(drawn.table.select(iota_rows(50)), table_options()).model.columns());
}

}  // namespace
}  // namespace tamis::testing
