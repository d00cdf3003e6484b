// The local methods: falk, falk-c, falk-l, knn-svm, knn.
#include "options/option_builder.hpp"

namespace tamis {

void add_local_options(std::vector<OptionDescription>& table) {
  table.push_back(number_option({"k", "", "Rows of a neighborhood"},
                                [](auto& o) -> auto& { return o.local.k; }, at_least(1),
                                {"automatic", "500, 15 for knn"}));
  table.push_back(number_option(
      {"k-prime", "", "Innermost rows of a neighborhood that its center covers, at most k"},
      [](auto& o) -> auto& { return o.local.k_prime; }, at_least(1), {"automatic", "half of k"}));
  table.push_back(choice_option<std::string>(
      {"index", "", "Neighbor search; auto: the fastest on a sample; never changes the result"},
      [](auto& o) -> auto& { return o.local.index; },
      {{"auto", "auto"},
       {"brute-force", "brute-force"},
       {"kd-tree", "kd-tree"},
       {"cover-tree", "cover-tree"}}));
  table.push_back(flag_option(
      {"local-tuning", "",
       "Each neighborhood chooses C and gamma, around those given, by cross-validation on its "
       "innermost rows; takes several times as long"},
      [](auto& o) -> auto& { return o.local.local_tuning; }));
  table.push_back(number_option(
      {"cell-rows", "",
       "Rows of a cell, about: more rows are halved into boxes of at most that many, which are "
       "trained one after the other, in the memory for one"},
      [](auto& o) -> auto& { return o.local.cell_rows; }, at_least(100)));
  table.push_back(choice_option<SelectionRule>(
      {"selection-rule", "",
       "Settings taken: those with the lowest cross-validation error, or the smoothest (smallest "
       "C, "
       "then widest kernel) of those not clearly worse"},
      [](auto& o) -> auto& { return o.local.selection_rule; },
      {{"lowest-error", SelectionRule::lowest_error}, {"smoothest", SelectionRule::smoothest}}));
  table.push_back(number_option(
      {"selection-centres", "", "Neighborhoods on which parameters are tried"},
      [](auto& o) -> auto& { return o.local.selection_centres; }, at_least(1)));
  table.push_back(number_option(
      {"selection-folds", "", "Cross-validation folds of each trial"},
      [](auto& o) -> auto& { return o.local.selection_folds; }, at_least(2)));
  table.push_back(numbers_option(
      {"k-grid", "", "Values of k to try, ascending"},
      [](auto& o) -> auto& { return o.local.k_grid; }, between(2, 1e9)));
  table.push_back(numbers_option(
      {"cost-grid", "", "Values of C to try"}, [](auto& o) -> auto& { return o.local.cost_grid; },
      above_up_to(0, 1e9)));
  table.push_back(numbers_option(
      {"percentiles", "", "Percentiles of the local distances to try as sigma"},
      [](auto& o) -> auto& { return o.local.percentiles; }, between(0, 100)));
}

}  // namespace tamis
