// Linear problems for tests, and their objectives written down a second time.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "linear/solve.hpp"
#include "support/random_data.hpp"

namespace tamis::testing {

/// Owns what a linear::Problem points to.
struct LinearData {
  Matrix features;
  std::vector<double> target;
  std::vector<double> cost;

  linear::Problem problem() const {
    linear::Problem p;
    p.features = features;
    p.target = target;
    p.cost = cost;
    return p;
  }
};

inline LinearData linear_classes(Index rows, Index cols, double cost, std::uint64_t seed) {
  const Clouds data = clouds(rows, cols, 2, seed);
  LinearData result{data.features, {}, std::vector<double>(usize(rows), cost)};
  for (const int c : data.classes) result.target.push_back(c == 0 ? 1 : -1);
  return result;
}

/// Targets are a linear function of the rows plus 2, with noise.
inline LinearData linear_numbers(Index rows, Index cols, double cost, std::uint64_t seed) {
  LinearData result{random_matrix(rows, cols, seed), {}, std::vector<double>(usize(rows), cost)};
  Random random(seed, 3);
  for (Index i = 0; i < rows; ++i) {
    double value = 2 + 0.3 * random.normal();
    for (Index j = 0; j < cols; ++j)
      value += (j % 2 == 0 ? 1 : -0.5) * static_cast<double>(result.features.at(i, j));
    result.target.push_back(value);
  }
  return result;
}

inline const std::vector<Bias> kBiases{
    {}, {Bias::Rule::penalized, 1}, {Bias::Rule::penalized, 3}, {Bias::Rule::free, 1}};

/// Calls check(problem) for every kind of problem, on `rows` rows.
template <typename Check>
void for_each_machine(Index rows, const Check& check) {
  for (const Task task : {Task::classification, Task::regression}) {
    for (const double cost : {0.01, 1.0, 30.0}) {
      const LinearData data = task == Task::classification ? linear_classes(rows, 5, cost, 1)
                                                           : linear_numbers(rows, 5, cost, 2);
      for (const SlackLoss loss : {SlackLoss::l1, SlackLoss::l2}) {
        for (const Bias& bias : kBiases) {
          SCOPED_TRACE(std::string(task_name(task)) + " C " + std::to_string(cost) +
                       (loss == SlackLoss::l1 ? " l1" : " l2") + " bias " +
                       std::to_string(static_cast<int>(bias.rule)));
          linear::Problem p = data.problem();
          p.task = task;
          p.loss = loss;
          p.bias = bias;
          p.tube = task == Task::regression ? 0.2 : 0;
          check(p);
        }
      }
    }
  }
}

/// Small values become 0, for rows to be stored sparsely.
inline LinearData thinned(LinearData data) {
  std::vector<float> values(data.features.dense_values().begin(),
                            data.features.dense_values().end());
  for (float& v : values) v = std::abs(v) < 0.8F ? 0 : v;
  data.features = Matrix::dense(data.features.rows(), data.features.cols(), values);
  return data;
}

/// Keeps the points and puts their rows in another order: `where` names the row of each.
inline void shuffle_rows(linear::Problem* problem, std::vector<Index>* where) {
  std::vector<Index> order = iota_rows(problem->size());
  Random(5).shuffle(order);
  problem->features = problem->features.select(order);
  where->resize(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) (*where)[usize(order[k])] = static_cast<Index>(k);
  problem->rows = *where;
}

/// f of each point.
inline std::vector<double> linear_values(const linear::Problem& p, const std::vector<double>& w,
                                         double offset) {
  std::vector<double> values;
  for (Index i = 0; i < p.size(); ++i) {
    double f = offset;
    for (Index j = 0; j < p.features.cols(); ++j)
      f += w[usize(j)] * static_cast<double>(p.features.at(p.row(i), j));
    values.push_back(f);
  }
  return values;
}

inline double penalty(const linear::Problem& p, const std::vector<double>& w, double offset) {
  double sum = 0;
  for (const double v : w) sum += v * v / 2;
  if (p.bias.rule == Bias::Rule::penalized)
    sum += offset * offset / (2 * p.bias.value * p.bias.value);
  return sum;
}

inline double naive_primal(const linear::Problem& p, const std::vector<double>& w, double offset) {
  const std::vector<double> f = linear_values(p, w, offset);
  double sum = penalty(p, w, offset);
  for (std::size_t i = 0; i < f.size(); ++i) {
    const double miss =
        p.task == Task::regression ? std::abs(f[i] - p.target[i]) - p.tube : 1 - p.target[i] * f[i];
    const double slack = std::max(0.0, miss);
    sum += p.cost[i] * (p.loss == SlackLoss::l2 ? slack * slack : slack);
  }
  return sum;
}

/// The dual of the coefficients alone: w and the offset are made of them again. A free offset needs
/// coefficients that sum to 0.
inline double naive_dual(const linear::Problem& p, std::span<const double> beta) {
  std::vector<double> w(usize(p.features.cols()), 0.0);
  double sum = 0;
  double value = 0;
  for (Index i = 0; i < p.size(); ++i) {
    const double b = beta[usize(i)];
    for (Index j = 0; j < p.features.cols(); ++j)
      w[usize(j)] += b * static_cast<double>(p.features.at(p.row(i), j));
    sum += b;
    value -= p.target[usize(i)] * b;
    if (p.task == Task::regression) value += p.tube * std::abs(b);
    if (p.loss == SlackLoss::l2) value += b * b / (4 * p.cost[usize(i)]);
  }
  const double scale = p.bias.value * p.bias.value;
  return value + penalty(p, w, p.bias.rule == Bias::Rule::penalized ? scale * sum : 0);
}

/// Converged, every coefficient within its bounds, and nothing left to gain: by weak duality, that
/// is what lies between primal and dual objective.
inline void expect_optimal(const linear::Problem& p, const linear::Solution& s, double violation) {
  EXPECT_EQ(s.stop_reason, StopReason::converged);
  EXPECT_LE(s.violation, violation);
  const double primal = naive_primal(p, s.weights, s.offset);
  const double dual = naive_dual(p, s.beta);
  EXPECT_NEAR(primal, -dual, 1e-4 * (1 + std::abs(primal)));
  EXPECT_NEAR(s.objective, dual, 1e-6 * (1 + std::abs(dual)));
  EXPECT_NEAR(s.gap, primal + dual, 1e-4 * (1 + std::abs(primal)));
  for (std::size_t i = 0; i < s.beta.size(); ++i) {
    EXPECT_LE(std::abs(s.beta[i]), p.loss == SlackLoss::l1 ? p.cost[i] : 1e300);
    if (p.task == Task::classification) {
      EXPECT_GE(p.target[i] * s.beta[i], 0);
    }
  }
}

}  // namespace tamis::testing
