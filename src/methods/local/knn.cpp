#include "methods/local/knn.hpp"

#include <algorithm>

#include "data/copy_rows.hpp"
#include "methods/local/falk.hpp"
#include "model/knn_machines.hpp"
#include "svm/train_local.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr Index kDefaultVoters = 15;

LazyParts make_parts(const TrainingSet& data, Index k, const RunControl& control) {
  if (data.kernel.type == KernelType::precomputed)
    throw InvalidArgument("neighbor search needs features: a precomputed kernel has none");
  LazyParts parts;
  parts.kernel = data.kernel;
  parts.k = std::min(k, data.rows());
  parts.num_classes = data.num_classes;
  parts.rows = unmapped_rows(data.features, control);
  parts.codes = on_heap(data.codes);
  parts.targets = on_heap(data.targets);
  parts.cost = on_heap(data.cost);
  return parts;
}

// There is nothing to stop but the copying of the rows.
MethodResult finish(std::shared_ptr<const Machine> machine, Index k, const TrainContext& context) {
  MethodResult result;
  result.machine = std::move(machine);
  result.report.machines = 0;
  result.report.stop_reason = context.must_stop();
  result.report.details.emplace_back("k", static_cast<double>(k));
  return result;
}

}  // namespace

MethodResult train_knn(const TrainingSet& data, const TrainContext& context) {
  LazyParts parts =
      make_parts(data, context.options.local.k.value_or(kDefaultVoters), context.control);
  std::vector<double> weights = on_heap(data.cost);
  for (double& weight : weights) weight /= context.options.cost_or_default();
  parts.cost = std::move(weights);
  auto machine = std::make_shared<const KnnMachine>(std::move(parts));
  return finish(machine, machine->parts().k, context);
}

MethodResult train_knn_svm(const TrainingSet& data, const TrainContext& context) {
  const TrainOptions& options = context.options;
  LazySettings settings;
  settings.loss = options.loss;
  settings.tube = options.tube_or_default();
  settings.eps = options.eps;
  settings.seed = options.seed;
  const Index k = options.local.k.value_or(kDefaultNeighbors);
  // Predicting has no time limit, so a hopeless neighbourhood must end by itself.
  settings.max_iterations = options.max_iterations > 0 ? options.max_iterations : 1000 * k;
  auto machine = std::make_shared<const KnnSvmMachine>(make_parts(data, k, context.control),
                                                       settings, train_for_query);
  return finish(machine, machine->parts().k, context);
}

Method knn_svm_method() {
  return {
      .info = {.name = "knn-svm",
               .summary =
                   "an SVM on the k nearest training rows of each query, trained when predicting",
               .kind = MethodKind::local,
               .needs_features = true,
               .options = {"k"},
               .unused = {"cache"}},
      .train = train_knn_svm,
      .promises = {.ignores_row_order = true},
      .tuning = {.on_neighborhoods = true},
      .growth = {1, 1.5}};
}

Method knn_method() {
  return {.info = {.name = "knn",
                   .summary = "majority vote (regression: mean) of the k nearest training rows",
                   .kind = MethodKind::local,
                   .needs_features = true,
                   .options = {"k"},
                   .unused = {"cost", "loss", "tube", "eps", "max-iterations", "seed", "cache",
                              "metric-rounds", "metric"}},
          .train = train_knn,
          .promises = {.ignores_row_order = true, .copies_are_weights = true},
          .tuning = {.cost = false, .gamma = false, .k = {1, 3, 5, 9, 15, 25, 45}},
          .growth = {1, 1.5}};
}

}  // namespace tamis
