// The one description of each option, against the descriptors of the methods.
#include <gtest/gtest.h>

#include <set>

#include "tamis/error.hpp"
#include "tamis/options.hpp"
#include "training/registry.hpp"

namespace tamis {
namespace {

TEST(OptionTable, EveryOptionThatAMethodNamesIsDescribed) {
  for (const Method& method : method_registry()) {
    std::set<std::string_view> names;
    for (const std::string_view option : method.info.options) {
      EXPECT_NO_THROW(find_option(option)) << method.info.name;
      EXPECT_TRUE(names.insert(option).second)
          << method.info.name << " names " << option << " twice";
      EXPECT_EQ(find_option(option).group, OptionGroup::method) << option;
    }
  }
}

TEST(OptionTable, EveryOptionIsOfSomeMethod) {
  for (const OptionDescription& option : train_option_table())
    EXPECT_EQ(option.methods.empty(), option.group == OptionGroup::common) << option.name;
}

TEST(OptionTable, DescribesItselfCompletely) {
  for (const OptionDescription& option : train_option_table()) {
    SCOPED_TRACE(option.name);
    EXPECT_FALSE(option.help.empty());
    EXPECT_EQ(option.value.empty(), option.type == OptionType::flag);
    EXPECT_TRUE(option.set && option.get && option.check);
    const bool is_number = option.type == OptionType::number || option.type == OptionType::integer;
    const bool any_number = option.name == "coef0" || option.name == "bias";
    EXPECT_TRUE(!is_number || any_number || !option.range.empty());
  }
}

// What the table calls automatic is an empty value, not a number with a meaning of its own.
TEST(OptionTable, AutomaticGoesThereAndBack) {
  for (const OptionDescription& option : train_option_table()) {
    if (option.unset.empty()) continue;
    SCOPED_TRACE(option.name);
    TrainOptions options;
    option.set_text(options, option.unset);
    EXPECT_NO_THROW(option.check(options));
    if (option.text(options) == option.unset) {
      EXPECT_TRUE(std::holds_alternative<std::monostate>(option.get(options)));
    }
  }
}

TEST(OptionTable, TypedValuesOfTheWrongTypeAreRefusedByName) {
  TrainOptions options;
  for (const OptionDescription& option : train_option_table()) {
    SCOPED_TRACE(option.name);
    const bool takes_labels = option.type == OptionType::labels;
    const OptionValue wrong =
        takes_labels ? OptionValue(true) : OptionValue(LabelNumbers{{"a", 1}});
    try {
      option.set(options, wrong);
      ADD_FAILURE() << "took a value of another type";
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(option.name), std::string::npos) << error.what();
    }
  }
}

TEST(OptionTable, AnUnknownNameSuggestsTheNearest) {
  try {
    find_option("gama");
    ADD_FAILURE() << "found";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean gamma?"), std::string::npos)
        << error.what();
  }
}

TEST(Gamma, IsMadeFromANumber) {
  const TrainOptions options{.gamma = 2.0};
  ASSERT_TRUE(options.gamma.has_value());
  EXPECT_EQ(options.gamma->rule, Gamma::Rule::value);
  EXPECT_EQ(options.gamma->value, 2.0);
}

}  // namespace
}  // namespace tamis
