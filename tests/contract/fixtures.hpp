// What the contract tests of every method share.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "format/temporary_file.hpp"
#include "support/random_data.hpp"
#include "tamis/error.hpp"
#include "tamis/io.hpp"
#include "tamis/predict.hpp"
#include "tamis/train.hpp"
#include "training/registry.hpp"

namespace tamis::testing {

/// Runs for every method of the registry; a new one joins by being there. What a method is held to,
/// its descriptor says: no method is named in these tests.
class MethodContract : public ::testing::TestWithParam<std::string> {
 protected:
  const Method& method() const { return find_method(GetParam()); }
  const Promises& promises() const { return method().promises; }
  TrainOptions options() const {
    TrainOptions result;
    result.method = GetParam();
    result.gamma = 0.3;
    // Small enough for several neighborhoods in the data of these tests; what a method would tune
    // itself is a small value of that.
    const std::vector<double>& k = method().tuning.k;
    result.local.k = k.empty() ? 60 : static_cast<Index>(k[2]);
    result.local.k_grid = {40, 80};
    result.local.selection_centres = 3;
    result.ensemble.members = 12;
    result.ensemble.candidates = 2;
    result.ensemble.trials = 12;
    const bool combines = method().info.kind == MethodKind::ensemble;
    result.ensemble.subset_rows = combines ? 50 : 100;     // many that vote, or one
    if (is_linear()) result.bias.rule = Bias::Rule::free;  // as the others have it
    return result;
  }
  /// Learns nothing but straight lines.
  bool is_linear() const { return !method().info.uses_kernel; }
  /// The full problem's optimum: small changes of the input give small changes of the answer. The
  /// others draw rows, and only their labels can be expected to be much the same.
  bool is_optimum() const { return promises().is_optimum; }
  /// A hard margin: data that cannot be separated are a DataError that says so.
  bool needs_separable() const { return promises().needs_separable; }
  /// As the function of this name; far enough apart where the classes must not overlap.
  Clouds clouds(Index rows, Index cols, int classes, std::uint64_t seed, double apart = 1.5) const {
    return testing::clouds(rows, cols, classes, seed,
                           needs_separable() ? std::max(apart, 12.0) : apart);
  }
  /// True if the work was refused because the data cannot be separated, which only a hard margin
  /// may do.
  template <typename Work>
  bool is_refused_as_inseparable(const Work& work) const {
    try {
      work();
      return false;
    } catch (const DataError& error) {
      EXPECT_TRUE(needs_separable()) << error.what();
      EXPECT_NE(std::string(error.what()).find("separated"), std::string::npos) << error.what();
      return true;
    }
  }
};

inline std::string method_test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
}

inline std::vector<std::string> all_methods() {
  std::vector<std::string> names;
  for (const std::string_view name : method_names()) names.emplace_back(name);
  return names;
}

inline std::string saved_bytes(const Model& model) {
  const TemporaryFile file;
  save_model(model, file.path());
  return file.read();
}

inline double largest_difference(const DecisionValues& a, const DecisionValues& b) {
  EXPECT_EQ(a.values.size(), b.values.size());
  double largest = 0;
  for (std::size_t i = 0; i < std::min(a.values.size(), b.values.size()); ++i)
    largest = std::max(largest, std::abs(a.values[i] - b.values[i]));
  return largest;
}

/// Share of rows with equal labels.
inline double agreement(const Labels& a, const Labels& b) {
  EXPECT_EQ(a.size(), b.size());
  double same = 0;
  for (Index i = 0; i < a.size(); ++i) same += a.name(i) == b.name(i);
  return same / static_cast<double>(a.size());
}

inline void expect_finite(const DecisionValues& values) {
  for (const double v : values.values) ASSERT_TRUE(std::isfinite(v));
}

/// Runs the work; the message of the Error it throws.
template <typename Expected, typename Work>
std::string error_of(const Work& work) {
  try {
    work();
  } catch (const Expected& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another kind of error: " << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

}  // namespace tamis::testing
