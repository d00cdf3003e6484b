// Trials without training: their error is a function of the parameters.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "selection/candidates.hpp"
#include "selection/trials.hpp"

namespace tamis::testing {

using ErrorOf = std::function<double(const TrainOptions&)>;

inline TrainOptions at(double cost, double gamma) {
  TrainOptions options;
  options.cost = cost;
  options.gamma = {Gamma::Rule::value, gamma};
  return options;
}

/// Every trial takes a millisecond per thousand rows; `tried` gets the parameters of each.
inline TrialSeries fake_series(ErrorOf error, Index most_rows,
                               std::vector<TrainOptions>* tried = nullptr) {
  const auto run = [error = std::move(error), tried](const TrainOptions& options, Index rows,
                                                     double) -> std::optional<Trial> {
    if (tried != nullptr) tried->push_back(options);
    return Trial{rows, 1e-6 * static_cast<double>(rows), error(options)};
  };
  return {run, most_rows, 10000};
}

inline std::vector<Index> trial_rows(const Candidate& candidate) {
  std::vector<Index> rows;
  for (const Trial& trial : candidate.trials) rows.push_back(trial.rows);
  return rows;
}

}  // namespace tamis::testing
