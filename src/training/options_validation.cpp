// TrainOptions::validate(): the range of every field.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>

#include "tamis/error.hpp"
#include "tamis/options.hpp"
#include "training/method_table.hpp"
#include "training/option_checks.hpp"

namespace tamis {
namespace {

void validate_leader(const LeaderOptions& leader) {
  require_option(std::isfinite(leader.threshold) && leader.threshold >= 0, "threshold",
                 leader.threshold, "finite and greater than 0, or 0 for one that gives --leaders");
  for (const auto& [label, value] : leader.class_thresholds) {
    require_option(std::isfinite(value) && value > 0, "the threshold of class " + label, value,
                   "finite and greater than 0");
  }
  const bool given = leader.threshold != 0 || !leader.class_thresholds.empty();
  require_option(leader.leaders >= 0, "leaders", static_cast<double>(leader.leaders), "at least 0");
  require_option(leader.leaders == 0 || !given, "leaders", static_cast<double>(leader.leaders),
                 "left out when a threshold is given");
  require_option(std::isfinite(leader.gamma) && leader.gamma >= 0, "leader-gamma", leader.gamma,
                 "finite and at least 0");
  require_option(leader.refine >= 0 && leader.refine <= 10, "refine",
                 static_cast<double>(leader.refine), "0 to 10");
}

void validate_sift(const SiftOptions& sift) {
  const auto at_least = [](Index value, Index least, std::string_view name) {
    require_option(value >= least, name, static_cast<double>(value),
                   fmt::format("at least {}", least));
  };
  require_option(sift.delta >= 0 && sift.delta <= 1, "delta", sift.delta,
                 "greater than 0 and at most 1, or 0 for the default");
  at_least(sift.neighbors, 0, "neighbors");
  require_option(sift.validation_fraction > 0 && sift.validation_fraction <= 0.5,
                 "validation-fraction", sift.validation_fraction, "greater than 0 and at most 0.5");
  at_least(sift.patience, 1, "patience");
  require_option(sift.improvement >= 0 && sift.improvement < 1, "improvement", sift.improvement,
                 "at least 0 and less than 1");
  at_least(sift.max_rounds, 1, "max-rounds");
}

void validate_local_sampling(const LocalSamplingOptions& local) {
  require_option(local.subsamples >= 0, "subsamples", static_cast<double>(local.subsamples),
                 "at least 0");
  require_option(std::isfinite(local.beta) && local.beta >= 0, "beta", local.beta,
                 "greater than 0, or 0 to search for it");
  require_option(local.budget > 0 && local.budget <= 1, "budget", local.budget,
                 "greater than 0 and at most 1");
}

void require_all(const std::vector<double>& values, std::string_view name, double lowest,
                 double highest, std::string_view allowed) {
  if (values.empty()) throw InvalidArgument(fmt::format("{} is empty", name));
  for (const double value : values)
    require_option(value >= lowest && value <= highest, name, value, allowed);
}

void validate_local(const LocalOptions& local) {
  require_option(local.k >= 0, "k", static_cast<double>(local.k),
                 "at least 1, or 0 for the default");
  require_option(local.k_prime >= 0 && (local.k == 0 || local.k_prime <= local.k), "k-prime",
                 static_cast<double>(local.k_prime), "1 to k, or 0 for the default");
  require_option(local.selection_centres > 0, "selection-centres",
                 static_cast<double>(local.selection_centres), "at least 1");
  require_option(local.selection_folds > 1, "selection-folds",
                 static_cast<double>(local.selection_folds), "at least 2");
  constexpr double kMost = 1e9;
  require_all(local.k_grid, "k-grid", 2, kMost, "2 to 1e9");
  require_all(local.cost_grid, "cost-grid", std::numeric_limits<double>::min(), kMost,
              "greater than 0, at most 1e9");
  require_all(local.percentiles, "percentiles", 0, 100, "0 to 100");
}

void require_range(const std::vector<double>& range, std::string_view name) {
  const bool ok = range.size() == 2 && range[0] > 0 && range[0] <= range[1] && range[1] <= 1e9;
  if (!ok) {
    throw InvalidArgument(
        fmt::format("{} is '{}': give the lowest and the highest factor, above 0 and up to 1e9",
                    name, fmt::join(range, ",")));
  }
}

void validate_ensemble(const EnsembleOptions& ensemble, double max_seconds) {
  const auto require_count = [](std::int64_t value, std::int64_t lowest, std::string_view name) {
    constexpr std::int64_t kMost = 1'000'000'000;
    require_option(value >= lowest && value <= kMost, name, static_cast<double>(value),
                   fmt::format("{} to 1e9", lowest));
  };
  require_count(ensemble.members, 1, "members");
  require_count(ensemble.candidates, 1, "candidates");
  require_count(ensemble.trials, 0, "trials");
  require_option(ensemble.trials > 0 || max_seconds > 0, "trials", 0,
                 "at least 1, unless --max-seconds says when to stop");
  require_count(ensemble.subset_rows, 0, "subset-rows");
  require_count(ensemble.search_trials, 0, "search-trials");
  require_count(ensemble.score_rows, 0, "score-rows");
  require_range(ensemble.cost_range, "cost-range");
  require_range(ensemble.gamma_range, "gamma-range");
  require_option(std::isfinite(ensemble.combine_cost) && ensemble.combine_cost > 0, "combine-cost",
                 ensemble.combine_cost, "finite and greater than 0");
}

}  // namespace

void TrainOptions::validate() const {
  if (method != kAutoMethod) find_method(method);
  if (polish && (method == kAutoMethod || !find_method(method).looks_at_part)) {
    throw InvalidArgument(
        fmt::format("polish: the method {} makes no machine from a part of the rows", method));
  }
  require_option(std::isfinite(cost) && cost > 0, "cost (C)", cost, "finite and greater than 0");
  require_option(std::isfinite(eps) && eps > 0, "eps", eps, "finite and greater than 0");
  require_option(std::isfinite(tube) && tube >= 0, "tube", tube, "finite and at least 0");
  require_option(max_iterations >= 0, "max-iterations", static_cast<double>(max_iterations),
                 "at least 0");
  require_option(std::isfinite(max_seconds) && max_seconds >= 0, "max-seconds", max_seconds,
                 "finite and at least 0");
  const double k = opt_margin.margin_k;
  require_option(k == 0 || k == kSmallestK || (std::isfinite(k) && k >= 1), "margin-k", k,
                 "at least 1, 0, or smallest");
  require_option(opt_margin.nu >= 0 && opt_margin.nu <= 1, "nu", opt_margin.nu, "from 0 to 1");
  require_option(opt_margin.nu == 0 || k == 0, "nu", opt_margin.nu, "0 when margin-k is given");
  require_option(opt_margin.draw >= 0, "draw", static_cast<double>(opt_margin.draw), "at least 0");
  require_option(
      bias.rule != Bias::Rule::penalised || (std::isfinite(bias.value) && bias.value > 0), "bias",
      bias.value, "finite and greater than 0, none or free");
  require_option(cache_bytes >= 0, "cache", static_cast<double>(cache_bytes), "at least 0");
  for (const auto& [label, factor] : class_weights) {
    require_option(std::isfinite(factor) && factor > 0, "the weight of class " + label, factor,
                   "finite and greater than 0");
  }
  Kernel{kernel, gamma.rule == Gamma::Rule::value ? gamma.value : 1.0, coef0, degree}.validate();
  validate_sift(sift);
  validate_local_sampling(local_sampling);
  validate_leader(leader);
  validate_local(local);
  validate_ensemble(ensemble, max_seconds);
}

}  // namespace tamis
