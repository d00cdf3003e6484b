#include "selection/parameters.hpp"

#include <algorithm>

#include "training/method_table.hpp"

namespace tamis {

bool keeps_cost(const TrainOptions& options) {
  return options.automatic.keep_cost || options.cost != TrainOptions().cost;
}

bool keeps_gamma(const TrainOptions& options) {
  return options.automatic.keep_gamma || options.gamma.rule != Gamma::Rule::scale ||
         options.kernel == KernelType::linear || options.kernel == KernelType::precomputed;
}

bool keeps_scaling(const TrainOptions& options) {
  return options.automatic.keep_scaling || options.scaling != ScalingMethod::none ||
         options.kernel == KernelType::precomputed;
}

bool keeps_tube(const TrainOptions& options) {
  return options.automatic.keep_tube || options.tube != TrainOptions().tube;
}

bool uses_kernel(const TrainOptions& options) { return find_method(options.method).uses_kernel; }

bool has_gamma(const TrainOptions& options) {
  return uses_kernel(options) && options.kernel != KernelType::linear &&
         options.kernel != KernelType::precomputed;
}

double cost_of(const TrainOptions& options) { return options.cost; }

double tube_of(const TrainOptions& options) { return options.tube; }

ScalingMethod scaling_of(const TrainOptions& options) { return options.scaling; }

bool gamma_is_number(const TrainOptions& options) {
  return options.gamma.rule == Gamma::Rule::value;
}

double gamma_of(const TrainOptions& options) { return options.gamma.value; }

double gamma_or(const TrainOptions& options, double fallback) {
  return gamma_is_number(options) ? gamma_of(options) : fallback;
}

TrainOptions with_tube(TrainOptions options, double tube) {
  options.tube = tube;
  return options;
}

TrainOptions with_scaling(TrainOptions options, ScalingMethod scaling) {
  options.scaling = scaling;
  return options;
}

TrainOptions with_default_cost(TrainOptions options) {
  options.cost = TrainOptions().cost;
  return options;
}

TrainOptions moved(TrainOptions options, const Move& move) {
  options.cost *= move.cost;
  options.gamma.value *= move.gamma;
  return options;
}

bool at_same_place(const TrainOptions& a, const TrainOptions& b) {
  return a.cost == b.cost && a.gamma.value == b.gamma.value;
}

void raise_to(const TrainOptions& other, TrainOptions* options) {
  options->cost = std::max(options->cost, other.cost);
  if (!gamma_is_number(other)) return;
  if (!gamma_is_number(*options) || gamma_of(other) > gamma_of(*options))
    options->gamma = other.gamma;
}

}  // namespace tamis
