// What every method has, and what every method with a kernel has.
#include <fmt/format.h>

#include "options/option_builder.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

using O = TrainOptions;

// A number that zero switches off.
OptionDescription limit_option(OptionDescription option) {
  option.unset = "none";
  const auto set = option.set;
  const auto get = option.get;
  option.set = [set](O& options, const OptionValue& value) {
    set(options,
        std::holds_alternative<std::monostate>(value) ? OptionValue(std::int64_t{0}) : value);
  };
  option.get = [get, name = option.name](const O& options) {
    const OptionValue value = get(options);
    return number_of(name, value) == 0 ? OptionValue() : value;
  };
  return option;
}

OptionDescription gamma_option() {
  OptionDescription option;
  option.name = "gamma";
  option.letter = "g";
  option.type = OptionType::number;
  option.value = "NUMBER";
  option.help =
      "Kernel coefficient; scale: 1 / (features * variance of all values), auto: 1 / features";
  option.range = "greater than 0";
  option.choices = {"scale", "auto"};
  option.unset = "automatic";
  option.default_help = "method auto: chosen by trials";
  option.set = [](O& options, const OptionValue& value) {
    if (std::holds_alternative<std::monostate>(value)) {
      options.gamma.reset();
    } else if (const auto* word = std::get_if<std::string>(&value)) {
      if (*word != "scale" && *word != "auto")
        fail_choice("gamma", *word, {"a number", "scale", "auto"});
      options.gamma = *word == "scale" ? Gamma::Rule::scale : Gamma::Rule::per_features;
    } else {
      options.gamma = Gamma(number_of("gamma", value));
    }
  };
  option.get = [](const O& options) -> OptionValue {
    const Gamma gamma = options.gamma_or_default();
    if (gamma.rule == Gamma::Rule::value) return gamma.value;
    return std::string(gamma.rule == Gamma::Rule::scale ? "scale" : "auto");
  };
  option.check = [](const O& options) {
    if (options.gamma && options.gamma->rule == Gamma::Rule::value)
      require_in(above(0), "gamma", options.gamma->value, "scale or auto");
  };
  return option;
}

// A plain number is megabytes, as LIBSVM's.
std::int64_t cache_of(const OptionValue& value) {
  if (const auto* word = std::get_if<std::string>(&value)) {
    try {
      return parse_bytes(*word);
    } catch (const InvalidArgument&) {
      throw InvalidArgument(fmt::format(
          "cache is '{}': give megabytes, or a size with K, M or G, or automatic", *word));
    }
  }
  return static_cast<std::int64_t>(number_of("cache", value) * (1 << 20));
}

OptionDescription cache_option() {
  OptionDescription option;
  option.name = "cache";
  option.letter = "m";
  option.type = OptionType::choice;
  option.value = "MB";
  option.help = "Kernel cache in megabytes, or a size with K, M or G; never changes the result";
  option.unset = "automatic";
  option.default_help = "what the memory budget leaves";
  option.set = [](O& options, const OptionValue& value) {
    if (std::holds_alternative<std::monostate>(value)) {
      options.cache_bytes.reset();
      return;
    }
    const auto* word = std::get_if<std::string>(&value);
    const bool plain = word != nullptr && !word->empty() &&
                       word->find_first_not_of("0123456789.") == std::string::npos;
    options.cache_bytes = cache_of(plain ? OptionValue(*word + "M") : value);
  };
  option.get = [](const O& options) -> OptionValue {
    if (!options.cache_bytes) return {};
    return fmt::format("{}B", *options.cache_bytes);
  };
  option.check = [](const O& options) {
    if (options.cache_bytes)
      require_in(at_least(0), "cache", static_cast<double>(*options.cache_bytes), "automatic");
  };
  return option;
}

OptionDescription class_weight_option() {
  OptionDescription option;
  option.name = "class-weight";
  option.task = Task::classification;
  option.type = OptionType::labels;
  option.value = "LABEL:FACTOR,..";
  option.help =
      "Factors on C per class, for example -1:5; balanced: inversely proportional to the number of "
      "rows of the class";
  option.choices = {"balanced"};
  option.set = [](O& options, const OptionValue& value) {
    if (const auto* word = std::get_if<std::string>(&value)) {
      if (*word != "balanced") fail_choice("class-weight", *word, {"label:factor", "balanced"});
      options.balanced = true;
      options.class_weights.clear();
      return;
    }
    LabelNumbers weights = labels_of("class-weight", value);
    for (const auto& [label, factor] : weights) {
      if (label.empty())
        throw InvalidArgument(
            fmt::format("class-weight '{}': write label:factor, for example -1:5", factor));
    }
    options.balanced = false;
    options.class_weights = std::move(weights);
  };
  option.get = [](const O& options) -> OptionValue {
    if (options.balanced) return std::string("balanced");
    return options.class_weights;
  };
  option.check = [](const O& options) {
    for (const auto& [label, factor] : options.class_weights)
      require_in(above(0), "the weight of class " + label, factor);
  };
  return option;
}

// A field that reads as its default while nobody set it.
template <typename Default>
OptionDescription with_default(OptionDescription option, std::string_view chosen_by_auto,
                               Default value) {
  option.default_help = chosen_by_auto;
  const auto get = option.get;
  option.get = [get, value](const O& options) -> OptionValue {
    const OptionValue stored = get(options);
    return std::holds_alternative<std::monostate>(stored) ? OptionValue(value) : stored;
  };
  return option;
}

// A choice that the method auto makes when it is not given; the others take `otherwise`.
OptionDescription automatic_choice(OptionDescription option, void (*reset)(O&),
                                   std::string_view default_help, std::string otherwise) {
  option.unset = "automatic";
  const auto set = option.set;
  option.set = [set, reset](O& options, const OptionValue& value) {
    if (std::holds_alternative<std::monostate>(value))
      reset(options);
    else
      set(options, value);
  };
  return with_default(option, default_help, std::move(otherwise));
}

OptionDescription kernel_option() {
  OptionDescription option = choice_option<std::optional<KernelType>>(
      {"kernel", "t", "Kernel; LIBSVM's numbers 0 to 4 mean the same"},
      [](auto& o) -> auto& { return o.kernel; },
      {{"linear", KernelType::linear},
       {"polynomial", KernelType::polynomial},
       {"rbf", KernelType::rbf},
       {"sigmoid", KernelType::sigmoid},
       {"precomputed", KernelType::precomputed},
       {"laplacian", KernelType::laplacian}});
  option.set = [](O& options, const OptionValue& value) {
    options.kernel = parse_kernel_type(word_of("kernel", value));
  };
  return automatic_choice(
      option, [](O& options) { options.kernel.reset(); },
      "method auto: rbf or laplacian, by trials", "rbf");
}

OptionDescription scale_option() {
  OptionDescription option = choice_option<std::optional<ScalingMethod>>(
      {"scale", "", "Scaling of the columns; kept in the model and applied when predicting"},
      [](auto& o) -> auto& { return o.scaling; },
      {{"none", ScalingMethod::none},
       {"minmax", ScalingMethod::minmax},
       {"standard", ScalingMethod::standard},
       {"maxabs", ScalingMethod::maxabs},
       {"robust", ScalingMethod::robust},
       {"quantile", ScalingMethod::quantile}});
  return automatic_choice(
      option, [](O& options) { options.scaling.reset(); }, "method auto: chosen by trials", "none");
}

OptionDescription only_for(Task task, OptionDescription option) {
  option.task = task;
  return option;
}

void add(std::vector<OptionDescription>& table, OptionGroup group,
         std::vector<OptionDescription> options) {
  for (OptionDescription& option : options) {
    option.group = group;
    table.push_back(std::move(option));
  }
}

}  // namespace

void add_common_options(std::vector<OptionDescription>& table) {
  const std::string_view chosen = "method auto: chosen by trials";
  add(table, OptionGroup::common,
      {choice_option<Task>(
           {"task", "", "What is learned: classes, or a number (epsilon-SVR)"},
           [](auto& o) -> auto& { return o.task; },
           {{"classification", Task::classification}, {"regression", Task::regression}}),
       with_default(number_option(
                        {"cost", "c", "C, the training error penalty"},
                        [](auto& o) -> auto& { return o.cost; }, above(0)),
                    chosen, TrainOptions().cost_or_default()),
       choice_option<SlackLoss>({"loss", "", "Training error: the slack (l1) or its square (l2)"},
                                [](auto& o) -> auto& { return o.loss; },
                                {{"l1", SlackLoss::l1}, {"l2", SlackLoss::l2}}),
       only_for(
           Task::regression,
           with_default(number_option(
                            {"tube", "p", "Regression: errors up to this cost nothing (epsilon)"},
                            [](auto& o) -> auto& { return o.tube; }, at_least(0)),
                        "method auto: 10 % of the standard deviation of the targets",
                        TrainOptions().tube_or_default())),
       class_weight_option(),
       choice_option<MissingValues>(
           {"missing", "",
            "Missing values: refuse them, or impute the median of the column and add a column that "
            "says where they were; kept in the model"},
           [](auto& o) -> auto& { return o.missing; },
           {{"refuse", MissingValues::refuse}, {"impute", MissingValues::impute}}),
       choice_option<TextColumns>(
           {"text-columns", "",
            "Columns of words: refuse them, or one-hot columns of zeros and ones, one per "
            "category; "
            "kept in the model"},
           [](auto& o) -> auto& { return o.text_columns; },
           {{"refuse", TextColumns::refuse}, {"one-hot", TextColumns::one_hot}}),
       number_option(
           {"max-categories", "",
            "Categories of a text column with a column of their own, the most frequent; "
            "the others share one"},
           [](auto& o) -> auto& { return o.max_categories; }, between(1, 10'000)),
       scale_option(),
       number_option(
           {"seed", "", "Random seed"}, [](auto& o) -> auto& { return o.seed; }, at_least(0)),
       number_option(
           {"eps", "e", "Tolerance of the KKT conditions"}, [](auto& o) -> auto& { return o.eps; },
           above(0)),
       limit_option(number_option(
           {"max-iterations", "",
            "Limit on pair updates (linear: epochs) per binary SVM (no limit if 0)"},
           [](auto& o) -> auto& { return o.max_iterations; }, at_least(0))),
       limit_option(number_option(
           {"max-seconds", "",
            "Time limit of the training; the model is usable when it ends early (no limit if 0)"},
           [](auto& o) -> auto& { return o.max_seconds; }, at_least(0)))});
  table.push_back(only_for(
      Task::classification,
      choice_option<Multiclass>(
          {"multiclass", "",
           "Multi-class strategy: one binary SVM per pair of classes with "
           "majority vote, or one per class"},
          [](auto& o) -> auto& { return o.multiclass; },
          {{"one-vs-one", Multiclass::one_vs_one}, {"one-vs-rest", Multiclass::one_vs_rest}})));
}

void add_kernel_options(std::vector<OptionDescription>& table) {
  add(table, OptionGroup::kernel,
      {kernel_option(), gamma_option(),
       with_default(
           number_option(
               {"metric-rounds", "",
                "Rounds of learning feature weights: each trains on a part of the rows and "
                "scales the columns by the gradient of the model; the best round on "
                "held-out rows counts"},
               [](auto& o) -> auto& { return o.metric_rounds; }, between(0, 100)),
           "method auto: chosen by trials", std::int64_t{0}),
       choice_option<MetricForm>(
           {"metric", "",
            "What these rounds learn: diagonal, a weight for each column; full, a matrix that "
            "mixes the columns too, for at most 300 columns"},
           [](auto& o) -> auto& { return o.metric; },
           {{"diagonal", MetricForm::diagonal}, {"full", MetricForm::full}}),
       number_option(
           {"coef0", "r", "Constant of the polynomial and sigmoid kernels"},
           [](auto& o) -> auto& { return o.coef0; }, any_number()),
       number_option(
           {"degree", "d", "Degree of the polynomial kernel"},
           [](auto& o) -> auto& { return o.degree; }, between(1, 100)),
       cache_option()});
}

}  // namespace tamis
