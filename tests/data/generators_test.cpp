#include "tamis/generate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "data/planar_bayes.hpp"
#include "data/portable_trig.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

Generated rows_of(std::string_view name, Index rows, std::uint64_t seed = 1, int threads = 2) {
  GenerateOptions options;
  options.rows = rows;
  options.seed = seed;
  RunControl control;
  control.threads = threads;
  return generate(name, options, control);
}

// Columns and values of a row.
std::vector<std::pair<Index, float>> values_of(const Dataset& data, Index row) {
  std::vector<std::pair<Index, float>> values;
  if (data.features().is_sparse()) {
    const SparseRow entries = data.features().sparse_row(row);
    for (std::size_t k = 0; k < entries.values.size(); ++k)
      values.emplace_back(entries.columns[k], entries.values[k]);
    return values;
  }
  for (const float value : data.features().dense_row(row))
    values.emplace_back(std::ssize(values), value);
  return values;
}

bool same_start(const Dataset& a, const Dataset& b, Index rows) {
  for (Index i = 0; i < rows; ++i) {
    if (values_of(a, i) != values_of(b, i)) return false;
    if (a.labels().number(i) != b.labels().number(i)) return false;
  }
  return true;
}

// FNV-1a over the bits of features and labels.
std::uint64_t checksum(const Dataset& data) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto mix = [&hash](std::uint64_t bits) { hash = (hash ^ bits) * 0x100000001b3ULL; };
  for (Index i = 0; i < data.rows(); ++i) {
    for (const float value : data.features().dense_row(i)) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      mix(bits);
    }
    std::uint64_t bits = 0;
    const double label = data.labels().number(i);
    std::memcpy(&bits, &label, sizeof bits);
    mix(bits);
  }
  return hash;
}

std::string message_of(std::string_view name, const GenerateOptions& options) {
  try {
    generate(name, options);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST(Generators, DoNotDependOnTheThreads) {
  for (const auto name : generator_names()) {
    const Generated one = rows_of(name, 40000, 7, 1);
    for (const int threads : {2, 5}) {
      const Generated more = rows_of(name, 40000, 7, threads);
      EXPECT_TRUE(same_start(one.data, more.data, 40000)) << name << " with " << threads;
    }
  }
}

TEST(Generators, FewerRowsAreAPrefixOfMore) {
  for (const auto name : generator_names()) {
    EXPECT_TRUE(same_start(rows_of(name, 101).data, rows_of(name, 1000).data, 101)) << name;
    EXPECT_FALSE(same_start(rows_of(name, 10).data, rows_of(name, 10, 2).data, 10)) << name;
  }
}

// These numbers may change only with an entry in the change log: results people published depend on
// them.
TEST(Generators, NeverChangeTheirRows) {
  const std::vector<std::pair<std::string_view, std::uint64_t>> golden = {
      {"checkerboard", 16077881677764797490U},  {"spirals", 14580642809393105073U},
      {"ten-gaussians", 16851684507158821719U}, {"ndcc", 12837302580353267134U},
      {"gaussians", 14498666876955166991U},
  };
  for (const auto& [name, expected] : golden)
    EXPECT_EQ(checksum(rows_of(name, 1000).data), expected) << name;
  GenerateOptions options;
  options.regression = true;
  EXPECT_EQ(checksum(generate("gaussians", options).data), 16651683867789339055U);
}

TEST(Generators, ClassesAreBalanced) {
  for (const auto name : generator_names()) {
    const Dataset data = rows_of(name, 100000).data;
    double positive = 0;
    for (Index i = 0; i < data.rows(); ++i) {
      EXPECT_EQ(std::abs(data.labels().number(i)), 1);
      positive += data.labels().number(i) > 0 ? 1e-5 : 0;
    }
    EXPECT_NEAR(positive, name == "ndcc" ? 0.61 : 0.5, 0.006) << name;
  }
}

TEST(Generators, CheckerboardFlipsAShareOfTheLabels) {
  const Generated generated = rows_of("checkerboard", 300000);
  Index wrong = 0;
  for (Index i = 0; i < generated.data.rows(); ++i) {
    const auto x = generated.data.features().dense_row(i);
    ASSERT_TRUE(x[0] >= 0 && x[0] < 1 && x[1] >= 0 && x[1] < 1);
    const int parity = (static_cast<int>(x[0] * 4) + static_cast<int>(x[1] * 4)) % 2;
    if ((parity == 0 ? 1 : -1) != generated.data.labels().number(i)) ++wrong;
  }
  EXPECT_EQ(generated.bayes_error, 0.03);
  EXPECT_NEAR(static_cast<double>(wrong) / 300000, 0.03, 0.0015);
}

TEST(Generators, HalfspacesAreSeparatedButForTheNoise) {
  for (const double noise : {0.0, 0.1}) {
    GenerateOptions options;
    options.rows = 100000;
    options.features = 4;
    options.noise = noise;
    const Generated generated = generate("halfspaces", options);
    Index wrong = 0;
    for (Index i = 0; i < options.rows; ++i) {
      double sum = 0;
      for (const float value : generated.data.features().dense_row(i)) sum += value;
      EXPECT_GE(std::abs(sum) / 2, 0.1 - 1e-5);  // sqrt(features) = 2
      if (sum * generated.data.labels().number(i) < 0) ++wrong;
    }
    EXPECT_NEAR(static_cast<double>(wrong) / 100000, noise, 0.004);
    EXPECT_EQ(generated.bayes_error, noise);
  }
}

// Rows of length 1 with about 60 of many columns, the frequent ones first; every row differs.
TEST(Generators, WordsAreLikeTexts) {
  const Dataset data = rows_of("words", 20000).data;
  ASSERT_TRUE(data.features().is_sparse());
  EXPECT_EQ(data.cols(), 47236);
  Index first_half = 0;
  double leaning = 0;  // of the columns of the first octave, with the label
  for (Index i = 0; i < data.rows(); ++i) {
    const SparseRow row = data.features().sparse_row(i);
    double squares = 0;
    for (const float value : row.values) squares += static_cast<double>(value) * value;
    EXPECT_NEAR(squares, 1, 1e-5);
    for (const std::int32_t column : row.columns) first_half += column < 256 ? 1 : 0;
    for (const std::int32_t column : row.columns)
      leaning += column == 0 ? data.labels().number(i) : 0;
  }
  const auto stored = static_cast<double>(data.features().num_stored());
  EXPECT_NEAR(stored / 20000, 65, 10);
  // Octaves are equally likely: 5 of 13 are below 256, less what is drawn twice.
  EXPECT_NEAR(static_cast<double>(first_half) / stored, 0.37, 0.05);
  EXPECT_NE(leaning, 0);
  EXPECT_NE(message_of("words", {.noise = 0.1}), "");
  EXPECT_NE(message_of("words", {.features = 10}), "");
}

TEST(Generators, GaussiansBayesErrorIsThatOfTheBestClassifier) {
  const Generated generated = rows_of("gaussians", 300000);
  Index wrong = 0;
  for (Index i = 0; i < generated.data.rows(); ++i) {
    double sum = 0;
    for (const float value : generated.data.features().dense_row(i)) sum += value;
    if (sum * generated.data.labels().number(i) < 0) ++wrong;
  }
  EXPECT_NEAR(generated.bayes_error, 0.1, 1e-9);
  EXPECT_NEAR(static_cast<double>(wrong) / 300000, 0.1, 0.0025);
}

double likelihood(const std::vector<PlanarGaussian>& mixture, std::span<const float> x) {
  double sum = 0;
  for (const PlanarGaussian& g : mixture) {
    const double square = (x[0] - g.x) * (x[0] - g.x) + (x[1] - g.y) * (x[1] - g.y);
    sum += std::exp(-square / (2 * g.sigma * g.sigma)) / (g.sigma * g.sigma);
  }
  return sum;
}

double error_of_bayes_classifier(const Dataset& data, const std::vector<PlanarGaussian>& p,
                                 const std::vector<PlanarGaussian>& q) {
  Index wrong = 0;
  for (Index i = 0; i < data.rows(); ++i) {
    const auto x = data.features().dense_row(i);
    const double side = likelihood(p, x) - likelihood(q, x);
    if (side * data.labels().number(i) < 0) ++wrong;
  }
  return static_cast<double>(wrong) / static_cast<double>(data.rows());
}

// The table is repeated here on purpose: the test must not ask the code what it should be.
TEST(Generators, TenGaussiansBayesErrorIsThatOfTheBestClassifier) {
  const std::vector<PlanarGaussian> p = {
      {-3.0, 2.2, .7}, {-1.2, -2.6, .65}, {.3, .2, .6}, {2.2, 3.0, .7}, {3.4, -1.2, .74}};
  const std::vector<PlanarGaussian> q = {
      {-2.9, -.6, .65}, {-.6, 2.6, .7}, {1.2, -2.2, .65}, {2.4, .9, .6}, {-4.6, 3.9, .74}};
  const Generated generated = rows_of("ten-gaussians", 400000);
  EXPECT_NEAR(generated.bayes_error, 0.078, 0.001);  // the paper: 92.15 to 92.25 % right
  EXPECT_NEAR(error_of_bayes_classifier(generated.data, p, q), generated.bayes_error, 0.0017);
}

TEST(Generators, SpiralsBayesErrorIsThatOfTheBestClassifier) {
  std::vector<PlanarGaussian> p;
  std::vector<PlanarGaussian> q;
  for (int k = 0; k < 1000; ++k) {
    const double t = std::sqrt((k + 0.5) / 1000);
    const double angle = 6 * 3.14159265358979 * t;
    p.push_back({0.9 * t * std::cos(angle), 0.9 * t * std::sin(angle), 0.035});
    q.push_back({-p.back().x, -p.back().y, 0.035});
  }
  const Generated generated = rows_of("spirals", 20000);
  EXPECT_NEAR(error_of_bayes_classifier(generated.data, p, q), generated.bayes_error, 0.005);
}

// Two unit Gaussians a distance of 2 apart: Phi(-1).
TEST(PlanarBayes, KnowsTheClosedForm) {
  for (const double scale : {0.01, 1.0, 30.0}) {
    const double error = planar_bayes_error({{0, 0, scale}}, {{1.2 * scale, 1.6 * scale, scale}});
    EXPECT_NEAR(error, 0.15865525393, 2e-5);
  }
}

TEST(PortableTrig, AgreesWithThePlatform) {
  for (int k = -5000; k <= 5000; ++k) {
    const double turns = k * 0.00137;
    EXPECT_NEAR(sin_turns(turns), std::sin(turns * 6.283185307179586), 2e-14);
    EXPECT_NEAR(cos_turns(turns), std::cos(turns * 6.283185307179586), 2e-14);
  }
}

TEST(Generators, RegressionHasTheNoiseItSays) {
  GenerateOptions options;
  options.rows = 50000;
  options.features = 3;
  options.regression = true;
  options.noise = 0.25;
  const Generated generated = generate("gaussians", options);
  EXPECT_LT(generated.bayes_error, 0);
  double squares = 0;
  for (Index i = 0; i < options.rows; ++i) {
    const auto x = generated.data.features().dense_row(i);
    const double smooth =
        std::sin(2 * (x[0] + x[1] + x[2]) / std::sqrt(3.0)) + 0.5 * double{x[0]} * x[2];
    const double rest = generated.data.labels().number(i) - smooth;
    squares += rest * rest;
  }
  EXPECT_NEAR(std::sqrt(squares / 50000), 0.25, 0.004);
}

TEST(Generators, RefuseWhatTheyCannotDo) {
  GenerateOptions options;
  EXPECT_EQ(message_of("chekerboard", options),
            "no generator is called 'chekerboard' (did you mean checkerboard?); there are "
            "checkerboard, spirals, ten-gaussians, ndcc, gaussians, halfspaces, words");
  options.rows = 0;
  EXPECT_EQ(message_of("spirals", options), "rows is 0: give 1 or more");
  options = {.features = 3};
  EXPECT_EQ(message_of("spirals", options), "features is 3, but spirals always has 2");
  EXPECT_NE(message_of("ndcc", {.features = 101}), "");
  EXPECT_NE(message_of("ndcc", {.features = 1}), "");
  EXPECT_NE(message_of("gaussians", {.features = -1}), "");
  EXPECT_EQ(message_of("checkerboard", {.noise = 0.6}), "noise is 0.6: give 0 to 0.5");
  EXPECT_NE(message_of("checkerboard", {.noise = std::nan("")}), "");
  EXPECT_NE(message_of("ndcc", {.noise = 0.1}), "");
  EXPECT_NE(message_of("ndcc", {.regression = true}), "");
}

TEST(Generators, KeepToTheMemoryBudgetAndStopWhenAsked) {
  GenerateOptions options;
  options.rows = Index{1} << 50;
  EXPECT_THROW(generate("spirals", options), ResourceError);
  options.rows = Index{1} << 62;
  EXPECT_THROW(generate("spirals", options), ResourceError);
  options.rows = 100000;
  const std::atomic<bool> stop = true;
  RunControl control;
  control.cancel = &stop;
  EXPECT_THROW(generate("spirals", options, control), Cancelled);
}

}  // namespace
}  // namespace tamis
