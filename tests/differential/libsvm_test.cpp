// The exact machine beside LIBSVM at the same settings, over kernels, costs, scalings and tasks.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/kernel_expansion.hpp"
#include "model/model_parts.hpp"
#include "support/libsvm_oracle.hpp"
#include "tamis/predict.hpp"
#include "tamis/train.hpp"

namespace tamis::testing {
namespace {

enum class Kind { binary, four_classes, regression };

struct Setting {
  std::string name;
  Kernel kernel;
  double cost;
  bool scaled;
  Kind kind;
};

void PrintTo(const Setting& setting, std::ostream* out) { *out << setting.name; }

std::vector<Setting> all_settings() {
  const std::vector<std::pair<std::string, Kernel>> kernels{
      {"linear", {.type = KernelType::linear}},
      {"homogeneous", {.type = KernelType::polynomial, .gamma = 0.2, .coef0 = 0, .degree = 2}},
      {"inhomogeneous", {.type = KernelType::polynomial, .gamma = 0.2, .coef0 = 1, .degree = 3}},
      {"rbf", {.type = KernelType::rbf, .gamma = 0.2}},
      {"sigmoid", {.type = KernelType::sigmoid, .gamma = 0.05, .coef0 = -0.1}}};
  const std::vector<std::pair<std::string, double>> costs{
      {"1em3", 1e-3}, {"1", 1}, {"1e3", 1e3}, {"1e6", 1e6}};
  std::vector<Setting> settings;
  for (const auto& [kernel_name, kernel] : kernels) {
    for (const auto& [cost_name, cost] : costs) {
      for (const bool scaled : {true, false}) {
        for (const Kind kind : {Kind::binary, Kind::four_classes, Kind::regression}) {
          const char* kind_name = kind == Kind::binary         ? "_binary"
                                  : kind == Kind::four_classes ? "_four"
                                                               : "_tube";
          settings.push_back(
              {kernel_name + "_C" + cost_name + (scaled ? "_scaled" : "_unscaled") + kind_name,
               kernel, cost, scaled, kind});
        }
      }
    }
  }
  return settings;
}

// Unscaled: columns with ranges from tenths to tens, off centre.
Matrix stretched(const Matrix& data) {
  std::vector<float> values(data.dense_values().begin(), data.dense_values().end());
  const float factors[] = {8, 0.05F, 1, 3};
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = (values[i] + 1) * factors[i % usize(data.cols()) % 4];
  return Matrix::dense(data.rows(), data.cols(), std::move(values));
}

struct Data {
  Matrix features;
  std::vector<double> labels;
};

// LIBSVM gives up after 10^7 iterations, which takes seconds a machine; problems that may need so
// many are small, and compared one-sidedly, with two classes only.
bool is_hard(const Setting& setting) {
  if (setting.kernel.type == KernelType::rbf || setting.kernel.type == KernelType::sigmoid)
    return false;
  return setting.cost >= 1e6 ||
         (!setting.scaled &&
          (setting.cost >= 1e3 || setting.kernel.type == KernelType::polynomial));
}

Data make_data(const Setting& setting) {
  const Index rows = is_hard(setting) ? 30 : 160;
  Data data;
  if (setting.kind == Kind::regression) {
    const Dataset curve = wave(rows, 4, 21, 0.2);
    data.features = curve.features();
    for (Index i = 0; i < curve.rows(); ++i) data.labels.push_back(curve.labels().number(i));
  } else {
    const bool binary = setting.kind == Kind::binary;
    const Clouds many = clouds(rows, 4, binary ? 2 : 4, 22, 2);
    data.features = many.features;
    // LIBSVM's first label is the positive one, as is the larger of two here.
    for (const int c : many.classes) data.labels.push_back(binary ? 1 - 2 * c : c + 1);
  }
  if (!setting.scaled) data.features = stretched(data.features);
  return data;
}

class AgainstLibsvm : public ::testing::TestWithParam<Setting> {};

double agreement(const std::vector<double>& a, const std::vector<double>& b, bool regression) {
  double spread = 0;
  for (const double v : b) spread = std::max(spread, std::abs(v));
  double same = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    same += regression ? std::abs(a[i] - b[i]) <= 0.02 * (1 + spread) : a[i] == b[i];
  return same / static_cast<double>(a.size());
}

// The dual objective of the machines as they are in the model, in double: the report's own number
// is made of float32 kernel values.
double objective_in_double(const Model& model, const Kernel& kernel, const Data& data,
                           double tube) {
  const auto& machine = dynamic_cast<const KernelExpansion&>(machine_of(model));
  const Matrix& vectors = machine.support_vectors();
  const Gram k = gram(kernel, vectors);
  std::vector<double> target(usize(vectors.rows()), 0.0);  // regression
  for (Index s = 0; s < vectors.rows(); ++s) {
    for (Index i = 0; i < data.features.rows(); ++i) {
      if (std::ranges::equal(vectors.dense_row(s), data.features.dense_row(i)))
        target[usize(s)] = data.labels[usize(i)];
    }
  }
  double sum = 0;
  for (Index m = 0; m < machine.num_machines(); ++m) {
    std::vector<double> b(usize(vectors.rows()), 0.0);
    for (const Segment& segment : machine.segments(m)) {
      for (Index s = segment.sv_begin; s < segment.sv_end; ++s) {
        b[usize(s)] =
            machine.parts().coefficients[usize(segment.coefficient_begin + s - segment.sv_begin)];
      }
    }
    const std::vector<double> f = k.times(b);
    for (std::size_t s = 0; s < b.size(); ++s) {
      const bool regression = model.task() == Task::regression;
      sum += b[s] * f[s] / 2 -
             (regression ? target[s] * b[s] - tube * std::abs(b[s]) : std::abs(b[s]));
    }
  }
  return sum;
}

TEST_P(AgainstLibsvm, SameObjectiveAndPredictions) {
  const Setting& setting = GetParam();
  const bool regression = setting.kind == Kind::regression;
  const Data data = make_data(setting);

  TrainOptions options;
  options.task = regression ? Task::regression : Task::classification;
  options.kernel = setting.kernel.type;
  options.gamma = {Gamma::Rule::value, setting.kernel.gamma};
  options.coef0 = setting.kernel.coef0;
  options.degree = setting.kernel.degree;
  options.cost = setting.cost;
  if (is_hard(setting))
    options.max_iterations = setting.kind == Kind::binary ? 20'000'000 : 1'000'000;
  const auto [model, report] = train(Dataset(data.features, Labels::numeric(data.labels)), options);

  const bool hard = is_hard(setting);
  const Gram k = gram(setting.kernel, data.features);
  const double objective =
      objective_in_double(model, setting.kernel, data, options.tube_or_default());
  std::vector<double> ours;
  const Labels labels = predict(model, data.features);
  for (Index i = 0; i < labels.size(); ++i) ours.push_back(labels.number(i));

  if (report.stop_reason == StopReason::converged) {
    EXPECT_LE(report.violation, options.eps);
    if (setting.kernel.type != KernelType::sigmoid) {  // only convex problems have no gap
      // Each row misses by at most the tolerance, at its cost.
      const double rows = static_cast<double>(data.labels.size() * usize(report.machines));
      EXPECT_LE(report.gap, options.eps * setting.cost * rows + 1e-4 * std::abs(report.objective));
    }
  } else {
    EXPECT_TRUE(hard) << "stopped by " << stop_reason_name(report.stop_reason) << " with violation "
                      << report.violation;
  }
  if (!hard) {
    EXPECT_NEAR(report.objective, objective, 1e-4 * std::abs(objective) + 1e-9) << "as reported";
  }
  RecordProperty("stop", std::string(stop_reason_name(report.stop_reason)));
  if (hard) {
    EXPECT_TRUE(std::isfinite(report.objective));
    EXPECT_LE(report.objective, 0);
    if (setting.kind != Kind::binary) return;
    const LibsvmOracle oracle(
        data.features, data.labels,
        {setting.kernel, regression, setting.cost, 0.1, options.tube_or_default()});
    EXPECT_LE(objective, oracle.objective(k) + 1e-4 * std::abs(oracle.objective(k)))
        << "stopped by " << stop_reason_name(report.stop_reason) << ", violation "
        << report.violation;
    return;
  }

  const LibsvmOracle oracle(
      data.features, data.labels,
      {setting.kernel, regression, setting.cost, 1e-3, options.tube_or_default()});
  const double theirs = oracle.objective(k);
  if (setting.kernel.type == KernelType::sigmoid) {
    // Not convex: unscaled (tanh is nearly a step) or with a huge C there are many optima, and
    // nobody's is the right one.
    if (setting.scaled && setting.cost < 1e6) {
      EXPECT_GE(agreement(ours, oracle.predictions(data.features), regression), 0.9);
    }
    return;
  }
  EXPECT_NEAR(objective, theirs, 1e-4 * std::abs(theirs) + 1e-9)
      << "at a thousandth of the tolerance LIBSVM finds "
      << LibsvmOracle(data.features, data.labels,
                      {setting.kernel, regression, setting.cost, 1e-6, options.tube_or_default()})
             .objective(k)
      << ", reported " << report.objective;
  EXPECT_GE(agreement(ours, oracle.predictions(data.features), regression), 0.99);
}

INSTANTIATE_TEST_SUITE_P(Grid, AgainstLibsvm, ::testing::ValuesIn(all_settings()),
                         [](const auto& tested) { return tested.param.name; });

// The machine itself, not only its answers: coefficients and offset of a problem with one optimum.
TEST(Libsvm, SameMachine) {
  const Clouds data = clouds(200, 3, 2, 5);
  std::vector<double> labels;
  for (const int c : data.classes) labels.push_back(1 - 2 * c);
  const Kernel kernel{.gamma = 0.5};
  const LibsvmOracle oracle(data.features, labels, {.kernel = kernel, .cost = 2, .eps = 1e-7});
  TrainOptions options;
  options.gamma = {Gamma::Rule::value, 0.5};
  options.cost = 2;
  options.eps = 1e-6;
  const auto [model, report] = train(Dataset(data.features, Labels::numeric(labels)), options);
  const auto& machine = dynamic_cast<const KernelExpansion&>(machine_of(model));
  EXPECT_EQ(machine.num_support_vectors(), oracle.num_support_vectors());
  EXPECT_NEAR(machine.parts().offsets[0], -oracle.rho(), 1e-4);
  std::vector<double> theirs;
  for (const double b : oracle.beta()) {
    if (b != 0) theirs.push_back(b);
  }
  ASSERT_EQ(machine.parts().coefficients.size(), theirs.size());
  for (std::size_t s = 0; s < theirs.size(); ++s)
    EXPECT_NEAR(machine.parts().coefficients[s], theirs[s], 1e-3);
}

}  // namespace
}  // namespace tamis::testing
