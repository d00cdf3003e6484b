// Linear SVMs.
#include "options/option_builder.hpp"

namespace tamis {
namespace {

using O = TrainOptions;

OptionDescription bias_option() {
  OptionDescription option;
  option.name = "bias";
  option.letter = "B";
  option.type = OptionType::number;
  option.value = "NUMBER";
  option.help =
      "Intercept: none, free (not penalized), or the value of an extra column whose weight is "
      "penalized like any other (-B of LIBLINEAR, whose default is none; below 0: none)";
  option.choices = {"none", "free"};
  option.set = [](O& options, const OptionValue& value) {
    if (const auto* word = std::get_if<std::string>(&value)) {
      if (*word != "none" && *word != "free")
        fail_choice("bias", *word, {"a number", "none", "free"});
      options.bias = {*word == "free" ? Bias::Rule::free : Bias::Rule::none, 1};
      return;
    }
    const double number = number_of("bias", value);
    options.bias = number < 0 ? Bias{} : Bias{Bias::Rule::penalized, number};
  };
  option.get = [](const O& options) -> OptionValue {
    if (options.bias.rule == Bias::Rule::penalized) return options.bias.value;
    return std::string(options.bias.rule == Bias::Rule::free ? "free" : "none");
  };
  option.check = [](const O& options) {
    if (options.bias.rule == Bias::Rule::penalized)
      require_in(above(0), "bias", options.bias.value, "none or free");
  };
  return option;
}

}  // namespace

void add_linear_options(std::vector<OptionDescription>& table) { table.push_back(bias_option()); }

}  // namespace tamis
