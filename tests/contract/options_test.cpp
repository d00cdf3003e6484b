// Every option of the table: bad values are refused by name, good ones do something.
#include <map>
#include <set>

#include "contract/fixtures.hpp"

namespace tamis::testing {
namespace {

struct BadValues {
  std::vector<std::string> values;
  std::string in_message;                                     ///< how the message names the option
  std::vector<std::pair<std::string, std::string>> together;  ///< other options it needs
};

// When you add an option, add what it must refuse.
const std::map<std::string, BadValues>& bad_values() {
  static const std::map<std::string, BadValues> table{
      {"method", {{"", "nonsense", "EXACT"}, "method", {}}},
      {"task", {{"", "clustering"}, "task", {}}},
      {"kernel", {{"", "gauss", "5", "-1"}, "kernel", {}}},
      {"gamma", {{"", "0", "-1", "nan", "inf", "x", "1x", "1,5"}, "gamma", {}}},
      {"coef0", {{"", "nan", "inf", "x"}, "coef0", {{"kernel", "polynomial"}}}},
      {"degree", {{"", "0", "-1", "101", "2.5", "x"}, "degree", {{"kernel", "polynomial"}}}},
      {"cost", {{"", "0", "-1", "nan", "inf", "x", "1e999"}, "cost", {}}},
      {"loss", {{"", "l3"}, "loss", {}}},
      {"bias", {{"", "0", "nan", "inf", "x", "Free"}, "bias", {{"method", "linear"}}}},
      {"tube", {{"", "-0.1", "nan", "inf", "x"}, "tube", {{"task", "regression"}}}},
      {"class-weight", {{"5", "1:0", "1:-2", "1:nan", "1:inf", "1:x", "1:2,", "9:2"}, "class", {}}},
      {"multiclass", {{"", "all-pairs"}, "multiclass", {}}},
      {"missing", {{"", "mean", "yes"}, "missing", {}}},
      {"text-columns", {{"", "hash", "yes"}, "text-columns", {}}},
      {"max-categories",
       {{"", "0", "-1", "10001", "2.5", "x"}, "max-categories", {{"text-columns", "one-hot"}}}},
      {"scale", {{"", "unit"}, "scale", {}}},
      {"seed", {{"", "-1", "1.5", "x", "99999999999999999999999"}, "seed", {}}},
      {"eps", {{"", "0", "-1", "nan", "inf", "x"}, "eps", {}}},
      {"max-iterations", {{"", "-1", "1.5", "x", "99999999999999999999999"}, "max-iterations", {}}},
      {"max-seconds", {{"", "-1", "nan", "inf", "x"}, "max-seconds", {}}},
      {"cache", {{"", "-1", "x", "1Q", "1e999"}, "cache", {}}},
      {"delta", {{"", "0", "-0.1", "-1", "1.01", "nan", "x"}, "delta", {{"method", "subsample"}}}},
      {"neighbors", {{"", "-1", "2.5", "x"}, "neighbors", {{"method", "cglq"}}}},
      {"validation-fraction",
       {{"", "0", "-1", "0.6", "nan", "x"}, "validation-fraction", {{"method", "cglq"}}}},
      {"patience", {{"", "0", "-1", "x"}, "patience", {{"method", "cglq"}}}},
      {"improvement", {{"", "-0.1", "1", "nan", "x"}, "improvement", {{"method", "cglq"}}}},
      {"max-rounds", {{"", "0", "-1", "x"}, "max-rounds", {{"method", "cglq"}}}},
      {"subsamples",
       {{"", "0", "-1", "x", "1000"}, "subsamples", {{"method", "local-sampling"}, {"beta", "1"}}}},
      {"beta", {{"", "0", "-1", "nan", "inf", "x"}, "beta", {{"method", "local-sampling"}}}},
      {"beta-start",
       {{"", "0", "-1", "nan", "inf", "x"}, "beta-start", {{"method", "local-sampling"}}}},
      {"intensity", {{"", "much"}, "intensity", {{"method", "local-sampling"}}}},
      {"budget", {{"", "0", "-1", "1.1", "nan"}, "budget", {{"method", "local-sampling"}}}},
      {"draw-weights", {{"", "1"}, "draw-weights", {{"method", "local-sampling"}}}},
      {"threshold",
       {{"", "0", "-1", "nan", "inf", "x", "1:0", "0.1,1:-1", "1:0.1", "9:0.1,0.1"},
        "threshold",
        {{"method", "leader"}}}},
      {"leaders", {{"", "0", "-1", "2.5", "x"}, "leaders", {{"method", "leader"}}}},
      {"leader-gamma",
       {{"", "0", "-1", "nan", "inf", "x"}, "leader-gamma", {{"method", "leader"}}}},
      {"leader-weights", {{"", "1"}, "leader-weights", {{"method", "leader"}}}},
      {"refine", {{"", "-1", "11", "0.5", "x"}, "refine", {{"method", "leader"}}}},
      {"boundary", {{"", "1"}, "boundary", {{"method", "leader"}}}},
      {"k", {{"", "0", "-1", "2.5", "x"}, "k is", {{"method", "falk"}}}},
      {"k-prime", {{"", "0", "-1", "11", "x"}, "k-prime", {{"method", "falk"}, {"k", "10"}}}},
      {"index", {{"", "r-tree"}, "index", {{"method", "falk"}}}},
      {"local-tuning", {{"maybe", "1"}, "local-tuning", {{"method", "falk"}}}},
      {"cell-rows", {{"", "0", "99", "200.5", "x"}, "cell-rows", {{"method", "falk"}}}},
      {"selection-rule", {{"", "best"}, "selection-rule", {{"method", "falk-l"}}}},
      {"selection-centres", {{"", "0", "-1", "x"}, "selection-centres", {{"method", "falk-l"}}}},
      {"selection-folds", {{"", "0", "1", "x"}, "selection-folds", {{"method", "falk-l"}}}},
      {"k-grid", {{"", "1", "x", "10,x", "-5"}, "k-grid", {{"method", "falk-l"}}}},
      {"cost-grid", {{"", "0", "-1", "nan", "x"}, "cost-grid", {{"method", "falk-l"}}}},
      {"percentiles", {{"", "-1", "101", "nan", "x"}, "percentiles", {{"method", "falk-l"}}}},
      {"margin-k",
       {{"", "0", "0.5", "-1", "nan", "inf", "x", "least"},
        "margin-k",
        {{"method", "opt-soft-margin"}}}},
      {"nu", {{"", "0", "-0.1", "1.1", "nan", "x"}, "nu", {{"method", "opt-soft-margin"}}}},
      {"draw", {{"", "0", "-1", "2.5", "x"}, "draw", {{"method", "opt-margin"}}}},
      {"carry-support", {{"", "true", "maybe"}, "carry-support", {{"method", "opt-margin"}}}},
      {"stalled-delta", {{"", "quarter"}, "stalled-delta", {{"method", "opt-margin"}}}},
      {"discount-outliers", {{"maybe", "1"}, "discount-outliers", {{"method", "opt-soft-margin"}}}},
      {"polish", {{"maybe", "1"}, "polish", {{"method", "subsample"}}}},
      {"metric-rounds", {{"", "-1", "101", "2.5", "x"}, "metric-rounds", {}}},
      {"metric", {{"", "matrix"}, "metric", {}}},
      {"members", {{"", "0", "-1", "x"}, "members", {{"method", "random-subset"}}}},
      {"candidates", {{"", "0", "-1", "x"}, "candidates", {{"method", "random-subset"}}}},
      {"parameter-draws", {{"", "0", "-1", "x"}, "parameter-draws", {{"method", "random-subset"}}}},
      {"mixed-kernels", {{"maybe", "1"}, "mixed-kernels", {{"method", "random-subset"}}}},
      {"subset-sampling", {{"", "even"}, "subset-sampling", {{"method", "random-subset"}}}},
      {"member-value", {{"", "vote"}, "member-value", {{"method", "random-subset"}}}},
      {"trials", {{"", "0", "-1", "x"}, "trials", {{"method", "ransac"}}}},
      {"subset-rows", {{"", "0", "-1", "2.5", "x"}, "subset-rows", {{"method", "random-subset"}}}},
      {"cost-range",
       {{"", "1", "0,1", "2,1", "1,2,3", "nan,1", "1,inf", "x,1"},
        "cost-range",
        {{"method", "random-subset"}}}},
      {"gamma-range",
       {{"", "1", "0,1", "2,1", "1,2,3", "nan,1", "1,inf", "x,1"},
        "gamma-range",
        {{"method", "random-subset"}}}},
      {"search-trials", {{"", "-1", "x"}, "search-trials", {{"method", "random-subset"}}}},
      {"score-rows", {{"", "0", "-1", "x"}, "score-rows", {{"method", "random-subset"}}}},
      {"combine", {{"", "vote"}, "combine", {{"method", "random-subset"}}}},
      {"combine-cost",
       {{"", "0", "-1", "nan", "x"}, "combine-cost", {{"method", "random-subset"}}}},
  };
  return table;
}

Dataset small_data() { return named(clouds(30, 3, 3, 1), {1.0, 2.0, 3.0}); }

TEST(Options, BadValuesAreRefusedByName) {
  for (const OptionDescription& option : train_option_table()) {
    const std::string name(option.name);
    const auto found = bad_values().find(name);
    ASSERT_NE(found, bad_values().end()) << "say which values " << name << " must refuse";
    for (const std::string& value : found->second.values) {
      if (name == "class-weight" && value == "1:2,") continue;  // a comma at the end is harmless
      SCOPED_TRACE(name + " = '" + value + "'");
      const std::string message = error_of<InvalidArgument>([&] {
        TrainOptions options;
        for (const auto& [other, text] : found->second.together) set_option(options, other, text);
        set_option(options, name, value);
        train(small_data(), options);
      });
      EXPECT_NE(message.find(found->second.in_message), std::string::npos) << message;
    }
  }
  error_of<InvalidArgument>([] {
    TrainOptions options;
    set_option(options, "no-such-option", "1");
  });
}

TEST(Options, FieldsSetInCodeAreCheckedToo) {
  const auto refused = [](const char* what, const auto& change) {
    TrainOptions options;
    change(options);
    const std::string message = error_of<InvalidArgument>([&] { options.validate(); });
    EXPECT_NE(message.find(what), std::string::npos) << message;
  };
  refused("cache", [](TrainOptions& o) { o.cache_bytes = -1; });
  refused("max-iterations", [](TrainOptions& o) { o.max_iterations = -5; });
  refused("gamma", [](TrainOptions& o) { o.gamma = {Gamma::Rule::value, -1}; });
  refused("class", [](TrainOptions& o) { o.class_weights = {{"a", 0.0}}; });
  refused("leaders", [](TrainOptions& o) {
    o.leader.threshold = 0.1;
    o.leader.leaders = 100;
  });
  RunControl control;
  control.threads = -1;
  error_of<InvalidArgument>([&] { train(small_data(), {}, control); });
}

TEST(Options, TextGoesThereAndBack) {
  const std::map<std::string, std::vector<std::string>> values{
      {"gamma", {"0.25", "scale", "auto"}},  {"class-weight", {"balanced", "1:2,-1:0.5", "a:b:3"}},
      {"cache", {"100", "2G", "automatic"}}, {"threshold", {"0.25", "0.1,-1:0.05,a:b:3"}},
      {"cost", {"1e-3", "12345.678"}},       {"seed", {"9223372036854775807"}}};
  std::set<std::string> names;
  for (const OptionDescription& option : train_option_table()) {
    SCOPED_TRACE(option.name);
    EXPECT_TRUE(names.insert(std::string(option.name)).second) << "listed twice";
    EXPECT_FALSE(option.help.empty());
    std::vector<std::string> tried{option.text(TrainOptions())};
    for (const std::string_view choice : option.choices) tried.emplace_back(choice);
    if (const auto more = values.find(std::string(option.name)); more != values.end())
      tried.insert(tried.end(), more->second.begin(), more->second.end());
    for (const std::string& text : tried) {
      if (option.name == "class-weight" && text.empty()) continue;
      TrainOptions once;
      option.set_text(once, text);
      TrainOptions twice;
      option.set_text(twice, option.text(once));
      EXPECT_EQ(option.text(once), option.text(twice)) << text;
    }
  }
}

struct Effect {
  std::string value;
  std::vector<std::pair<std::string, std::string>> together;
  Index rows = 90;
};

// A value that must give another model than the default. Options that only limit time or rounds, or
// draw random numbers a method may not need, are tested elsewhere; those that never change a result
// are listed below.
TEST(Options, EachChangesTheModelOrOnlyTheSpeed) {
  const std::vector<std::pair<std::string, std::string>> ensemble{
      {"method", "random-subset"}, {"members", "5"}, {"subset-rows", "20"}};
  const std::map<std::string, Effect> effects{
      {"kernel", {"linear", {}}},
      {"gamma", {"0.9", {}}},
      {"coef0", {"1", {{"kernel", "polynomial"}}}},
      {"degree", {"2", {{"kernel", "polynomial"}}}},
      {"cost", {"5", {}}},
      {"loss", {"l2", {}}},
      {"bias", {"2", {{"method", "linear"}}}},
      {"tube", {"0.7", {{"task", "regression"}}}},
      {"class-weight", {"2:4", {}}},
      {"multiclass", {"one-vs-rest", {}}},
      {"missing", {"impute", {}}},
      {"scale", {"minmax", {}}},
      {"metric-rounds", {"4", {}, 400}},
      {"metric", {"full", {{"metric-rounds", "4"}}, 400}},
      {"task", {"regression", {}}},
      {"eps", {"0.5", {}}},
      {"max-iterations", {"3", {}}},
      {"delta", {"0.2", {{"method", "subsample"}}, 3000}},
      {"neighbors", {"2", {{"method", "cglq"}}, 3000}},
      {"validation-fraction", {"0.3", {{"method", "cglq"}}, 3000}},
      {"max-rounds", {"1", {{"method", "local-sampling"}}, 3000}},
      {"subsamples", {"2", {{"method", "local-sampling"}, {"delta", "0.2"}}, 3000}},
      {"beta", {"0.7", {{"method", "local-sampling"}}, 3000}},
      {"beta-start", {"1.5", {{"method", "local-sampling"}, {"patience", "1"}}, 3000}},
      {"intensity", {"literal", {{"method", "local-sampling"}, {"beta", "1"}}, 3000}},
      {"budget", {"0.2", {{"method", "local-sampling"}, {"beta", "1"}}, 3000}},
      {"draw-weights", {"inverse", {{"method", "local-sampling"}, {"beta", "1"}}, 3000}},
      {"threshold", {"0.2,1:0.3", {{"method", "leader"}}}},
      {"leaders", {"40", {{"method", "leader"}}}},
      {"leader-gamma", {"2", {{"method", "leader"}, {"threshold", "0.5"}}}},
      {"leader-weights", {"cluster", {{"method", "leader"}, {"threshold", "0.5"}}}},
      {"refine", {"1", {{"method", "leader"}, {"threshold", "0.5"}}}},
      {"boundary", {"leaders", {{"method", "leader"}}, 3000}},
      {"k", {"20", {{"method", "falk"}}}},
      {"k-prime", {"3", {{"method", "falk"}, {"k", "20"}}}},
      {"local-tuning", {"yes", {{"method", "falk"}, {"k", "20"}}}},
      {"cell-rows", {"100", {{"method", "falk"}, {"k", "20"}}, 400}},
      {"selection-rule", {"smoothest", {{"method", "falk-l"}, {"k-grid", "8,16,32"}}}},
      {"selection-centres", {"1", {{"method", "falk-l"}, {"k-grid", "8,16,32"}}}},
      {"selection-folds",
       {"2", {{"method", "falk-l"}, {"k-grid", "8,16,32"}, {"selection-centres", "1"}}}},
      {"k-grid", {"7", {{"method", "falk-l"}}}},
      {"cost-grid", {"0.1", {{"method", "falk-l"}}}},
      {"percentiles", {"5", {{"method", "falk-l"}}}},
      {"members", {"4", ensemble}},
      {"candidates", {"3", ensemble}},
      {"parameter-draws", {"3", ensemble}},
      {"mixed-kernels", {"yes", ensemble}},
      {"subset-sampling", {"balanced", ensemble}},
      {"member-value", {"probability", ensemble}},
      {"trials", {"1", {{"method", "ransac"}, {"subset-rows", "20"}}}},
      {"subset-rows", {"19", ensemble}},
      {"cost-range", {"1,1", ensemble}},
      {"gamma-range", {"1,1", ensemble}},
      {"search-trials", {"4", ensemble}},
      {"score-rows", {"30", ensemble}},
      {"combine", {"average", ensemble}},
      {"combine-cost", {"1", ensemble}},
      {"margin-k", {"20", {{"method", "opt-soft-margin"}}}},
      {"nu", {"0.6", {{"method", "opt-soft-margin"}}}},
      {"carry-support", {"no", {{"method", "opt-soft-margin"}, {"draw", "20"}, {"eps", "0.1"}}}},
      {"discount-outliers", {"true", {{"method", "opt-soft-margin"}, {"draw", "20"}}, 240}}};
  // `polish` changes methods that look at a part of the rows: tests/api. `draw` and
  // `stalled-delta` change the way to an answer that is the same but for rounding. `text-columns`
  // and `max-categories` need a table with text: used_options_test.cpp.
  const std::set<std::string> elsewhere{
      "method",   "seed",        "max-seconds",   "polish",       "draw",
      "patience", "improvement", "stalled-delta", "text-columns", "max-categories"};
  const std::map<std::string, Effect> only_speed{
      {"cache", {"1", {}}}, {"index", {"brute-force", {{"method", "falk"}, {"k", "20"}}}}};
  for (const OptionDescription& option : train_option_table()) {
    const std::string name(option.name);
    SCOPED_TRACE(name);
    if (elsewhere.contains(name)) continue;
    const bool speed = only_speed.contains(name);
    const auto found = speed ? only_speed.find(name) : effects.find(name);
    ASSERT_TRUE(speed || found != effects.end()) << "say what " << name << " changes";
    const Dataset data = named(clouds(found->second.rows, 3, 3, 2), {1.0, 2.0, 3.0});
    TrainOptions options;
    for (const auto& [other, text] : found->second.together) set_option(options, other, text);
    const std::string before = saved_bytes(train(data, options).model);
    set_option(options, name, found->second.value);
    const std::string after = saved_bytes(train(data, options).model);
    EXPECT_EQ(before == after, speed);
  }
}

// Blocks and cache: large enough to need both.
TEST(Options, CacheNeverChangesTheResult) {
  const Dataset data = named(clouds(2500, 30, 2, 3), {1.0, 2.0});
  TrainOptions options;
  std::string first;
  for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1} << 20}) {
    options.cache_bytes = bytes;
    const std::string model = saved_bytes(train(data, options).model);
    if (first.empty()) first = model;
    EXPECT_TRUE(model == first) << bytes << " bytes of cache";
  }
}

// The cache is shared by the machines that train at once, whose number depends on the threads.
TEST(Options, AScarceCacheDoesNotMakeThreadsMatter) {
  const Dataset data = named(clouds(4500, 30, 3, 5), {1.0, 2.0, 3.0});
  TrainOptions options;
  options.cache_bytes = 4 << 20;
  std::string first;
  for (const int threads : {1, 2, 5}) {
    RunControl control;
    control.threads = threads;
    const std::string model = saved_bytes(train(data, options, control).model);
    if (first.empty()) first = model;
    EXPECT_TRUE(model == first) << threads << " threads";
  }
}

TEST(Options, BalancedIsTheClassFrequency) {
  const Clouds data = clouds(120, 3, 3, 4);
  Dataset given = named(data, std::vector<double>{1.0, 1.0, 2.0});  // 80 and 40 rows
  TrainOptions options;
  options.balanced = true;
  const std::string balanced = saved_bytes(train(given, options).model);
  options.balanced = false;
  options.class_weights = {{"1", 120.0 / (2 * 80)}, {"2", 120.0 / (2 * 40)}};
  EXPECT_TRUE(saved_bytes(train(given, options).model) == balanced);
}

TEST(Options, BalancedMultipliesClassWeights) {
  const Dataset given = named(clouds(120, 3, 3, 4), std::vector<double>{1.0, 1.0, 2.0});
  TrainOptions options;
  options.balanced = true;
  options.class_weights = {{"1", 3.0}};
  const std::string both = saved_bytes(train(given, options).model);
  options.balanced = false;
  options.class_weights = {{"1", 3.0 * (120.0 / (2 * 80))}, {"2", 120.0 / (2 * 40)}};
  EXPECT_TRUE(saved_bytes(train(given, options).model) == both);
}

}  // namespace
}  // namespace tamis::testing
