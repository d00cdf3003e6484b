#include "selection/parameters.hpp"

#include <algorithm>

#include "training/registry.hpp"

namespace tamis {

std::vector<KernelType> kernels_to_try(const TrainOptions& asked) {
  if (asked.kernel) return {*asked.kernel};
  // A number for gamma is meant for the kernel that other methods have by default.
  if (keeps_gamma(asked)) return {asked.kernel_or_default()};
  return {KernelType::rbf, KernelType::laplacian};
}

bool keeps_cost(const TrainOptions& options) { return options.cost.has_value(); }

bool keeps_gamma(const TrainOptions& options) {
  return options.gamma.has_value() || options.kernel_or_default() == KernelType::linear ||
         options.kernel_or_default() == KernelType::precomputed;
}

bool keeps_scaling(const TrainOptions& options) {
  return options.scaling.has_value() || options.kernel_or_default() == KernelType::precomputed;
}

bool keeps_tube(const TrainOptions& options) { return options.tube.has_value(); }

bool uses_kernel(const TrainOptions& options) {
  return find_method(options.method).info.uses_kernel;
}

bool has_gamma(const TrainOptions& options) {
  return uses_kernel(options) && options.kernel_or_default() != KernelType::linear &&
         options.kernel_or_default() != KernelType::precomputed;
}

bool uses_cost(const TrainOptions& options) {
  return !options.opt_margin.nu && options.opt_margin.margin_k.rule == MarginK::Rule::automatic;
}

double cost_of(const TrainOptions& options) { return options.cost_or_default(); }

double tube_of(const TrainOptions& options) { return options.tube_or_default(); }

ScalingMethod scaling_of(const TrainOptions& options) { return options.scaling_or_default(); }

bool gamma_is_number(const TrainOptions& options) {
  return options.gamma_or_default().rule == Gamma::Rule::value;
}

double gamma_of(const TrainOptions& options) { return options.gamma_or_default().value; }

double gamma_or(const TrainOptions& options, double fallback) {
  return gamma_is_number(options) ? gamma_of(options) : fallback;
}

TrainOptions with_kernel(TrainOptions options, KernelType kernel) {
  options.kernel = kernel;
  return options;
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
  options.cost.reset();
  return options;
}

TrainOptions moved(TrainOptions options, const Move& move) {
  options.cost = cost_of(options) * move.cost;
  if (gamma_is_number(options)) options.gamma = gamma_of(options) * move.gamma;
  return move.tube == 1 ? options : with_tube(options, tube_of(options) * move.tube);
}

bool at_same_place(const TrainOptions& a, const TrainOptions& b) {
  return cost_of(a) == cost_of(b) && gamma_of(a) == gamma_of(b) && tube_of(a) == tube_of(b);
}

void raise_to(const TrainOptions& other, TrainOptions* options) {
  options->cost = std::max(cost_of(*options), cost_of(other));
  if (!gamma_is_number(other)) return;
  if (!gamma_is_number(*options) || gamma_of(other) > gamma_of(*options))
    options->gamma = other.gamma;
}

}  // namespace tamis
