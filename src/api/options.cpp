#include "tamis/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <type_traits>

#include "api/method_table.hpp"
#include "api/option_checks.hpp"
#include "base/memory.hpp"
#include "tamis/error.hpp"
#include "tamis/train.hpp"

namespace tamis {
namespace {

template <typename Number>
Number parse_number(std::string_view name, std::string_view text) {
  Number value{};
  const char* first = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(first, last, value);
  if (error == std::errc() && end == last) return value;
  throw InvalidArgument(fmt::format("{} is '{}': give a {}number", name, text,
                                    std::is_integral_v<Number> ? "whole " : ""));
}

std::string number_text(double value) { return fmt::format("{}", value); }

// A field that is a number.
template <typename Number>
OptionDescription number(std::string_view name, std::string_view letter,
                         Number TrainOptions::*field, std::string_view help) {
  return {name,
          letter,
          "NUMBER",
          help,
          {},
          [name, field](TrainOptions& o, std::string_view text) {
            o.*field = parse_number<Number>(name, text);
          },
          [field](const TrainOptions& o) { return fmt::format("{}", o.*field); }};
}

// What a member pointer, or a function of the options, gives a reference to.
template <typename Field>
using FieldType = std::remove_reference_t<std::invoke_result_t<Field, TrainOptions&>>;

// A field that is one of a few names.
template <typename Field>
OptionDescription choice(
    std::string_view name, std::string_view letter, Field field,
    std::type_identity_t<std::vector<std::pair<std::string_view, FieldType<Field>>>> values,
    std::string_view help, std::vector<std::string_view> methods = {}) {
  std::vector<std::string_view> names;
  names.reserve(values.size());
  for (const auto& entry : values) names.push_back(entry.first);
  const auto set = [name, field, values](TrainOptions& o, std::string_view text) {
    for (const auto& [known, value] : values) {
      if (known != text) continue;
      std::invoke(field, o) = value;
      return;
    }
    std::string all;
    for (const auto& [known, value] : values) all += (all.empty() ? "" : ", ") + std::string(known);
    throw InvalidArgument(fmt::format("{} is '{}': one of {}", name, text, all));
  };
  const auto get = [field, values](const TrainOptions& o) {
    for (const auto& [known, value] : values) {
      if (value == std::invoke(field, o)) return std::string(known);
    }
    return std::string();
  };
  return {name, letter, "NAME", help, std::move(names), set, get, std::move(methods)};
}

Gamma parse_gamma(std::string_view text) {
  if (text == "scale") return {Gamma::Rule::scale, 0};
  if (text == "auto") return {Gamma::Rule::automatic, 0};
  return {Gamma::Rule::value, parse_number<double>("gamma", text)};
}

std::string gamma_text(const Gamma& gamma) {
  if (gamma.rule == Gamma::Rule::value) return number_text(gamma.value);
  return gamma.rule == Gamma::Rule::scale ? "scale" : "auto";
}

Bias parse_bias(std::string_view text) {
  if (text == "free") return {Bias::Rule::free, 1};
  if (text == "none") return {};
  const auto value = parse_number<double>("bias", text);
  return value < 0 ? Bias{} : Bias{Bias::Rule::penalised, value};
}

std::string bias_text(const Bias& bias) {
  if (bias.rule == Bias::Rule::penalised) return number_text(bias.value);
  return bias.rule == Bias::Rule::free ? "free" : "none";
}

// "label:factor,label:factor"; a label may contain colons, a factor cannot.
std::vector<std::pair<std::string, double>> parse_class_weights(std::string_view text) {
  std::vector<std::pair<std::string, double>> weights;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::size_t colon = item.rfind(':');
    if (colon == std::string_view::npos) {
      throw InvalidArgument(
          fmt::format("class-weight '{}': write label:factor, for example -1:5", item));
    }
    weights.emplace_back(item.substr(0, colon),
                         parse_number<double>("class-weight", item.substr(colon + 1)));
  }
  return weights;
}

std::string label_list_text(const std::vector<std::pair<std::string, double>>& list) {
  std::string text;
  for (const auto& [label, factor] : list)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", label, factor);
  return text;
}

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

// A plain number is megabytes, as LIBSVM's.
std::int64_t parse_cache(std::string_view text) {
  if (text == "0") return 0;
  const bool plain = text.find_first_not_of("0123456789.") == std::string_view::npos;
  try {
    return parse_bytes(std::string(text) + (plain ? "M" : ""));
  } catch (const InvalidArgument&) {
    throw InvalidArgument(
        fmt::format("cache is '{}': give megabytes, or a size with K, M or G", text));
  }
}

// A number somewhere inside the options: `field` gives a reference to it.
template <typename Field>
OptionDescription nested_number(std::string_view name, std::string_view help,
                                std::vector<std::string_view> methods, Field field) {
  using Number = std::remove_reference_t<decltype(field(std::declval<TrainOptions&>()))>;
  OptionDescription option{name,
                           "",
                           "NUMBER",
                           help,
                           {},
                           [name, field](TrainOptions& o, std::string_view text) {
                             field(o) = parse_number<Number>(name, text);
                           },
                           [field](const TrainOptions& o) {
                             TrainOptions copy = o;
                             return fmt::format("{}", field(copy));
                           }};
  option.methods = std::move(methods);
  return option;
}

// A list of numbers: "1,10,50".
template <typename Field>
OptionDescription nested_numbers(std::string_view name, std::string_view help,
                                 std::vector<std::string_view> methods, Field field) {
  OptionDescription option{name,
                           "",
                           "NUMBER,..",
                           help,
                           {},
                           [name, field](TrainOptions& o, std::string_view text) {
                             std::vector<double> values;
                             while (!text.empty()) {
                               const std::string_view item = text.substr(0, text.find(','));
                               text.remove_prefix(std::min(text.size(), item.size() + 1));
                               values.push_back(parse_number<double>(name, item));
                             }
                             field(o) = std::move(values);
                           },
                           [field](const TrainOptions& o) {
                             TrainOptions copy = o;
                             return fmt::format("{}", fmt::join(field(copy), ","));
                           }};
  option.methods = std::move(methods);
  return option;
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
      "selection-centres", "Neighbourhoods the parameters are tried on", {"falk-l"},
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

std::vector<std::string_view> method_choices() {
  std::vector<std::string_view> names = method_names();
  names.push_back(kAutoMethod);
  return names;
}

void add_sampling_options(std::vector<OptionDescription>& table) {
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
         o.sampling.margin_k = text == "smallest" ? kSmallestK : k;
       },
       [](const O& o) {
         return o.sampling.margin_k == kSmallestK ? std::string("smallest")
                                                  : number_text(o.sampling.margin_k);
       },
       {"opt-soft-margin"}});
  table.push_back(nested_number(
      "nu",
      "k as a share of the rows, k = nu rows / 2, up to 1; 0: not used, but 0.5 for a regression "
      "without --margin-k",
      {"opt-soft-margin"}, [](O & o) -> auto& { return o.sampling.nu; }));
  table.push_back(nested_number(
      "draw", "Rows of the first draw; 0: 6 (features + 1)^2, at most 1500", both,
      [](O & o) -> auto& { return o.sampling.draw; }));
  table.push_back(
      {"carry-support",
       "",
       "NAME",
       "Take the support vectors found into the next draw; no: the paper's own algorithm",
       {"yes", "no"},
       [](O& o, std::string_view text) {
         if (text != "yes" && text != "no")
           throw InvalidArgument(fmt::format("carry-support is '{}': one of yes, no", text));
         o.sampling.carry_support = text == "yes";
       },
       [](const O& o) { return std::string(o.sampling.carry_support ? "yes" : "no"); },
       both});
}

std::vector<std::string_view> methods_on_a_part() {
  std::vector<std::string_view> names;
  for (const MethodEntry& method : method_table()) {
    if (method.looks_at_part) names.push_back(method.name);
  }
  return names;
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

// Options of kernels, which a linear machine has not.
OptionDescription for_kernels(OptionDescription option) {
  for (const MethodEntry& method : method_table()) {
    if (method.uses_kernel) option.methods.push_back(method.name);
  }
  option.methods.push_back(kAutoMethod);
  return option;
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

std::vector<OptionDescription> make_table() {
  using O = TrainOptions;
  std::vector<OptionDescription> table;
  table.push_back({"method", "", "NAME", "How to train; auto: chosen by trials", method_choices(),
                   [](O& o, std::string_view text) { o.method = text; },
                   [](const O& o) { return o.method; }});
  table.push_back(
      choice("task", "", &O::task,
             {{"classification", Task::classification}, {"regression", Task::regression}},
             "Learn classes, or a number (epsilon-SVR)"));
  table.push_back(
      for_kernels({"kernel",
                   "t",
                   "NAME",
                   "linear, polynomial, rbf, sigmoid or precomputed, or LIBSVM's 0 to 4",
                   {"linear", "polynomial", "rbf", "sigmoid", "precomputed"},
                   [](O& o, std::string_view text) { o.kernel = parse_kernel_type(text); },
                   [](const O& o) { return std::string(kernel_name(o.kernel)); }}));
  table.push_back(
      for_kernels({"gamma",
                   "g",
                   "NUMBER",
                   "Kernel width, > 0; scale: 1 / (features * variance), auto: 1 / features",
                   {},
                   [](O& o, std::string_view text) { o.gamma = parse_gamma(text); },
                   [](const O& o) { return gamma_text(o.gamma); }}));
  table.push_back(for_kernels(
      number("coef0", "r", &O::coef0, "Constant of the polynomial and sigmoid kernels")));
  table.push_back(
      for_kernels(number("degree", "d", &O::degree, "Degree of the polynomial kernel, 1 to 100")));
  table.push_back(number("cost", "c", &O::cost, "C, the price of a training error, > 0"));
  table.push_back(choice("loss", "", &O::loss, {{"l1", SlackLoss::l1}, {"l2", SlackLoss::l2}},
                         "Training errors cost C times the slack (l1) or its square (l2)"));
  table.push_back(
      {"bias",
       "B",
       "NUMBER",
       "Offset of the machine: none, a column of this value, whose weight is penalised as "
       "any other (LIBLINEAR's -B; below 0: none), or free",
       {},
       [](O& o, std::string_view text) { o.bias = parse_bias(text); },
       [](const O& o) { return bias_text(o.bias); },
       {"linear"}});
  table.push_back(number("tube", "p", &O::tube, "Regression: errors up to this are free, >= 0"));
  table.push_back({"class-weight",
                   "",
                   "LABEL:FACTOR,..",
                   "Factors on the cost of classes, for example -1:5; balanced: by their frequency",
                   {},
                   [](O& o, std::string_view text) {
                     o.balanced = text == "balanced";
                     o.class_weights = o.balanced ? std::vector<std::pair<std::string, double>>()
                                                  : parse_class_weights(text);
                   },
                   [](const O& o) {
                     return o.balanced ? std::string("balanced") : label_list_text(o.class_weights);
                   }});
  table.push_back(
      choice("multiclass", "", &O::multiclass,
             {{"one-vs-one", Multiclass::one_vs_one}, {"one-vs-rest", Multiclass::one_vs_rest}},
             "More than two classes: a machine a pair that votes, or a machine a class"));
  table.back().methods = {"exact",         "subsample", "cglq",       "local-sampling",
                          "leader",        "linear",    "opt-margin", "opt-soft-margin",
                          "random-subset", "ransac"};
  table.push_back(choice("scale", "", &O::scaling,
                         {{"none", ScalingMethod::none},
                          {"minmax", ScalingMethod::minmax},
                          {"standard", ScalingMethod::standard},
                          {"maxabs", ScalingMethod::maxabs}},
                         "Scale the columns; kept in the model and applied when predicting"));
  add_sampling_options(table);
  table.push_back({"polish",
                   "",
                   "",
                   "Go on from the machine of a method that looked at a part of the rows to the "
                   "optimum on all of them",
                   {},
                   [](O& o, std::string_view text) {
                     if (!text.empty() && text != "true" && text != "false")
                       throw InvalidArgument(fmt::format("polish is '{}': true or false", text));
                     o.polish = text != "false";
                   },
                   [](const O& o) { return std::string(o.polish ? "true" : "false"); },
                   methods_on_a_part()});
  table.push_back(number("seed", "", &O::seed, "Seed of everything random"));
  table.push_back(
      number("eps", "e", &O::eps, "Stop when the optimality conditions hold to this, > 0"));
  table.push_back(
      number("max-iterations", "", &O::max_iterations,
             "Stop each machine after this many pair updates (linear: epochs); 0: no limit"));
  table.push_back(
      number("max-seconds", "", &O::max_seconds,
             "Stop training after this many seconds, with a usable model; 0: no limit"));
  table.push_back(for_kernels(
      {"cache",
       "m",
       "MB",
       "Megabytes for kernel rows (or a size with K, M, G); 0: what --memory leaves",
       {},
       [](O& o, std::string_view text) { o.cache_bytes = parse_cache(text); },
       [](const O& o) {
         return o.cache_bytes == 0 ? std::string("0") : fmt::format("{}B", o.cache_bytes);
       }}));
  add_sift_options(table);
  add_local_sampling_options(table);
  add_leader_options(table);
  add_local_options(table);
  add_ensemble_options(table);
  return table;
}

}  // namespace

bool applies_to(const OptionDescription& option, std::string_view method) {
  return option.methods.empty() ||
         std::find(option.methods.begin(), option.methods.end(), method) != option.methods.end();
}

const std::vector<OptionDescription>& train_option_table() {
  static const std::vector<OptionDescription> table = make_table();
  return table;
}

void set_option(TrainOptions& options, std::string_view name, std::string_view value) {
  for (const OptionDescription& option : train_option_table()) {
    if (option.name == name) return option.set(options, value);
  }
  throw InvalidArgument(fmt::format("there is no training option '{}'", name));
}

}  // namespace tamis
