// SVMs on random subsets: random-subset, ransac.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "options/option_builder.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr double kMost = 1e9;

// The lowest and the highest factor.
template <typename Field>
OptionDescription range_option(const OptionText& text, Field field) {
  OptionDescription option = numbers_option(text, field, above_up_to(0, kMost));
  option.check = [name = text.name, field](const TrainOptions& options) {
    const std::vector<double>& range = field(options);
    const bool ok = range.size() == 2 && range[0] > 0 && range[0] <= range[1] && range[1] <= kMost;
    if (!ok) {
      throw InvalidArgument(
          fmt::format("{} is '{}': give the lowest and the highest factor, above 0 and up to 1e9",
                      name, fmt::join(range, ",")));
    }
  };
  return option;
}

}  // namespace

void add_ensemble_options(std::vector<OptionDescription>& table) {
  table.push_back(number_option(
      {"members", "", "Ensemble members per binary problem"},
      [](auto& o) -> auto& { return o.ensemble.members; }, between(1, kMost)));
  table.push_back(number_option(
      {"candidates", "",
       "Random subsets tried for each member; the one that improves the ensemble most is kept"},
      [](auto& o) -> auto& { return o.ensemble.candidates; }, between(1, kMost)));
  table.push_back(number_option(
      {"parameter-draws", "",
       "Random pairs of C and gamma tried on each subset; the most accurate is kept"},
      [](auto& o) -> auto& { return o.ensemble.parameter_draws; }, between(1, kMost)));
  table.push_back(number_option({"trials", "", "SVMs tried; unlimited: until the time limit"},
                                [](auto& o) -> auto& { return o.ensemble.trials; },
                                between(1, kMost), {"unlimited", ""}));
  table.push_back(number_option({"subset-rows", "", "Rows that each SVM is trained on"},
                                [](auto& o) -> auto& { return o.ensemble.subset_rows; },
                                between(1, kMost), {"automatic", "2 % of the rows, 100 to 2000"}));
  table.push_back(range_option(
      {"cost-range", "", "Factors on C, lowest and highest: each SVM draws one, log-uniform"},
      [](auto& o) -> auto& { return o.ensemble.cost_range; }));
  table.push_back(range_option(
      {"gamma-range", "", "Factors on gamma, lowest and highest: each SVM draws one of 16 values"},
      [](auto& o) -> auto& { return o.ensemble.gamma_range; }));
  table.push_back(number_option(
      {"search-trials", "",
       "SVMs tried first, in ranges 16 times as wide on either side; C and gamma of the best "
       "become the center of the ranges"},
      [](auto& o) -> auto& { return o.ensemble.search_trials; }, between(0, kMost),
      {"automatic", "64 if neither cost nor gamma is set, otherwise 0"}));
  table.push_back(flag_option(
      {"mixed-kernels", "",
       "Members with linear, polynomial and RBF kernels, one drawn for each SVM"},
      [](auto& o) -> auto& { return o.ensemble.mixed_kernels; }));
  table.push_back(choice_option<SubsetSampling>(
      {"subset-sampling", "",
       "Probability of a row in a subset: equal (uniform), equal for each class (balanced), or in "
       "proportion to its weight, which then is no factor on C (weights)"},
      [](auto& o) -> auto& { return o.ensemble.subset_sampling; },
      {{"uniform", SubsetSampling::uniform},
       {"balanced", SubsetSampling::balanced},
       {"weights", SubsetSampling::weights}}));
  table.push_back(choice_option<MemberValue>(
      {"member-value", "",
       "What a member contributes: its decision value, or its calibrated probability (slower to "
       "predict)"},
      [](auto& o) -> auto& { return o.ensemble.member_value; },
      {{"decision", MemberValue::decision}, {"probability", MemberValue::probability}}));
  table.push_back(number_option({"score-rows", "", "Rows that SVMs are scored and combined on"},
                                [](auto& o) -> auto& { return o.ensemble.score_rows; },
                                between(1, kMost), {"automatic", "all, up to 20,000"}));
  table.push_back(choice_option<Combination>({"combine", "",
                                              "Weights of the members: equal (average), those of a "
                                              "linear SVM on their values (linear), or "
                                              "the same without negative weights (nonnegative)"},
                                             [](auto& o) -> auto& { return o.ensemble.combine; },
                                             {{"average", Combination::average},
                                              {"linear", Combination::linear},
                                              {"nonnegative", Combination::nonnegative}}));
  table.push_back(number_option(
      {"combine-cost", "", "C of the linear SVM that combines, divided among its rows"},
      [](auto& o) -> auto& { return o.ensemble.combine_cost; }, above(0)));
}

}  // namespace tamis
