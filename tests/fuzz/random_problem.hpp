// A training problem out of the bytes of an input: few rows, any options of the table.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "fuzz_input.hpp"
#include "tamis/options.hpp"

namespace tamis::fuzz {

struct Problem {
  Dataset data;
  TrainOptions options;
};

/// For people: the options that were set, and the shape of the data.
inline std::string describe(const Problem& problem) {
  std::string text = "method=" + problem.options.method;
  for (const OptionDescription& option : train_option_table()) {
    const std::string value = option.text(problem.options);
    if (value != option.text(TrainOptions())) text += " " + std::string(option.name) + "=" + value;
  }
  return text + ", " + std::to_string(problem.data.rows()) + " rows of " +
         std::to_string(problem.data.cols()) + " columns";
}

/// What an option may be given: sensible values first, then those at the edges.
inline std::string take_value(const OptionDescription& option, ByteReader& in) {
  static constexpr const char* kWhole[] = {"1", "2", "3",  "5",          "10",
                                           "0", "7", "50", "1000000000", "9223372036854775807"};
  static constexpr const char* kReal[] = {"1",   "0.5",  "0.1",   "2",      "10",    "1e-3", "0",
                                          "100", "1e-6", "1e6",   "1e-12",  "1e12",  "0.01", "-1",
                                          "0.9", "1e-9", "1e300", "1e-300", "1e-45", "3e38"};
  const std::size_t choice = in.byte();
  if (!option.choices.empty() && choice % 4 != 3)
    return std::string(option.choices[choice / 4 % option.choices.size()]);
  if (!option.unset.empty() && choice % 16 == 15) return std::string(option.unset);
  switch (option.type) {
    case OptionType::flag:
      return choice % 2 == 0 ? "yes" : "no";
    case OptionType::integer:
      return kWhole[choice % std::size(kWhole)];
    case OptionType::number:
      return kReal[choice % std::size(kReal)];
    case OptionType::numbers:
      return std::string(in.pick(kReal)) + "," + in.pick(kReal);
    default:
      return "1:" + std::string(in.pick(kReal)) + ",-1:" + in.pick(kReal);
  }
}

/// A method, and up to seven options that it uses.
inline TrainOptions take_options(ByteReader& in) {
  std::vector<std::string_view> methods = method_names();
  methods.push_back(kAutoMethod);
  TrainOptions options;
  options.method = in.pick(methods);
  options.local.k = 5;  // of few rows
  options.ensemble.members = 4;
  options.ensemble.trials = 4;
  options.local.k_grid = {4, 8};
  std::vector<const OptionDescription*> usable;
  for (const OptionDescription& option : train_option_table()) {
    if (option.name != "method" && applies_to(option, options.method)) usable.push_back(&option);
  }
  for (std::size_t count = in.below(8); count > 0; --count) {
    const OptionDescription& option = *in.pick(usable);
    option.set_text(options, take_value(option, in));
  }
  return options;
}

inline float take_feature(std::size_t style, ByteReader& in) {
  static constexpr float kExtreme[] = {0,      1,     -1,     1e-45F, -1e-38F,    3.4e38F,
                                       -3e38F, 1e19F, 1e-20F, 1e6F,   16777217.0F};
  if (style == 3) return in.take<float>();
  const auto byte = static_cast<std::int8_t>(in.byte());
  if (style == 0) return static_cast<float>(byte) / 16;
  if (style == 1) return static_cast<float>(byte % 2);
  return kExtreme[static_cast<std::uint8_t>(byte) % std::size(kExtreme)];
}

/// Small numbers, zeros and ones, extremes or any bits; a row may be the copy of an earlier one.
inline Matrix take_features(Index rows, Index cols, ByteReader& in) {
  const std::size_t style = in.below(4);
  const bool sparse = in.flag();
  std::vector<float> values;
  for (Index i = 0; i < rows; ++i) {
    const std::size_t head = in.byte();
    const bool copy = i > 0 && head % 4 == 3;
    const auto from = static_cast<std::size_t>(copy ? static_cast<Index>(head / 4) % i * cols : 0);
    for (Index j = 0; j < cols; ++j)
      values.push_back(copy ? values[from + static_cast<std::size_t>(j)] : take_feature(style, in));
  }
  const Matrix dense = Matrix::dense(rows, cols, std::move(values));
  return sparse ? dense.to_sparse() : dense;
}

inline Labels take_labels(Index rows, ByteReader& in) {
  static constexpr double kNumbers[] = {1, -1, 2, 0.5, 0, 1e300, -1e300, 1e-300};
  static constexpr const char* kWords[] = {"1", "-1", "cat", "", "a:b,c"};
  const std::size_t kind = in.below(4);
  const std::size_t classes = 1 + in.below(5);
  std::vector<double> numbers;
  std::vector<std::string> words;
  for (Index i = 0; i < rows; ++i) {
    const std::size_t byte = in.byte();
    numbers.push_back(kind == 0   ? kNumbers[byte % classes]
                      : kind == 1 ? static_cast<double>(byte) / 16 - 8
                                  : kNumbers[byte % std::size(kNumbers)]);
    words.emplace_back(kWords[byte % classes]);
  }
  return kind == 3 ? Labels::text(words) : Labels::numeric(numbers);
}

/// The rows as a precomputed kernel: their number, then their products.
inline Matrix as_precomputed(const Matrix& features) {
  std::vector<float> values;
  for (Index i = 0; i < features.rows(); ++i) {
    values.push_back(static_cast<float>(i + 1));
    for (Index k = 0; k < features.rows(); ++k) {
      float sum = 0;
      for (Index j = 0; j < features.cols(); ++j) sum += features.at(i, j) * features.at(k, j);
      values.push_back(sum);
    }
  }
  return Matrix::dense(features.rows(), features.rows() + 1, std::move(values));
}

/// Some values missing.
inline Matrix with_missing(const Matrix& features, ByteReader& in) {
  std::vector<float> values;
  for (Index i = 0; i < features.rows(); ++i) {
    for (Index j = 0; j < features.cols(); ++j)
      values.push_back(in.below(4) == 3 ? std::nanf("") : features.at(i, j));
  }
  const Matrix dense = Matrix::dense(features.rows(), features.cols(), std::move(values));
  return features.is_sparse() ? dense.to_sparse() : dense;
}

/// The first column as words; 0 stands for one that is not in the list.
inline Dataset with_words(const Dataset& data, ByteReader& in) {
  const Matrix& features = data.features();
  const std::vector<std::string> words{"0", "ape", "bee", "cat=dog"};
  std::vector<float> values;
  for (Index i = 0; i < features.rows(); ++i) {
    for (Index j = 0; j < features.cols(); ++j) {
      const bool is_word = j == 0 && !std::isnan(features.at(i, j));
      values.push_back(is_word ? static_cast<float>(in.below(5)) : features.at(i, j));
    }
  }
  const Matrix dense = Matrix::dense(features.rows(), features.cols(), std::move(values));
  std::vector<std::vector<std::string>> categories(static_cast<std::size_t>(features.cols()));
  categories[0] = words;
  return data.with_features(features.is_sparse() ? dense.to_sparse() : dense)
      .with_categories(std::move(categories));
}

/// Throws Error where the bytes ask for something that is refused.
inline Problem take_problem(ByteReader& in) {
  static constexpr double kWeights[] = {1, 0, 2, 0.5, 1e-300, 1e300, 1e-6, 1e6};
  Problem problem;
  problem.options = take_options(in);
  const auto rows = static_cast<Index>(1 + in.below(48));
  const auto cols = static_cast<Index>(1 + in.below(6));
  const bool weighted = in.below(4) == 3;
  const Labels labels = take_labels(rows, in);
  Matrix features = take_features(rows, cols, in);
  if (problem.options.kernel_or_default() == KernelType::precomputed)
    features = as_precomputed(features);
  std::vector<double> weights;
  for (Index i = 0; weighted && i < rows; ++i) weights.push_back(in.pick(kWeights));
  if (problem.options.missing == MissingValues::impute) features = with_missing(features, in);
  problem.data = Dataset(features, labels, std::move(weights));
  if (problem.options.text_columns == TextColumns::one_hot)
    problem.data = with_words(problem.data, in);
  return problem;
}

}  // namespace tamis::fuzz
