// Methods that train on a part of the rows: subsample, cglq, local-sampling.
#include "options/option_builder.hpp"

namespace tamis {

void add_sifting_options(std::vector<OptionDescription>& table) {
  table.push_back(
      number_option({"delta", "", "Sampling fraction: rows drawn at a time, as a fraction of all"},
                    [](auto& o) -> auto& { return o.sift.delta; }, above_up_to(0, 1),
                    {"automatic", "0.05; local-sampling: 20,000 rows, but 0.1 to 0.4"}));
  table.push_back(number_option(
      {"neighbors", "", "Rows added around each support vector"},
      [](auto& o) -> auto& { return o.sift.neighbors; }, at_least(0)));
  table.push_back(number_option(
      {"validation-fraction", "",
       "Fraction of the rows in the validation set that judges the rounds, at most 20,000 rows"},
      [](auto& o) -> auto& { return o.sift.validation_fraction; }, above_up_to(0, 0.5)));
  table.push_back(number_option(
      {"patience", "", "Rounds without improvement after which the best round so far is taken"},
      [](auto& o) -> auto& { return o.sift.patience; }, at_least(1)));
  table.push_back(number_option(
      {"improvement", "", "Relative decrease of the validation error that counts as improvement"},
      [](auto& o) -> auto& { return o.sift.improvement; }, from_below(0, 1)));
  table.push_back(number_option(
      {"max-rounds", "", "Limit on the number of rounds"},
      [](auto& o) -> auto& { return o.sift.max_rounds; }, at_least(1)));
  table.push_back(
      number_option({"subsamples", "",
                     "Number of disjoint subsamples (L) that the rows drawn first are dealt to"},
                    [](auto& o) -> auto& { return o.local_sampling.subsamples; }, at_least(1),
                    {"automatic", "leaves 50 rows per class in each, at most 12"}));
  table.push_back(number_option(
      {"beta", "", "Radius of the balls, in medians of the distance between support vectors"},
      [](auto& o) -> auto& { return o.local_sampling.beta; }, above(0),
      {"automatic", "0.1, 0.2 .. while the validation error falls"}));
  table.push_back(number_option(
      {"beta-start", "", "First beta of the search, which adds 0.1 at a time and then skips none"},
      [](auto& o) -> auto& { return o.local_sampling.beta_start; }, above(0),
      {"automatic", "0.1, skips those whose balls add fewer rows than there are support vectors"}));
  table.push_back(
      choice_option<Intensity>({"intensity", "",
                                "A ball with the share eta contributes eta of the budget (budget; "
                                "density: with eta from 1 / rho^d instead of 1 / rho), eta of its "
                                "own rows (literal), or all its rows (all)"},
                               [](auto& o) -> auto& { return o.local_sampling.intensity; },
                               {{"budget", Intensity::budget},
                                {"density", Intensity::density},
                                {"literal", Intensity::literal},
                                {"all", Intensity::all}}));
  table.push_back(number_option(
      {"budget", "",
       "Rows that all balls together may contribute, as a fraction of those outside the "
       "subsamples"},
      [](auto& o) -> auto& { return o.local_sampling.budget; }, above_up_to(0, 1)));
  table.push_back(choice_option<DrawWeights>(
      {"draw-weights", "",
       "inverse: C of a drawn row is divided by the probability that it was drawn"},
      [](auto& o) -> auto& { return o.local_sampling.weights; },
      {{"none", DrawWeights::none}, {"inverse", DrawWeights::inverse}}));
  table.push_back(flag_option(
      {"polish", "",
       "Continue from the model on a part of the rows to the optimum on all rows (warm start)"},
      [](auto& o) -> auto& { return o.polish; }));
}

}  // namespace tamis
