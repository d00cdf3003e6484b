// TrainOptions::validate(): the range of every option, and which do not go together.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tamis/error.hpp"
#include "tamis/options.hpp"
#include "training/registry.hpp"

namespace tamis {
namespace {

void require(bool ok, const std::string& message) {
  if (!ok) throw InvalidArgument(message);
}

void require_combinations(const TrainOptions& o) {
  const bool part =
      o.method != kAutoMethod && find_method(o.method).info.kind == MethodKind::part_of_rows;
  require(!o.polish || part,
          fmt::format("polish: the method {} trains no model on a part of the rows", o.method));
  require(o.metric_rounds_or_default() == 0 || o.kernel_or_default() != KernelType::precomputed,
          "metric-rounds: a precomputed kernel has no features to weigh");
  require(o.scaling_or_default() == ScalingMethod::none ||
              o.kernel_or_default() != KernelType::precomputed,
          "scale: a precomputed kernel has no features to scale");
  require(o.metric == MetricForm::diagonal || o.metric_rounds_or_default() > 0 ||
              (o.method == kAutoMethod && !o.metric_rounds),
          "metric is full, and metric-rounds is 0: rounds are needed to learn it");
  require(std::all_of(o.metric_matrix.begin(), o.metric_matrix.end(),
                      [](float v) { return std::isfinite(v); }),
          "a number of the metric is not finite");
  require(
      o.metric_matrix.empty() || (o.feature_weights.empty() && o.metric_rounds_or_default() == 0 &&
                                  o.kernel_or_default() != KernelType::precomputed),
      "a full metric is given: it goes with features, without feature weights and rounds");
  require(std::all_of(o.feature_weights.begin(), o.feature_weights.end(),
                      [](float w) { return std::isfinite(w) && w >= 0; }),
          "a feature weight is not a number of at least 0");
  require(o.missing == MissingValues::refuse || o.kernel_or_default() != KernelType::precomputed,
          "missing: a precomputed kernel has no columns to impute");
  require(o.text_columns == TextColumns::refuse || o.kernel_or_default() != KernelType::precomputed,
          "text-columns: a precomputed kernel has no text columns");
  require(
      o.max_categories == TrainOptions().max_categories || o.text_columns == TextColumns::one_hot,
      "max-categories needs text-columns one-hot");
  require(o.feature_weights.empty() || o.kernel_or_default() != KernelType::precomputed,
          "a precomputed kernel has no features to weigh");
  const bool has_threshold = o.leader.threshold || !o.leader.class_thresholds.empty();
  require(!o.leader.leaders || !has_threshold,
          fmt::format("leaders is {}: omit it when a threshold is given",
                      o.leader.leaders.value_or(0)));
  require(!o.local.k || !o.local.k_prime || *o.local.k_prime <= *o.local.k,
          fmt::format("k-prime is {}: it must be 1 to k ({}), or automatic",
                      o.local.k_prime.value_or(0), o.local.k.value_or(0)));
  require(!o.opt_margin.nu || o.opt_margin.margin_k.rule == MarginK::Rule::automatic,
          fmt::format("nu is {}: omit it when margin-k is given", o.opt_margin.nu.value_or(0)));
  require(o.ensemble.trials || o.max_seconds > 0,
          "trials is unlimited: give a number, or a time limit (max-seconds)");
}

}  // namespace

void TrainOptions::validate() const {
  for (const OptionDescription& option : train_option_table()) option.check(*this);
  require_combinations(*this);
}

}  // namespace tamis
