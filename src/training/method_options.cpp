#include "training/method_options.hpp"

#include <algorithm>

#include "training/option_builders.hpp"
#include "training/option_checks.hpp"

namespace tamis {
namespace {

// "0.1", or with other values for some classes: "0.1,-1:0.05".
void parse_thresholds(std::string_view text, LeaderOptions* leader) {
  LeaderOptions parsed;
  do {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::size_t colon = item.rfind(':');
    if (colon == std::string_view::npos) {
      parsed.threshold = parse_number<double>("threshold", item);
    } else {
      parsed.class_thresholds.emplace_back(
          item.substr(0, colon), parse_number<double>("threshold", item.substr(colon + 1)));
    }
  } while (!text.empty());
  leader->threshold = parsed.threshold;
  leader->class_thresholds = std::move(parsed.class_thresholds);
}

std::string thresholds_text(const LeaderOptions& leader) {
  const std::string classes = label_list_text(leader.class_thresholds);
  return number_text(leader.threshold) + (classes.empty() ? "" : "," + classes);
}

}  // namespace

void add_opt_margin_options(std::vector<OptionDescription>& table) {
  using O = TrainOptions;
  const std::vector<std::string_view> both{"opt-margin", "opt-soft-margin"};
  table.push_back(
      {"margin-k",
       "",
       "NUMBER",
       "k = 1/D of the reduced hulls, >= 1; smallest: the smallest that separates; 0: what --cost "
       "(classes) or --nu (regression) asks for",
       {},
       [](O& o, std::string_view text) {
         const double k = text == "smallest" ? 0 : parse_number<double>("margin-k", text);
         require_option(k >= 0, "margin-k", k, "at least 1, 0, or smallest");
         o.opt_margin.margin_k = text == "smallest" ? kSmallestK : k;
       },
       [](const O& o) {
         return o.opt_margin.margin_k == kSmallestK ? std::string("smallest")
                                                    : number_text(o.opt_margin.margin_k);
       },
       {"opt-soft-margin"}});
  table.push_back(nested_number(
      "nu",
      "k as a share of the rows, k = nu rows / 2, up to 1; 0: not used, but 0.5 for a regression "
      "without --margin-k",
      {"opt-soft-margin"}, [](O & o) -> auto& { return o.opt_margin.nu; }));
  table.push_back(nested_number(
      "draw", "Rows of the first draw; 0: 6 (features + 1)^2, at most 1500", both,
      [](O & o) -> auto& { return o.opt_margin.draw; }));
  table.push_back(
      {"carry-support",
       "",
       "NAME",
       "Take the support vectors found into the next draw; no: the paper's own algorithm",
       {"yes", "no"},
       [](O& o, std::string_view text) {
         if (text != "yes" && text != "no")
           throw InvalidArgument(fmt::format("carry-support is '{}': one of yes, no", text));
         o.opt_margin.carry_support = text == "yes";
       },
       [](const O& o) { return std::string(o.opt_margin.carry_support ? "yes" : "no"); },
       both});
}

void add_sift_options(std::vector<OptionDescription>& table) {
  using O = TrainOptions;
  const std::vector<std::string_view> in_rounds{"cglq", "local-sampling"};
  table.push_back(nested_number(
      "delta", "Share of the rows drawn at a time, in (0, 1]; 0: 0.05, for local-sampling 0.1",
      {"subsample", "cglq", "local-sampling"}, [](O & o) -> auto& { return o.sift.delta; }));
  table.push_back(nested_number(
      "neighbors", "Rows taken in around each support vector, at least 0", {"cglq"},
      [](O & o) -> auto& { return o.sift.neighbors; }));
  table.push_back(nested_number(
      "validation-fraction",
      "Share of the rows held out to measure each round, at most 20,000 of them; in (0, 0.5]",
      in_rounds, [](O & o) -> auto& { return o.sift.validation_fraction; }));
  table.push_back(nested_number(
      "patience", "Rounds without improvement after which the best so far is taken, at least 1",
      in_rounds, [](O & o) -> auto& { return o.sift.patience; }));
  table.push_back(nested_number(
      "improvement", "Relative fall of the validation error that counts as improvement, in [0, 1)",
      in_rounds, [](O & o) -> auto& { return o.sift.improvement; }));
  table.push_back(nested_number(
      "max-rounds", "Rounds at most, at least 1", in_rounds,
      [](O & o) -> auto& { return o.sift.max_rounds; }));
}

void add_local_sampling_options(std::vector<OptionDescription>& table) {
  using O = TrainOptions;
  const std::vector<std::string_view> own{"local-sampling"};
  table.push_back(nested_number(
      "subsamples",
      "Machines the rows drawn first are shared among; 0: 50 rows of each class in each, at most "
      "12",
      own, [](O & o) -> auto& { return o.local_sampling.subsamples; }));
  table.push_back(nested_number(
      "beta",
      "Radius of the balls, in medians of the distance between support vectors; 0: 0.1, 0.2 .. as "
      "long as the validation error falls",
      own, [](O & o) -> auto& { return o.local_sampling.beta; }));
  table.push_back(choice(
      "intensity", "", [](auto& o) -> auto& { return o.local_sampling.intensity; },
      {{"budget", Intensity::budget}, {"literal", Intensity::literal}},
      "A ball with the share eta gives eta of all rows (budget), or of its own rows (literal)",
      own));
  table.push_back(nested_number(
      "budget", "Rows that all balls together may give, as a share of those outside the subsamples",
      own, [](O & o) -> auto& { return o.local_sampling.budget; }));
  table.push_back(choice(
      "draw-weights", "", [](auto& o) -> auto& { return o.local_sampling.weights; },
      {{"none", DrawWeights::none}, {"inverse", DrawWeights::inverse}},
      "inverse: C of a drawn row is divided by the probability that it was drawn", own));
}

void add_leader_options(std::vector<OptionDescription>& table) {
  using O = TrainOptions;
  const std::vector<std::string_view> own{"leader"};
  OptionDescription threshold{
      "threshold",
      "",
      "NUMBER,..",
      "Rows of a class within this distance in feature space have one leader; 0: by --leaders; "
      "classes of their own as LABEL:NUMBER, for example 0.1,-1:0.05",
      {},
      [](O& o, std::string_view text) { parse_thresholds(text, &o.leader); },
      [](const O& o) { return thresholds_text(o.leader); }};
  threshold.methods = own;
  table.push_back(std::move(threshold));
  table.push_back(nested_number(
      "leaders",
      "About so many leaders, by a threshold found on a sample; 0: a tenth of the rows, at most "
      "20,000",
      own, [](O & o) -> auto& { return o.leader.leaders; }));
  table.push_back(nested_number(
      "leader-gamma", "Gamma of the RBF kernel in the leader's distance; 0: gamma / features", own,
      [](O & o) -> auto& { return o.leader.gamma; }));
  table.push_back(choice(
      "leader-weights", "", [](auto& o) -> auto& { return o.leader.weights; },
      {{"none", LeaderWeights::none}, {"cluster", LeaderWeights::cluster}},
      "cluster: a leader costs what the rows it leads cost together", own));
  table.push_back(nested_number(
      "refine", "Times the threshold is halved around leaders near the boundary, 0 to 10", own,
      [](O & o) -> auto& { return o.leader.refine; }));
}

void add_local_options(std::vector<OptionDescription>& table) {
  using O = TrainOptions;
  const std::vector<std::string_view> falk{"falk", "falk-c", "falk-l"};
  table.push_back(nested_number(
      "k",
      "Rows of a neighbourhood; 0: 500 to 2000 by the number of rows, "
      "15 for knn",
      {"falk", "falk-c", "knn-svm", "knn"}, [](O & o) -> auto& { return o.local.k; }));
  table.push_back(nested_number(
      "k-prime", "Innermost rows that a centre covers, 1 to k; 0: half of k", {"falk", "falk-c"},
      [](O & o) -> auto& { return o.local.k_prime; }));
  OptionDescription index{"index",
                          "",
                          "NAME",
                          "Neighbour search; auto: whichever is fastest on a sample",
                          {"auto", "brute-force", "kd-tree", "cover-tree"},
                          [](O& o, std::string_view text) { o.local.index = text; },
                          [](const O& o) { return o.local.index; }};
  index.methods = falk;
  table.push_back(std::move(index));
  table.push_back(nested_number(
      "selection-centres", "Neighborhoods the parameters are tried on", {"falk-l"},
      [](O & o) -> auto& { return o.local.selection_centres; }));
  table.push_back(nested_number(
      "selection-folds", "Folds of each trial, 2 or more", {"falk-l"},
      [](O & o) -> auto& { return o.local.selection_folds; }));
  table.push_back(nested_numbers(
      "k-grid", "Values of k to try, ascending", {"falk-l"},
      [](O & o) -> auto& { return o.local.k_grid; }));
  table.push_back(nested_numbers(
      "cost-grid", "Values of C to try", {"falk-l"},
      [](O & o) -> auto& { return o.local.cost_grid; }));
  table.push_back(nested_numbers(
      "percentiles", "Percentiles of the local distances to try as kernel width", {"falk-l"},
      [](O & o) -> auto& { return o.local.percentiles; }));
}

void add_ensemble_options(std::vector<OptionDescription>& table) {
  using O = TrainOptions;
  const std::vector<std::string_view> both{"random-subset", "ransac"};
  const std::vector<std::string_view> ensemble{"random-subset"};
  table.push_back(nested_number(
      "members", "Machines of the ensemble (of each pair of classes), 1 or more", ensemble,
      [](O & o) -> auto& { return o.ensemble.members; }));
  table.push_back(nested_number(
      "candidates", "Machines trained for each member; the one that helps most is kept", ensemble,
      [](O & o) -> auto& { return o.ensemble.candidates; }));
  table.push_back(nested_number(
      "trials", "Machines tried; 0: as many as --max-seconds allows", {"ransac"},
      [](O & o) -> auto& { return o.ensemble.trials; }));
  table.push_back(nested_number(
      "subset-rows", "Rows each machine is trained on; 0: a 50th of all, 100 to 2000", both,
      [](O & o) -> auto& { return o.ensemble.subset_rows; }));
  table.push_back(nested_numbers(
      "cost-range", "Each machine draws a factor on C between these two, log-uniform", both,
      [](O & o) -> auto& { return o.ensemble.cost_range; }));
  table.push_back(nested_numbers(
      "gamma-range", "The same for gamma, from 16 values between these two", both,
      [](O & o) -> auto& { return o.ensemble.gamma_range; }));
  table.push_back(nested_number(
      "search-trials",
      "Machines tried first, in ranges 16 times as wide to either side; the best one's C and gamma "
      "become the centre; 0: none",
      ensemble, [](O & o) -> auto& { return o.ensemble.search_trials; }));
  table.push_back(nested_number(
      "score-rows", "Rows that machines are judged and combined on; 0: all, up to 20,000", both,
      [](O & o) -> auto& { return o.ensemble.score_rows; }));
  table.push_back(choice(
      "combine", "", [](auto& o) -> auto& { return o.ensemble.combine; },
      {{"average", Combination::average},
       {"linear", Combination::linear},
       {"nonnegative", Combination::nonnegative}},
      "Members weigh the same (average), or as a linear machine on their values says (linear), "
      "which "
      "may be kept from negative weights (nonnegative)",
      ensemble));
  table.push_back(nested_number(
      "combine-cost", "C of the linear machine that combines, shared by its rows, > 0", ensemble,
      [](O & o) -> auto& { return o.ensemble.combine_cost; }));
}

}  // namespace tamis
