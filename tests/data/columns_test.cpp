// Column maps against an obvious twin that works on tables of text, cell by cell.
#include "tamis/columns.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "data/column_matching.hpp"
#include "data/column_medians.hpp"
#include "support/random_data.hpp"
#include "tamis/error.hpp"

namespace tamis::testing {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
const ColumnOptions kBoth{MissingValues::impute, TextColumns::one_hot, 3};

// A cell is a number, a word, or missing.
struct Cell {
  std::optional<float> number = {};
  std::string word = {};
};
using Table = std::vector<std::vector<Cell>>;

constexpr Index kColumns = 6;
bool is_text(std::size_t column) { return column == 1 || column == 4; }

// Columns 0, 2, 3 and 5 are numbers (some zero), 1 and 4 are words; all but 3 have missing values.
Table random_table(Index rows, std::uint64_t seed) {
  const std::vector<std::string> words{"ape", "bee", "cat", "dog", "eel"};
  Random random(seed);
  Table table(usize(rows));
  for (auto& row : table) {
    for (std::size_t j = 0; j < usize(kColumns); ++j) {
      Cell& cell = row.emplace_back();
      const double draw = random.uniform();
      if (j != 3 && draw < 0.2) continue;
      if (is_text(j))
        cell.word = words[usize(random.below(j == 1 ? 5 : 2))];
      else
        cell.number = draw < 0.5 ? 0.0F : static_cast<float>(std::round(4 * random.normal()));
    }
  }
  return table;
}

// As a reader gives it: words numbered from 1 by the alphabet.
Dataset as_dataset(const Table& table, bool sparse) {
  std::vector<std::map<std::string, int>> numbers(usize(kColumns));
  for (const auto& row : table) {
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (!row[j].word.empty()) numbers[j][row[j].word] = 0;
    }
  }
  std::vector<std::vector<std::string>> categories(usize(kColumns));
  for (std::size_t j = 0; j < numbers.size(); ++j) {
    for (auto& [word, number] : numbers[j]) {
      categories[j].push_back(word);
      number = static_cast<int>(categories[j].size());
    }
  }
  std::vector<float> values;
  for (const auto& row : table) {
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (!row[j].word.empty())
        values.push_back(static_cast<float>(numbers[j][row[j].word]));
      else
        values.push_back(row[j].number.value_or(kNan));
    }
  }
  const Matrix dense = Matrix::dense(std::ssize(table), kColumns, values);
  return Dataset(sparse ? dense.to_sparse() : dense, {}, {}, {"a", "b", "c", "d", "e", "f"})
      .with_categories(categories);
}

float naive_median(const Table& table, std::size_t column) {
  std::vector<double> values;
  for (const auto& row : table) {
    if (row[column].number) values.push_back(static_cast<double>(*row[column].number));
  }
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return static_cast<float>((values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2);
}

// The categories that get a column: the most frequent, of equals the first by name.
std::vector<std::string> naive_categories(const Table& table, std::size_t column, Index most,
                                          bool* has_other) {
  std::map<std::string, Index> counts;
  for (const auto& row : table) {
    if (!row[column].word.empty()) ++counts[row[column].word];
  }
  std::vector<std::pair<Index, std::string>> order;
  for (const auto& [word, count] : counts) order.emplace_back(-count, word);
  std::sort(order.begin(), order.end());
  *has_other = std::ssize(order) > most;
  std::vector<std::string> kept;
  for (std::size_t k = 0; k < std::min(order.size(), usize(most)); ++k)
    kept.push_back(order[k].second);
  std::sort(kept.begin(), kept.end());
  return kept;
}

// What `rows` become when `learned` was trained on.
std::vector<std::vector<float>> naive_outputs(const Table& learned, const Table& rows, Index most) {
  std::vector<std::vector<float>> outputs;
  for (const auto& row : rows) {
    std::vector<float> out;
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (!is_text(j)) {
        out.push_back(row[j].number.value_or(naive_median(learned, j)));
        continue;
      }
      bool has_other = false;
      bool is_known = row[j].word.empty();
      for (const std::string& word : naive_categories(learned, j, most, &has_other)) {
        out.push_back(row[j].word == word ? 1.0F : 0.0F);
        is_known = is_known || row[j].word == word;
      }
      if (has_other) out.push_back(is_known ? 0.0F : 1.0F);
    }
    for (std::size_t j = 0; j < row.size(); ++j) {
      const bool was_missing = std::any_of(learned.begin(), learned.end(), [&](const auto& r) {
        return !r[j].number && r[j].word.empty();
      });
      if (was_missing) out.push_back(!row[j].number && row[j].word.empty() ? 1.0F : 0.0F);
    }
    outputs.push_back(out);
  }
  return outputs;
}

void expect_equal(const Matrix& found, const std::vector<std::vector<float>>& expected) {
  ASSERT_EQ(found.rows(), std::ssize(expected));
  ASSERT_EQ(found.cols(), std::ssize(expected[0]));
  for (Index i = 0; i < found.rows(); ++i) {
    for (Index j = 0; j < found.cols(); ++j)
      ASSERT_EQ(found.at(i, j), expected[usize(i)][usize(j)]) << i << ' ' << j;
  }
}

TEST(ColumnMap, MapsAsTheTwinDoes) {
  for (const Index most : {Index{1}, Index{3}, Index{5}, Index{100}}) {
    const Table learned = random_table(61, 1);
    const Table rows = random_table(2500, 2);
    const ColumnOptions options{MissingValues::impute, TextColumns::one_hot, most};
    for (const bool sparse : {false, true}) {
      const ColumnMap map = ColumnMap::fit(as_dataset(learned, sparse), options);
      map.validate();
      EXPECT_EQ(std::ssize(map.output_names()), map.outputs());
      for (const bool sparse_rows : {false, true}) {
        const Dataset matched = map.match(as_dataset(rows, sparse_rows));
        expect_equal(map.apply(matched.features()), naive_outputs(learned, rows, most));
        // Matched rows match as they are.
        expect_equal(map.apply(map.match(matched).features()), naive_outputs(learned, rows, most));
      }
    }
  }
}

TEST(ColumnMap, DoesNotDependOnThreads) {
  const Dataset rows = as_dataset(random_table(5000, 3), false);
  const auto mapped = [&](int threads) {
    return with_threads(threads, [&] {
      const ColumnMap map = ColumnMap::fit(rows, kBoth);
      const Matrix out = map.apply(map.match(rows).features());
      return std::pair(map, std::vector<float>(out.to_dense().dense_values().begin(),
                                               out.to_dense().dense_values().end()));
    });
  };
  EXPECT_EQ(mapped(1), mapped(3));
}

TEST(ColumnMap, MediansAreThoseOfSortedValues) {
  for (const Index rows : {1, 2, 7, 100, 101}) {
    Matrix values = random_matrix(rows, 9, 4, 0.5);
    std::vector<float> cells(values.dense_values().begin(), values.dense_values().end());
    Random random(5);
    for (float& cell : cells) {
      if (random.uniform() < 0.3) cell = kNan;
    }
    for (Index i = 0; i < rows; ++i) cells[usize(i * 9)] = kNan;  // nothing is known of column 0
    values = Matrix::dense(rows, 9, cells);
    const std::vector<float> dense = column_medians(values, {});
    EXPECT_EQ(column_medians(values.to_sparse(), {}), dense);
    for (Index j = 0; j < 9; ++j) {
      Table table;
      for (Index i = 0; i < rows; ++i) {
        Cell cell;
        if (!std::isnan(values.at(i, j))) cell.number = values.at(i, j);
        table.push_back({cell});
      }
      EXPECT_EQ(dense[usize(j)], naive_median(table, 0)) << rows << ' ' << j;
    }
  }
}

Dataset with_names(Index rows, std::vector<std::string> names) {
  const auto cols = std::ssize(names);
  return Dataset(random_matrix(rows, cols, 6, 0.5), {}, {}, std::move(names));
}

TEST(ColumnMap, FindsColumnsByName) {
  const Dataset trained = with_names(5, {"x", "y", "z"});
  const ColumnMap map = ColumnMap::fit(trained, {});
  EXPECT_TRUE(map.is_identity());
  EXPECT_EQ(map.inputs, 3);
  const Dataset other = with_names(5, {"z", "id", "x", "y"});
  for (const bool sparse : {false, true}) {
    const Dataset given = sparse ? other.with_features(other.features().to_sparse()) : other;
    const Dataset matched = map.match(given);
    ASSERT_EQ(matched.cols(), 3);
    for (Index i = 0; i < 5; ++i) {
      EXPECT_EQ(matched.features().at(i, 0), other.features().at(i, 2));
      EXPECT_EQ(matched.features().at(i, 1), other.features().at(i, 3));
      EXPECT_EQ(matched.features().at(i, 2), other.features().at(i, 0));
    }
  }
  // Without names, by position.
  const Dataset plain(random_matrix(2, 3, 7));
  EXPECT_EQ(map.match(plain).features().at(1, 2), plain.features().at(1, 2));
}

std::string match_error(const ColumnMap& map, const Dataset& data) {
  try {
    map.match(data);
  } catch (const DataError& error) {
    return error.what();
  }
  return "none";
}

TEST(ColumnMap, RefusesColumnsThatAreNotThere) {
  const ColumnMap map = ColumnMap::fit(with_names(5, {"x", "y"}), {});
  EXPECT_EQ(match_error(map, with_names(5, {"x", "Y"})),
            "the rows have no column 'y', which the model was trained with");
  EXPECT_EQ(match_error(map, with_names(5, {"x", "y", "x"})), "the rows have two columns 'x'");
  const Dataset text = with_names(5, {"x", "y"}).with_categories({{"a"}, {}});
  EXPECT_EQ(match_error(map, text),
            "column 'x' is text, but the model was trained with numbers in it");
  // Two columns of one name cannot be told apart: positions count.
  EXPECT_EQ(ColumnMap::fit(with_names(5, {"x", "x"}), {}).inputs, 0);
}

TEST(ColumnMap, NumbersMayBeCategories) {
  const Dataset text = Dataset(Matrix::dense(3, 1, {1, 2, 3})).with_categories({{"1", "2.5", "x"}});
  const ColumnMap map = ColumnMap::fit(text, kBoth);
  const Dataset numbers(Matrix::dense(4, 1, {1, 2.5, 7, kNan}));
  const Matrix codes = map.match(numbers).features();
  EXPECT_EQ(codes.at(0, 0), 1);
  EXPECT_EQ(codes.at(1, 0), 2);
  EXPECT_EQ(codes.at(2, 0), 0);
  EXPECT_TRUE(std::isnan(codes.at(3, 0)));
  // A zero that is not stored is one, too.
  const ColumnMap zeros =
      ColumnMap::fit(Dataset(Matrix::dense(2, 1, {1, 2})).with_categories({{"0", "x"}}), kBoth);
  const Dataset sparse(Matrix::dense(2, 1, {0, 7}).to_sparse());
  EXPECT_EQ(zeros.match(sparse).features().at(0, 0), 1);
  EXPECT_EQ(zeros.match(sparse).features().at(1, 0), 0);
}

std::string apply_error(const ColumnMap& map, const Matrix& rows) {
  try {
    map.apply(rows);
  } catch (const DataError& error) {
    return error.what();
  }
  return "none";
}

TEST(ColumnMap, NamesThePlaceOfABadValue) {
  const Dataset text = Dataset(Matrix::dense(2, 2, {1, 5, 1, 6}), {}, {}, {"kind", "size"})
                           .with_categories({{"a"}, {}});
  ColumnMap map = ColumnMap::fit(text, {MissingValues::refuse, TextColumns::one_hot, 3});
  std::vector<float> values(24, 1.0F);
  values.back() = kNan;
  EXPECT_EQ(apply_error(map, Matrix::dense(12, 2, std::move(values)).slice(10, 12)),
            "row 12, column 'size' is missing: the model was trained without missing values");
  EXPECT_EQ(apply_error(map, Matrix::dense(1, 2, {1.5, 5})),
            "row 1, column 'kind' is 1.5, which is no number of a category");
  EXPECT_NE(apply_error(map, Matrix::dense(1, 2, {2, 5})), "none");
  map = ColumnMap::fit(text, kBoth);
  EXPECT_EQ(apply_error(map, Matrix::dense(1, 2, {1, kNan})), "none");
  EXPECT_EQ(apply_error(map, Matrix::dense(1, 2, {1, std::numeric_limits<float>::infinity()})),
            "row 1, column 'size' is inf: values must be finite");
  EXPECT_THROW(ColumnMap::fit(text, {}), DataError);
}

TEST(ColumnMap, NamesItsOutputs) {
  const Dataset data =
      Dataset(Matrix::dense(4, 2, {1, 5, 2, kNan, 3, 6, 1, 7}), {}, {}, {"kind", "size"})
          .with_categories({{"a", "b", "c"}, {}});
  const ColumnMap map = ColumnMap::fit(data, {MissingValues::impute, TextColumns::one_hot, 2});
  EXPECT_EQ(map.output_names(),
            (std::vector<std::string>{"kind=a", "kind=b", "kind=other", "size", "size missing"}));
}

// A text column with the category "0" makes sparse rows dense, and so do medians of columns that
// hardly any row has: refused before any of it is taken.
TEST(ColumnMap, MemoryIsAskedForFirst) {
  constexpr Index kFar = Index{1} << 30;
  RunControl control;
  control.memory_bytes = resident_memory_bytes() + (Index{1} << 20);
  const Dataset far(Matrix::sparse(kFar, {0, 1, 1}, {int{kFar} - 1}, {1.0F}));
  const Index before = peak_memory_bytes();
  EXPECT_THROW(ColumnMap::fit(far, {.missing = MissingValues::impute}, control), ResourceError);
  ColumnMap map;
  map.inputs = 1 << 20;
  map.texts = {{0, {"0", "x"}, false}};
  const Dataset sparse(Matrix::sparse(map.inputs, {0, 1, 1}, {7}, {1.0F}));
  EXPECT_THROW(match_columns(map, sparse, control), ResourceError);
  EXPECT_LT(peak_memory_bytes(), before + (Index{64} << 20));
}

TEST(ColumnMap, ValidateFindsWhatDoesNotFit) {
  const ColumnMap good = ColumnMap::fit(as_dataset(random_table(40, 8), false), kBoth);
  EXPECT_NO_THROW(good.validate());
  const auto refused = [&](const auto& change) {
    ColumnMap map = good;
    change(map);
    EXPECT_THROW(map.validate(), DataError);
  };
  refused([](ColumnMap& m) { m.inputs = -1; });
  refused([](ColumnMap& m) { m.inputs = Index{1} << 40; });
  refused([](ColumnMap& m) { m.names.pop_back(); });
  refused([](ColumnMap& m) { m.names[0] = m.names[1]; });
  refused([](ColumnMap& m) { m.fills.pop_back(); });
  refused([](ColumnMap& m) { m.fills[0] = kNan; });
  refused([](ColumnMap& m) { m.fills.clear(); });
  refused([](ColumnMap& m) { m.indicators.push_back(0); });
  refused([](ColumnMap& m) { m.indicators.back() = kColumns; });
  refused([](ColumnMap& m) { m.texts[0].column = 4; });
  refused([](ColumnMap& m) { m.texts[1].column = kColumns; });
  refused([](ColumnMap& m) { std::swap(m.texts[0].categories[0], m.texts[0].categories[1]); });
  refused([](ColumnMap& m) { m.texts[0].categories[0] = m.texts[0].categories[1]; });
}

}  // namespace
}  // namespace tamis::testing
