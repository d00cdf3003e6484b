// The method leader.
#include "options/option_builder.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

using O = TrainOptions;

// A number for all classes has an empty label.
void set_thresholds(O& options, const OptionValue& value) {
  options.leader.threshold.reset();
  options.leader.class_thresholds.clear();
  if (std::holds_alternative<std::monostate>(value)) return;
  const auto* labels = std::get_if<LabelNumbers>(&value);
  if (labels == nullptr) {
    options.leader.threshold = number_of("threshold", value);
    return;
  }
  for (const auto& [label, number] : *labels) {
    if (label.empty())
      options.leader.threshold = number;
    else
      options.leader.class_thresholds.emplace_back(label, number);
  }
}

OptionDescription threshold_option() {
  OptionDescription option;
  option.name = "threshold";
  option.type = OptionType::labels;
  option.value = "NUMBER,..";
  option.help =
      "Rows of a class within this distance in feature space share one leader; classes with a "
      "threshold of their own as LABEL:NUMBER, for example 0.1,-1:0.05";
  option.range = "greater than 0";
  option.unset = "automatic";
  option.default_help = "found from the target number of leaders";
  option.set = set_thresholds;
  option.get = [](const O& options) -> OptionValue {
    LabelNumbers all;
    if (options.leader.threshold) all.emplace_back("", *options.leader.threshold);
    all.insert(all.end(), options.leader.class_thresholds.begin(),
               options.leader.class_thresholds.end());
    return all.empty() ? OptionValue() : OptionValue(all);
  };
  option.check = [](const O& options) {
    if (options.leader.threshold)
      require_in(above(0), "threshold", *options.leader.threshold, "automatic");
    for (const auto& [label, number] : options.leader.class_thresholds)
      require_in(above(0), "the threshold of class " + label, number);
  };
  return option;
}

}  // namespace

void add_leader_options(std::vector<OptionDescription>& table) {
  table.push_back(threshold_option());
  table.push_back(number_option(
      {"leaders", "", "Target number of leaders; the threshold is estimated on a sample"},
      [](auto& o) -> auto& { return o.leader.leaders; }, at_least(1),
      {"automatic", "10 % of the rows, at most 20,000"}));
  table.push_back(number_option({"leader-gamma", "", "Gamma of the RBF kernel in the leader pass"},
                                [](auto& o) -> auto& { return o.leader.gamma; }, above(0),
                                {"automatic", "gamma / features"}));
  table.push_back(choice_option<LeaderWeights>(
      {"leader-weights", "", "cluster: C of a leader is the sum over the rows that it leads"},
      [](auto& o) -> auto& { return o.leader.weights; },
      {{"none", LeaderWeights::none}, {"cluster", LeaderWeights::cluster}}));
  table.push_back(number_option(
      {"refine", "", "Number of times the threshold is halved around leaders near the boundary"},
      [](auto& o) -> auto& { return o.leader.refine; }, between(0, 10),
      {"automatic",
       "1, or 0 if the threshold or the number of leaders is set, or rows are streamed"}));
  table.push_back(choice_option<LeaderBoundary>(
      {"boundary", "",
       "Which leaders are near the boundary, for refine: model, by the trained model; leaders, "
       "those with a leader of another class within the threshold"},
      [](auto& o) -> auto& { return o.leader.boundary; },
      {{"model", LeaderBoundary::model}, {"leaders", LeaderBoundary::leaders}}));
}

}  // namespace tamis
