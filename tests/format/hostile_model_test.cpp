// Model files made to do harm: each is well-formed, small, and asks for far more than it holds.
// None may take memory out of proportion to its size, run for ever, or read what is not there.
#include <gtest/gtest.h>

#include <numeric>

#include "base/clock.hpp"
#include "base/memory.hpp"
#include "format/edited_header.hpp"
#include "model/expansion_fixtures.hpp"
#include "model/kernel_expansion.hpp"
#include "model/knn_machines.hpp"
#include "model/local_models.hpp"
#include "model/model_parts.hpp"
#include "model/weighted_ensemble.hpp"
#include "neighbors/neighbor_index.hpp"
#include "support/patience.hpp"
#include "svm/train_local.hpp"
#include "tamis/error.hpp"
#include "tamis/io.hpp"
#include "tamis/predict.hpp"

namespace tamis {
namespace {

using testing::edited;
using testing::kPatience;

constexpr std::int64_t kMuch = std::int64_t{64} << 20;
// Sanitizers keep what was freed for a while.
constexpr auto kMuchMeasured = static_cast<std::int64_t>(kPatience * kMuch);

Labels numbered(Index count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 1.0);
  return Labels::numeric(std::move(values));
}

Model classifier(Index classes, std::shared_ptr<const Machine> machine) {
  return make_model(Task::classification, numbered(classes), {}, std::move(machine), "test");
}

// One local machine, a constant.
LocalParts constant_parts(Index classes, Matrix rows) {
  LocalParts parts;
  parts.num_classes = classes;
  parts.rows = std::move(rows);
  parts.machine_of_anchor =
      std::vector<std::int32_t>(static_cast<std::size_t>(parts.rows.rows()), 0);
  parts.only_class = std::vector<std::int32_t>{0};
  parts.pair_begin = std::vector<Index>{0, 0};
  parts.pair_classes = std::vector<std::int32_t>{};
  parts.offsets = std::vector<double>{};
  parts.term_begin = std::vector<Index>{0};
  parts.term_rows = std::vector<Index>{};
  parts.coefficients = std::vector<double>{};
  return parts;
}

LazyParts lazy_parts(Index classes, Matrix rows) {
  const auto count = static_cast<std::size_t>(rows.rows());
  LazyParts parts;
  parts.num_classes = classes;
  parts.rows = std::move(rows);
  parts.codes = std::vector<std::int32_t>(count, 0);
  parts.cost = std::vector<double>(count, 1.0);
  return parts;
}

// What loading and predicting took, in bytes, beyond what the process had.
template <typename Work>
std::int64_t memory_of(const Work& work) {
  const std::int64_t before = peak_memory_bytes();
  work();
  return peak_memory_bytes() - before;
}

void predict_saved(const Model& model) {
  const Model loaded = model_from_bytes(model_to_bytes(model));
  EXPECT_EQ(predict(loaded, Matrix::dense(2, 1, {0, 1})).number(1), 1);
}

TEST(HostileModel, ProbabilitiesOfOneClassAreRefused) {
  ExpansionParts parts;
  parts.support_vectors = Matrix::dense(1, 1, {1});
  parts.decision = Decision::one_vs_one;
  parts.class_counts = {1};
  const Model model = classifier(1, std::make_shared<const KernelExpansion>(std::move(parts)));
  const std::string bytes = edited(model_to_bytes(model), [](nlohmann::json& header) {
    header["__metadata__"]["calibration"] = "sigmoid";
    header["calibration_sigmoids"] = {
        {"dtype", "F64"}, {"shape", {0, 2}}, {"data_offsets", {0, 0}}};
  });
  try {
    model_from_bytes(bytes);
    ADD_FAILURE() << "it was read";
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "a calibration of 0 binary SVMs for 1 class (one-vs-one)");
  }
}

// Pairs of classes number the square of the classes, which a file of local machines only names.
TEST(HostileModel, ManyClassesTakeNoMemoryForTheirPairs) {
  constexpr Index kClasses = 8000;
  const Matrix row = Matrix::dense(1, 1, {1});
  EXPECT_LT(memory_of([&] {
              predict_saved(classifier(
                  kClasses, std::make_shared<const LocalModels>(constant_parts(kClasses, row))));
            }),
            kMuchMeasured);
  EXPECT_LT(memory_of([&] {
              predict_saved(classifier(
                  kClasses, std::make_shared<const KnnSvmMachine>(
                                lazy_parts(kClasses, row), LazySettings(), train_for_query)));
            }),
            kMuchMeasured);
}

TEST(HostileModel, ClassesTimesRowsTakeNoMemory) {
  constexpr Index kClasses = 20000;
  const Model model = classifier(
      kClasses, std::make_shared<const KnnMachine>(lazy_parts(kClasses, Matrix::dense(1, 1, {1}))));
  EXPECT_LT(memory_of([&] { predict(model, Matrix::dense(2000, 1, std::vector<float>(2000))); }),
            kMuchMeasured);
}

TEST(HostileModel, TablesOfDecisionValuesKeepToTheBudget) {
  constexpr Index kClasses = 8000;
  const Model model = classifier(kClasses, std::make_shared<const LocalModels>(
                                               constant_parts(kClasses, Matrix::dense(1, 1, {1}))));
  RunControl control;
  control.memory_bytes = resident_memory_bytes() + kMuch;
  EXPECT_THROW(decision_values(model, Matrix::dense(1, 1, {0}), control), ResourceError);
}

// Names of pairs hold those of both classes: long names times many classes.
TEST(HostileModel, LongNamesTakeNoMemoryForTheirPairs) {
  constexpr Index kClasses = 300;
  std::vector<std::string> names;
  for (Index c = 0; c < kClasses; ++c) names.push_back(std::string(10000, 'x') + std::to_string(c));
  Random random(1);
  const auto machine = std::make_shared<const KernelExpansion>(
      random_parts({}, random_rows(kClasses, 1, random), Decision::one_vs_one, kClasses, random));
  const Model model = make_model(Task::classification, Labels::text(names), {}, machine, "test");
  EXPECT_LT(memory_of([&] {
              predict(model_from_bytes(model_to_bytes(model)), Matrix::dense(1, 1, {0}));
            }),
            kMuchMeasured);
}

// Every anchor is a copy of its row.
TEST(HostileModel, AnAnchorIsARowOfItsOwn) {
  LocalParts parts = constant_parts(2, Matrix::dense(1, 1000, std::vector<float>(1000)));
  parts.anchors = std::vector<Index>(1000, 0);
  parts.machine_of_anchor = std::vector<std::int32_t>(1000, 0);
  EXPECT_THROW(LocalModels{std::move(parts)}, DataError);
}

TEST(HostileModel, APairIsGivenOnce) {
  LocalParts parts = constant_parts(3, Matrix::dense(1, 1, {1}));
  parts.only_class = std::vector<std::int32_t>{-1};
  parts.pair_begin = std::vector<Index>{0, 2};
  parts.pair_classes = std::vector<std::int32_t>{0, 1, 0, 1};
  parts.offsets = std::vector<double>{1, -1};
  parts.term_begin = std::vector<Index>{0, 0, 0};
  EXPECT_THROW(LocalModels{std::move(parts)}, DataError);
}

// Machines times support vectors, where each machine uses one of them.
TEST(HostileModel, ManyMachinesOfFewTermsLoadAtOnce) {
  constexpr Index kCount = 150000;
  EnsembleParts parts;
  parts.decision = Decision::one_vs_rest;
  parts.support_vectors = Matrix::dense(kCount, 1, std::vector<float>(kCount, 1.0F));
  parts.offsets.assign(kCount, 0);
  parts.weights.assign(kCount, 1);
  parts.gammas.assign(kCount, 1);
  parts.member_offsets.assign(kCount, 0);
  parts.coefficients.assign(kCount, 1);
  parts.term_vectors.resize(kCount);
  std::iota(parts.term_vectors.begin(), parts.term_vectors.end(), Index{0});
  parts.member_begin.resize(kCount + 1);
  std::iota(parts.member_begin.begin(), parts.member_begin.end(), Index{0});
  parts.term_begin = parts.member_begin;
  const Stopwatch watch;
  const WeightedEnsemble machine(std::move(parts));
  EXPECT_LT(watch.seconds(), 2 * kPatience);
  EXPECT_EQ(machine.evaluations_per_row(), kCount);
}

// Sparse rows are multiplied with room for every column, which a file only counts.
TEST(HostileModel, ColumnsThatNeverOccurKeepToTheBudget) {
  constexpr std::int32_t kColumns = 4'000'000;
  const Matrix rows = Matrix::sparse(kColumns, {0, 1, 2}, {0, kColumns - 1}, {1, 1});
  RunControl control;
  control.memory_bytes = resident_memory_bytes() + kMuch;
  const auto predict_with = [&](const std::shared_ptr<const Machine>& machine) {
    predict(classifier(2, machine), rows, control);
  };
  EXPECT_THROW(predict_with(std::make_shared<const KnnMachine>(lazy_parts(2, rows))),
               ResourceError);
  EXPECT_THROW(predict_with(std::make_shared<const LocalModels>(constant_parts(2, rows))),
               ResourceError);
}

// Distances that overflow: a cell as large as its parent would be divided for ever.
TEST(HostileModel, DistancesThatOverflowEndTheCoverTree) {
  constexpr Index kRows = 2000;
  std::vector<float> values(kRows);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = (i % 2 == 0 ? 1.0F : -1.0F) * (1.8e19F - 1e15F * static_cast<float>(i));
  const Metric metric{Kernel{.type = KernelType::polynomial, .gamma = 1, .coef0 = 0, .degree = 1}};
  const auto index = make_neighbor_index(Matrix::dense(kRows, 1, std::move(values)), metric,
                                         Structure::cover_tree);
  EXPECT_EQ(index->nearest(Matrix::dense(1, 1, {1}), 3).per_query, 3);
}

}  // namespace
}  // namespace tamis
