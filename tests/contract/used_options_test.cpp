// Every option with every method: either it shows in the model, or the descriptor says that the
// method has no use for it, so that the program can refuse it.
#include <map>
#include <set>

#include "contract/fixtures.hpp"
#include "support/random_data.hpp"

namespace tamis::testing {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

struct Example {
  std::string value;
  Settings together = {};    ///< what it takes to see it
  bool among_noise = false;  ///< likewise: six columns of no use
  bool has_text = false;     ///< likewise: a text column
};

// A value that differs from the default, for every option. When you add an option, add one.
const std::map<std::string, Example>& examples() {
  static const std::map<std::string, Example> table{
      {"task", {"regression"}},
      {"cost", {"5"}},
      {"loss", {"l2"}},
      {"tube", {"0.7"}},
      {"class-weight", {"2:4"}},
      {"missing", {"impute"}},
      {"text-columns", {"one-hot", {}, false, true}},
      {"max-categories", {"1", {{"text-columns", "one-hot"}}, false, true}},
      {"scale", {"minmax"}},
      {"seed", {"77"}},
      {"eps", {"0.3"}},
      {"max-iterations", {"3"}},
      {"max-seconds", {"1e-9"}},
      {"multiclass", {"one-vs-rest"}},
      {"kernel", {"polynomial"}},
      {"gamma", {"0.9", {{"kernel", "polynomial"}}}},  // any RBF kernel has the same neighbors
      {"coef0", {"1.5", {{"kernel", "polynomial"}}}},
      {"degree", {"2", {{"kernel", "polynomial"}}}},
      {"metric-rounds", {"4", {}, true}},
      {"metric", {"full", {{"metric-rounds", "4"}}, true}},
      {"cache", {"1"}},
      {"bias", {"2"}},
      {"delta", {"0.3"}},
      {"neighbors", {"1"}},
      {"validation-fraction", {"0.3"}},
      {"patience", {"1", {{"improvement", "0.9"}}}},
      {"improvement", {"0.9", {{"patience", "1"}}}},
      {"max-rounds", {"1"}},
      {"subsamples", {"2", {{"delta", "0.3"}}}},
      {"beta", {"0.7"}},
      {"beta-start", {"1.5", {{"patience", "1"}}}},
      {"intensity", {"literal", {{"beta", "1"}}}},
      {"budget", {"0.2", {{"beta", "1"}}}},
      {"draw-weights", {"inverse", {{"beta", "1"}}}},
      {"polish", {"true"}},
      {"threshold", {"0.4"}},
      {"leaders", {"40"}},
      {"leader-gamma", {"2", {{"threshold", "0.5"}}}},
      {"leader-weights", {"cluster", {{"threshold", "0.5"}}}},
      {"refine", {"1", {{"threshold", "0.5"}}}},
      {"boundary", {"leaders"}},
      {"k", {"21"}},
      {"k-prime", {"3"}},
      {"index", {"brute-force"}},
      {"local-tuning", {"true"}},
      {"cell-rows", {"100"}},
      {"selection-centres", {"1"}},
      {"selection-rule", {"smoothest", {{"k-grid", "8,16,32"}}}},
      {"selection-folds", {"2", {{"selection-centres", "1"}}}},
      {"k-grid", {"25"}},
      {"cost-grid", {"0.1"}},
      {"percentiles", {"5"}},
      {"members", {"4"}},
      {"candidates", {"1"}},
      {"parameter-draws", {"3"}},
      {"mixed-kernels", {"true"}},
      {"subset-sampling", {"balanced"}},
      {"member-value", {"probability"}},
      {"trials", {"1"}},
      {"subset-rows", {"19"}},
      {"cost-range", {"1,1"}},
      {"gamma-range", {"1,1"}},
      {"search-trials", {"4"}},
      {"score-rows", {"3"}},
      {"combine", {"average"}},
      {"combine-cost", {"1"}},
      {"margin-k", {"20"}},
      {"nu", {"0.6"}},
      {"draw", {"25"}},
      {"carry-support", {"no", {{"draw", "20"}, {"eps", "0.1"}}}},
      {"stalled-delta", {"double"}},
      {"discount-outliers", {"true", {{"draw", "20"}}}}};
  return table;
}

// These change the way to the answer, how long it takes, or when it ends.
const std::set<std::string> kWay{"cache",    "index",         "seed",
                                 "draw",     "carry-support", "max-seconds",
                                 "patience", "improvement",   "stalled-delta"};

class UsedOptions : public MethodContract {
 protected:
  bool is_used(const std::string& name, Task task) const {
    return applies_to(find_option(name), GetParam(), task);
  }
  static Dataset with_noise(const Dataset& data) {
    const Matrix noise = random_matrix(data.rows(), 6, 4);
    std::vector<float> values;
    for (Index i = 0; i < data.rows(); ++i) {
      for (Index j = 0; j < data.cols(); ++j) values.push_back(data.features().at(i, j));
      for (Index j = 0; j < 6; ++j) values.push_back(2 * noise.at(i, j));
    }
    return data.with_features(Matrix::dense(data.rows(), data.cols() + 6, std::move(values)));
  }
  static Dataset with_text(const Dataset& data) {
    std::vector<float> values;
    for (Index i = 0; i < data.rows(); ++i) {
      for (Index j = 0; j < data.cols(); ++j) values.push_back(data.features().at(i, j));
      values.push_back(static_cast<float>(i % 3 + 1));
    }
    const Index cols = data.cols() + 1;
    std::vector<std::vector<std::string>> categories(usize(cols));
    categories.back() = {"one", "three", "two"};
    return data.with_features(Matrix::dense(data.rows(), cols, std::move(values)))
        .with_categories(std::move(categories));
  }
  // What the option changes, for a task.
  bool shows(const std::string& name, Task task) const {
    const Example& example = examples().at(name);
    // The others draw some of them, and noise takes some to see through.
    const Index rows = is_optimum() && !example.among_noise ? 240 : 900;
    const Dataset plain = task == Task::regression ? wave(rows, 3, 2, needs_separable() ? 0 : 0.1)
                                                   : named(clouds(rows, 3, 3, 2), {1.0, 2.0, 3.0});
    const Dataset data = example.among_noise ? with_noise(plain)
                         : example.has_text  ? with_text(plain)
                                             : plain;
    TrainOptions o = options();
    o.task = task;
    for (const auto& [other, text] : example.together) {
      if (is_used(other, task)) set_option(o, other, text);
    }
    std::string before;  // none, where text is refused
    if (example.has_text && o.text_columns == TextColumns::refuse)
      EXPECT_THROW(train(data, o), DataError);
    else
      before = saved_bytes(train(data, o).model);
    set_option(o, name, example.value);
    return saved_bytes(train(data, o).model) != before;
  }
  void check(const std::string& name, Task task) const {
    SCOPED_TRACE(name + (task == Task::regression ? " in a regression" : ""));
    const OptionDescription& option = find_option(name);
    if (is_used(name, task) && kWay.contains(name)) return;
    if (option.task && *option.task != task) return;  // a model may still note it
    bool is_seen = false;
    try {
      is_seen = shows(name, task);
    } catch (const InvalidArgument& error) {
      // A value that the method refuses is not ignored.
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
      is_seen = is_used(name, task);
    } catch (const DataError& error) {
      EXPECT_TRUE(needs_separable()) << error.what();
      is_seen = is_used(name, task);
    }
    EXPECT_EQ(is_seen, is_used(name, task));
  }
};

TEST_P(UsedOptions, ShowOrAreDeclaredUnused) {
  for (const OptionDescription& option : train_option_table()) {
    const std::string name(option.name);
    if (name == "method" || name == "task") continue;
    ASSERT_TRUE(examples().contains(name)) << "give an example of " << name;
    check(name, Task::classification);
    if (method().info.does_regression) check(name, Task::regression);
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, UsedOptions, ::testing::ValuesIn(all_methods()),
                         method_test_name);

}  // namespace
}  // namespace tamis::testing
