#include "tamis/options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/memory.hpp"
#include "training/method_options.hpp"
#include "training/method_table.hpp"
#include "training/option_builders.hpp"

namespace tamis {
namespace {

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

std::vector<std::string_view> method_choices() {
  std::vector<std::string_view> names = method_names();
  names.push_back(kAutoMethod);
  return names;
}

std::vector<std::string_view> methods_on_a_part() {
  std::vector<std::string_view> names;
  for (const MethodEntry& method : method_table()) {
    if (method.looks_at_part) names.push_back(method.name);
  }
  return names;
}

// Options of kernels, which a linear machine has not.
OptionDescription for_kernels(OptionDescription option) {
  for (const MethodEntry& method : method_table()) {
    if (method.uses_kernel) option.methods.push_back(method.name);
  }
  option.methods.push_back(kAutoMethod);
  return option;
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
  add_opt_margin_options(table);
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
