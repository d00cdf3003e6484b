// A model of every kind that works with neighbours, small enough to damage each of its bytes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/local_models.hpp"
#include "model/model_parts.hpp"
#include "support/random_data.hpp"
#include "tamis/train.hpp"

namespace tamis::testing {

struct LocalCase {
  std::string name;
  Model model;
};

inline TrainOptions local_case_options(const std::string& method, Index k) {
  TrainOptions options;
  options.method = method;
  options.gamma = {Gamma::Rule::value, 0.5};
  options.cost = 2;
  options.scaling = ScalingMethod::standard;
  options.local.k = k;
  options.local.k_grid = {static_cast<double>(k)};
  options.local.cost_grid = {1, 4};
  options.local.percentiles = {10, 50};
  options.local.selection_centres = 2;
  options.local.selection_folds = 2;
  return options;
}

/// No method makes this kind yet, but the format allows it: anchors and widths of their own.
inline Model with_gammas(const Model& model) {
  LocalParts parts = dynamic_cast<const LocalModels&>(machine_of(model)).parts();
  std::vector<double> gammas;
  for (Index m = 0; m < parts.only_class.size(); ++m)
    gammas.push_back(0.25 + 0.5 * static_cast<double>(m));
  parts.gammas = std::move(gammas);
  return make_model(model.task(), model.classes(), model.scaling(),
                    std::make_shared<const LocalModels>(std::move(parts)), model.method());
}

/// Of `rows` rows with 3 columns and neighbourhoods of k of them.
inline std::vector<LocalCase> local_cases(Index rows, Index k, bool sparse) {
  const auto stored = [&](const Dataset& data) {
    return sparse ? Dataset(data.features().to_sparse(), data.labels()) : data;
  };
  const Dataset two = stored(named(clouds(rows, 3, 2, 1), std::vector<double>{1, -1}));
  const Dataset three =
      stored(named(clouds(rows, 3, 3, 2), std::vector<std::string>{"a", "b", "c"}));
  const Dataset curve = stored(wave(rows, 3, 3));
  std::vector<LocalCase> cases;
  for (const std::string method : {"falk", "falk-c", "falk-l", "knn-svm", "knn"}) {
    TrainOptions options = local_case_options(method, k);
    cases.push_back({method + " of two classes", train(two, options).model});
    cases.push_back({method + " of three classes", train(three, options).model});
    if (method == "falk-l") continue;  // chooses by the error rate
    options.task = Task::regression;
    cases.push_back({method + " regression", train(curve, options).model});
  }
  const Model centres = train(two, local_case_options("falk-c", k)).model;
  cases.push_back({"centres with widths", with_gammas(centres)});
  return cases;
}

}  // namespace tamis::testing
