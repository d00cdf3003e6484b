// Kernel, scaling, C, gamma and tube as they lie in TrainOptions. Searches and `auto` read and
// write them here alone.
#pragma once

#include <vector>

#include "tamis/options.hpp"

namespace tamis {

/// The kernel that the user set, or those that `auto` tries.
std::vector<KernelType> kernels_to_try(const TrainOptions& asked);

/// Whether the user set it, or there is nothing to choose.
bool keeps_cost(const TrainOptions& options);
bool keeps_gamma(const TrainOptions& options);
bool keeps_scaling(const TrainOptions& options);
bool keeps_tube(const TrainOptions& options);

/// Whether the method has a kernel, and whether that has a gamma.
bool uses_kernel(const TrainOptions& options);
bool has_gamma(const TrainOptions& options);
/// Whether C decides anything: nu and margin-k of opt-soft-margin stand in its place.
bool uses_cost(const TrainOptions& options);

double cost_of(const TrainOptions& options);
double tube_of(const TrainOptions& options);
ScalingMethod scaling_of(const TrainOptions& options);
/// Gamma is a number, not a rule that waits for the rows.
bool gamma_is_number(const TrainOptions& options);
double gamma_of(const TrainOptions& options);  ///< 0 when it is a rule
double gamma_or(const TrainOptions& options, double fallback);

TrainOptions with_kernel(TrainOptions options, KernelType kernel);
TrainOptions with_tube(TrainOptions options, double tube);
TrainOptions with_scaling(TrainOptions options, ScalingMethod scaling);
TrainOptions with_default_cost(TrainOptions options);

/// Factors on the parameters.
struct Move {
  double cost = 1;
  double gamma = 1;
  double tube = 1;  ///< of a regression
};

TrainOptions moved(TrainOptions options, const Move& move);

/// Same cost, gamma and tube.
bool at_same_place(const TrainOptions& a, const TrainOptions& b);

/// Raises cost and gamma of `options` to those of `other` where these are larger; a number counts
/// as larger than a rule.
void raise_to(const TrainOptions& other, TrainOptions* options);

}  // namespace tamis
