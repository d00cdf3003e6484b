// The linear machine beside LIBLINEAR at the same settings: losses, costs, bias and tasks.
#include <gtest/gtest.h>
#include <linear.h>

#include <string>

#include "base/parallel.hpp"
#include "support/linear_problems.hpp"

namespace tamis::testing {
namespace {

constexpr double kTube = 0.2;

struct Setting {
  Task task;
  SlackLoss loss;
  double cost;
  bool bias;
};

void PrintTo(const Setting& s, std::ostream* out) {
  *out << task_name(s.task) << (s.loss == SlackLoss::l1 ? " l1" : " l2") << " C " << s.cost
       << (s.bias ? " bias" : "");
}

std::vector<Setting> all_settings() {
  std::vector<Setting> settings;
  for (const Task task : {Task::classification, Task::regression}) {
    for (const SlackLoss loss : {SlackLoss::l1, SlackLoss::l2}) {
      for (const double cost : {1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3}) {
        for (const bool bias : {false, true}) settings.push_back({task, loss, cost, bias});
      }
    }
  }
  return settings;
}

int solver_of(const Setting& s) {
  if (s.task == Task::regression)
    return s.loss == SlackLoss::l1 ? L2R_L1LOSS_SVR_DUAL : L2R_L2LOSS_SVR_DUAL;
  return s.loss == SlackLoss::l1 ? L2R_L1LOSS_SVC_DUAL : L2R_L2LOSS_SVC_DUAL;
}

struct Weights {
  std::vector<double> w;
  double offset = 0;
  bool converged = true;  ///< within the 1000 epochs that LIBLINEAR allows itself
};

std::string& printed() {
  static std::string text;
  return text;
}

Weights train_liblinear(const linear::Problem& p, const Setting& setting) {
  set_print_string_function([](const char* text) { printed() += text; });
  printed().clear();
  const bool bias = setting.bias;
  std::vector<std::vector<feature_node>> nodes(usize(p.size()));
  std::vector<feature_node*> rows;
  std::vector<double> target(p.target.begin(), p.target.end());
  const int cols = static_cast<int>(p.features.cols());
  for (Index i = 0; i < p.size(); ++i) {
    auto& row = nodes[usize(i)];
    for (int j = 0; j < cols; ++j) row.push_back({j + 1, static_cast<double>(p.features.at(i, j))});
    if (bias) row.push_back({cols + 1, 1.0});
    row.push_back({-1, 0});
    rows.push_back(row.data());
  }
  problem given{};
  given.l = static_cast<int>(p.size());
  given.n = cols + (bias ? 1 : 0);
  given.y = target.data();
  given.x = rows.data();
  given.bias = bias ? 1 : -1;
  parameter wanted{};
  wanted.solver_type = solver_of(setting);
  wanted.eps = 1e-7;
  wanted.C = setting.cost;
  wanted.p = kTube;
  model* trained = ::train(&given, &wanted);
  // Its own first label is the positive one.
  const double sign = setting.task == Task::classification && trained->label[0] < 0 ? -1 : 1;
  Weights result;
  result.converged = printed().find("WARNING") == std::string::npos;
  for (int j = 0; j < cols; ++j) result.w.push_back(sign * trained->w[j]);
  if (bias) result.offset = sign * trained->w[cols];
  free_and_destroy_model(&trained);
  return result;
}

class AgainstLiblinear : public ::testing::TestWithParam<Setting> {};

TEST_P(AgainstLiblinear, TheSameObjective) {
  const Setting setting = GetParam();
  // Few rows need fewer epochs.
  const Index rows = setting.cost <= 1 ? 400 : 24;
  const LinearData data = setting.task == Task::classification
                              ? linear_classes(rows, 4, setting.cost, 11)
                              : linear_numbers(rows, 4, setting.cost, 12);
  linear::Problem p = data.problem();
  p.task = setting.task;
  p.loss = setting.loss;
  p.tube = setting.task == Task::regression ? kTube : 0;
  if (setting.bias) p.bias = {Bias::Rule::penalized, 1};
  RunControl control;
  qp::StopCheck stop({1e-6, 0, 0}, control);
  const linear::Solution ours = linear::solve(p, stop, 1);
  EXPECT_EQ(ours.stop_reason, StopReason::converged);
  const Weights theirs = train_liblinear(p, setting);
  const double our_primal = naive_primal(p, ours.weights, ours.offset);
  const double their_primal = naive_primal(p, theirs.w, theirs.offset);
  EXPECT_LE(our_primal, their_primal * (1 + 1e-4));
  EXPECT_NEAR(-ours.objective, our_primal, 1e-4 * our_primal) << "primal and dual meet";
  if (theirs.converged || setting.cost <= 0.1) {
    EXPECT_NEAR(our_primal, their_primal, 1e-4 * their_primal);
  }
}

INSTANTIATE_TEST_SUITE_P(Settings, AgainstLiblinear, ::testing::ValuesIn(all_settings()));

}  // namespace
}  // namespace tamis::testing
