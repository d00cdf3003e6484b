// Random sampling with a certificate: opt-margin, opt-soft-margin.
#include "options/option_builder.hpp"

namespace tamis {
namespace {

using O = TrainOptions;

OptionDescription margin_k_option() {
  OptionDescription option;
  option.name = "margin-k";
  option.type = OptionType::number;
  option.value = "NUMBER";
  option.help = "k = 1/D of the reduced convex hulls; smallest: the smallest that separates";
  option.range = "at least 1";
  option.choices = {"smallest"};
  option.unset = "automatic";
  option.default_help = "what C (classification) or nu (regression) asks for";
  option.set = [](O& options, const OptionValue& value) {
    if (std::holds_alternative<std::monostate>(value)) {
      options.opt_margin.margin_k = {};
    } else if (const auto* word = std::get_if<std::string>(&value)) {
      if (*word != "smallest")
        fail_choice("margin-k", *word, {"a number", "smallest", "automatic"});
      options.opt_margin.margin_k = MarginK::Rule::smallest;
    } else {
      options.opt_margin.margin_k = number_of("margin-k", value);
    }
  };
  option.get = [](const O& options) -> OptionValue {
    const MarginK& k = options.opt_margin.margin_k;
    if (k.rule == MarginK::Rule::value) return k.value;
    return k.rule == MarginK::Rule::smallest ? OptionValue(std::string("smallest")) : OptionValue();
  };
  option.check = [](const O& options) {
    const MarginK& k = options.opt_margin.margin_k;
    if (k.rule == MarginK::Rule::value)
      require_in(at_least(1), "margin-k", k.value, "smallest or automatic");
  };
  return option;
}

// A choice for the command line, where no flag can switch off what is on by default.
OptionDescription carry_support_option() {
  const auto field = [](auto& o) -> auto& { return o.opt_margin.carry_support; };
  OptionDescription option = choice_option<bool>(
      {"carry-support", "",
       "Keep the support vectors of one draw in the next (yes is faster; no follows the paper)"},
      field, {{"yes", true}, {"no", false}});
  const auto set = option.set;
  option.set = [field, set](O& options, const OptionValue& value) {
    if (const auto* flag = std::get_if<bool>(&value))
      field(options) = *flag;
    else
      set(options, value);
  };
  return option;
}

}  // namespace

void add_opt_margin_options(std::vector<OptionDescription>& table) {
  table.push_back(margin_k_option());
  table.push_back(number_option(
      {"nu", "", "k as a fraction of the rows, k = nu rows / 2; alternative to margin-k"},
      [](auto& o) -> auto& { return o.opt_margin.nu; }, above_up_to(0, 1),
      {"automatic", "not used; 0.5 for a regression without margin-k"}));
  table.push_back(number_option({"draw", "", "Rows of the first draw"},
                                [](auto& o) -> auto& { return o.opt_margin.draw; }, at_least(1),
                                {"automatic", "6 (features + 1)^2, at most 1500"}));
  table.push_back(carry_support_option());
  table.push_back(choice_option<StalledDelta>(
      {"stalled-delta", "",
       "Change of delta when rounds stall and draws are doubled (double follows the paper)"},
      [](auto& o) -> auto& { return o.opt_margin.stalled_delta; },
      {{"halve", StalledDelta::halve}, {"double", StalledDelta::doubling}}));
  table.push_back(flag_option(
      {"discount-outliers", "",
       "Halve the penalty of a misclassified row whenever its sampling weight is doubled"},
      [](auto& o) -> auto& { return o.opt_margin.discount_outliers; }));
}

}  // namespace tamis
