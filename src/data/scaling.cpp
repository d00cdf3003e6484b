#include "tamis/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/check.hpp"
#include "base/checked.hpp"
#include "base/fixed_sum.hpp"
#include "base/group.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "base/scratch.hpp"
#include "data/column_values.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

constexpr std::string_view kNames[] = {"none",   "minmax",   "standard", "maxabs",
                                       "robust", "quantile", "weighted"};
constexpr double kNormalQuartiles = 1.3489795003921634;  // their distance, for deviation 1
constexpr Index kMaxParts = 64;                 // parts the rows are cut into, for any thread count
constexpr Index kPartValues = Index{1} << 16;   // a part has at least that many values
constexpr Index kPartsBytes = Index{64} << 20;  // columns of all parts together

// Rows between two looks at the cancel flag: a few milliseconds of work.
Index poll_rows(Index cols) {
  return std::clamp<Index>((Index{1} << 21) / std::max<Index>(1, cols), 1, 256);
}

// What is known of one column of a part of the rows. Zeros that are not stored are counted in
// later.
struct Column {
  double minimum = std::numeric_limits<double>::infinity();
  double maximum = -std::numeric_limits<double>::infinity();
  Index stored = 0;
  Index not_finite = 0;

  void add(const Column& other) {
    minimum = std::min(minimum, other.minimum);
    maximum = std::max(maximum, other.maximum);
    stored += other.stored;
    not_finite += other.not_finite;
  }
};

// Calls add(column, value) for every stored value of rows [begin, end).
template <typename Add>
void visit_values(const Matrix& features, Index begin, Index end, ProgressMeter& meter,
                  const Add& add) {
  const Index step = poll_rows(features.cols());
  for (Index i = begin; i < end; ++i) {
    if (features.is_sparse()) {
      const SparseRow row = features.sparse_row(i);
      for (std::size_t k = 0; k < row.columns.size(); ++k)
        add(usize(row.columns[k]), row.values[k]);
    } else {
      const auto row = features.dense_row(i);
      for (std::size_t j = 0; j < row.size(); ++j) add(j, row[j]);
    }
    if (i % step == 0) meter.add(std::min(step, end - i));
  }
}

// Sums over the rows of some value type, in parts that depend on the data's shape alone: `add` sees
// every stored value, `merge` joins the parts in order.
template <typename T, typename Add, typename Merge>
std::vector<T> sum_columns(const Matrix& features, ProgressMeter& meter, const Add& add,
                           const Merge& merge) {
  const Index cols = features.cols();
  const Index bytes = std::max<Index>(1, cols * static_cast<Index>(sizeof(T)));
  const Index parts = std::clamp<Index>(
      std::min(features.num_stored() / kPartValues, kPartsBytes / bytes), 1, kMaxParts);
  std::vector<std::vector<T>> totals(usize(parts));
  parallel_each(parts, [&](Index p) {
    std::vector<T>& total = totals[usize(p)];
    total.resize(usize(cols));
    visit_values(features, features.rows() * p / parts, features.rows() * (p + 1) / parts, meter,
                 [&](std::size_t column, float value) { add(total[column], column, value); });
  });
  for (Index p = 1; p < parts; ++p) {
    for (std::size_t j = 0; j < usize(cols); ++j) merge(totals[0][j], totals[usize(p)][j]);
  }
  return std::move(totals[0]);
}

// Of the rows of all ranks, of which there are `rows`.
std::vector<Column> column_ranges(const Matrix& features, Index rows, Group& group,
                                  ProgressMeter& meter) {
  auto columns = sum_columns<Column>(
      features, meter,
      [](Column& column, std::size_t, float value) {
        column.minimum = std::min(column.minimum, static_cast<double>(value));
        column.maximum = std::max(column.maximum, static_cast<double>(value));
        column.not_finite += std::isfinite(value) ? 0 : 1;
        ++column.stored;
      },
      [](Column& into, const Column& part) { into.add(part); });
  if (std::any_of(columns.begin(), columns.end(), [](const Column& c) { return c.not_finite > 0; }))
    require_finite(features);
  const auto of_ranks = gather_lists(group, columns);
  for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
    for (std::size_t j = 0; j < columns.size() && static_cast<int>(rank) != group.rank(); ++j)
      columns[j].add(of_ranks[rank][j]);
  }
  for (Column& column : columns) {
    if (column.stored == rows) continue;
    column.minimum = std::min(column.minimum, 0.0);
    column.maximum = std::max(column.maximum, 0.0);
  }
  return columns;
}

// The sum over all rows of term(column, value) of the stored values; no term is above
// largest(column) in size. The same for every order of the rows.
template <typename Term, typename Largest>
std::vector<double> sums_of_columns(const Matrix& features, Index rows, Group& group,
                                    ProgressMeter& meter, const Term& term,
                                    const Largest& largest) {
  std::vector<FixedSum> empty;
  for (std::size_t j = 0; j < usize(features.cols()); ++j) empty.emplace_back(largest(j), rows);
  const auto totals = sum_columns<Index>(
      features, meter,
      [&](Index& total, std::size_t column, float value) {
        FixedSum one = empty[column];
        one.add(term(column, value));
        total += one.total();
      },
      [](Index& into, Index part) { into += part; });
  std::vector<double> sums;
  const auto of_ranks = gather_lists(group, totals);
  for (std::size_t j = 0; j < empty.size(); ++j) {
    Index total = 0;
    for (const std::vector<Index>& part : of_ranks) total += part[j];
    empty[j].set_total(total);
    sums.push_back(empty[j].value());
  }
  return sums;
}

struct Moments {
  std::vector<double> means;
  std::vector<double> deviations;
};

// Means and standard deviations (of the rows as the whole population), these in a second pass about
// the mean: the one-pass formula cancels when the mean is large.
Moments column_moments(const Matrix& features, Index num_rows, const std::vector<Column>& columns,
                       Group& group, ProgressMeter& meter) {
  const auto rows = static_cast<double>(num_rows);
  Moments moments;
  moments.means = sums_of_columns(
      features, num_rows, group, meter,
      [](std::size_t, float value) { return static_cast<double>(value); },
      [&](std::size_t j) {
        return std::max(std::abs(columns[j].minimum), std::abs(columns[j].maximum));
      });
  for (double& mean : moments.means) mean /= rows;
  moments.deviations = sums_of_columns(
      features, num_rows, group, meter,
      [&](std::size_t j, float value) {
        const double difference = static_cast<double>(value) - moments.means[j];
        return difference * difference;
      },
      [&](std::size_t j) {
        const double widest = columns[j].maximum - columns[j].minimum;
        return widest * widest;
      });
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const auto zeros = static_cast<double>(num_rows - columns[j].stored);
    const double mean = moments.means[j];
    moments.deviations[j] = std::sqrt((moments.deviations[j] + zeros * mean * mean) / rows);
  }
  return moments;
}

// 0 for a column without spread, also for one so narrow that its factor is no float.
float factor_of(double width, double spread) {
  const double limit = std::numeric_limits<float>::max();
  return spread > 0 && width / spread < limit ? static_cast<float>(width / spread) : 0.0F;
}

// The piecewise linear function through (from[i], to[i]), constant outside. `from` never falls.
float interpolated(std::span<const float> from, std::span<const float> to, float value) {
  const auto above = std::upper_bound(from.begin(), from.end(), value);
  if (above == from.begin()) return to.front();
  const auto i = static_cast<std::size_t>(above - from.begin()) - 1;
  if (above == from.end() || from[i] == value) return to[i];
  const double part = (static_cast<double>(value) - static_cast<double>(from[i])) /
                      (static_cast<double>(from[i + 1]) - static_cast<double>(from[i]));
  const double step = static_cast<double>(to[i + 1]) - static_cast<double>(to[i]);
  return static_cast<float>(static_cast<double>(to[i]) + step * part);
}

// The knots of one column, or their scores.
std::span<const float> of_column(const ScalingKnots& knots, const std::vector<float>& numbers,
                                 std::size_t column) {
  const Index begin = knots.begin[column];
  return std::span(numbers).subspan(usize(begin), usize(knots.begin[column + 1] - begin));
}

bool keeps_zeros(const Scaling& scaling) {
  for (std::size_t j = 0; j < scaling.offset.size(); ++j) {
    if (scaling.scaled(j, 0.0F) != 0.0F) return false;
  }
  return true;
}

void fit_robust(const Matrix& features, const RunControl& control, Scaling* scaling) {
  visit_columns(features, control, [&](Index column, std::span<const ValueRun> runs) {
    const double quartiles = quantile(runs, 0.75) - quantile(runs, 0.25);
    // Most rows of the column are equal: their quartiles say nothing of the others.
    const double spread = quartiles > 0 ? quartiles / kNormalQuartiles : standard_deviation(runs);
    scaling->offset[usize(column)] = static_cast<float>(quantile(runs, 0.5));
    scaling->factor[usize(column)] = runs.size() > 1 ? factor_of(1, spread) : 0.0F;
  });
}

void fit_quantile(const Matrix& features, const RunControl& control, Scaling* scaling) {
  std::vector<Knots> columns(usize(features.cols()));
  visit_columns(features, control, [&](Index column, std::span<const ValueRun> runs) {
    columns[usize(column)] = normal_scores(runs);
  });
  ScalingKnots& knots = scaling->knots;
  knots.begin.push_back(0);
  for (std::size_t j = 0; j < columns.size(); ++j) {
    knots.values.insert(knots.values.end(), columns[j].values.begin(), columns[j].values.end());
    knots.scores.insert(knots.scores.end(), columns[j].scores.begin(), columns[j].scores.end());
    knots.begin.push_back(static_cast<Index>(knots.values.size()));
    // Sparse rows stay sparse: distances do not see the shift.
    if (features.is_sparse())
      scaling->offset[j] = interpolated(columns[j].values, columns[j].scores, 0.0F);
    scaling->factor[j] = columns[j].values.size() > 1 ? 1.0F : 0.0F;
  }
}

// Robust and quantile: by the order of a column's values.
Scaling fit_order(const Matrix& features, ScalingMethod method, const RunControl& control) {
  const bool has_knots = method == ScalingMethod::quantile;
  const Index knots = has_knots ? std::min(Scaling::kMaxKnots, features.rows()) : 0;
  require_column_memory("scaling", features.cols(), 2 * sizeof(float) + sizeof(Knots),
                        memory_left(control.memory_bytes));
  // Sparse columns have a knot for each stored value, and one for zero.
  const Index most = features.is_sparse() ? std::min(checked_product(features.cols(), knots),
                                                     features.num_stored() + features.cols())
                                          : checked_product(features.cols(), knots);
  require_memory("scaling", checked_product(most, 4 * sizeof(float)),
                 memory_left(control.memory_bytes));
  Scaling result;
  result.method = method;
  result.offset.assign(usize(features.cols()), 0.0F);
  result.factor.assign(usize(features.cols()), 0.0F);
  with_threads(control.threads, [&] {
    if (has_knots)
      fit_quantile(features, control, &result);
    else
      fit_robust(features, control, &result);
  });
  features.require_intact();
  return result;
}

// The arrays of the rows are shared: scaling changes values alone.
Matrix apply_sparse(const Scaling& scaling, const Matrix& features, ProgressMeter& meter,
                    const RunControl& control) {
  const auto scaled = scratch_array<float>("scaling", features.num_stored(), control);
  float* const values = scaled.values.get();
  const Index step = poll_rows(features.cols());
  parallel_ranges(features.rows(), step, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const SparseRow row = features.sparse_row(i);
      const Index at = features.row_offsets()[usize(i)];
      for (std::size_t k = 0; k < row.values.size(); ++k)
        values[usize(at) + k] = scaling.scaled(usize(row.columns[k]), row.values[k]);
      if (i % step == 0) meter.add(std::min(step, end - i));
    }
  });
  return features.with_values(values, scaled.values);
}

// The row times the matrix, summed in double.
void multiply(std::span<float> row, const std::vector<float>& matrix, std::vector<double>* sums) {
  std::fill(sums->begin(), sums->end(), 0.0);
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto value = static_cast<double>(row[i]);
    const float* const factors = matrix.data() + i * row.size();
    for (std::size_t j = 0; j < row.size(); ++j)
      (*sums)[j] += value * static_cast<double>(factors[j]);
  }
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = static_cast<float>((*sums)[j]);
}

Matrix apply_dense(const Scaling& scaling, const Matrix& features, ProgressMeter& meter,
                   const RunControl& control) {
  const Index cols = features.cols();
  const auto scaled =
      scratch_array<float>("scaling", checked_product(features.rows(), cols), control);
  float* const values = scaled.values.get();
  const Index step = poll_rows(features.cols());
  parallel_ranges(features.rows(), step, [&](Index begin, Index end) {
    std::vector<double> sums(scaling.matrix.empty() ? 0 : usize(cols));
    for (Index i = begin; i < end; ++i) {
      const std::span<float> row(values + i * cols, usize(cols));
      features.copy_row(i, row);
      for (std::size_t j = 0; j < row.size(); ++j) row[j] = scaling.scaled(j, row[j]);
      if (!scaling.matrix.empty()) multiply(row, scaling.matrix, &sums);
      if (i % step == 0) meter.add(std::min(step, end - i));
    }
  });
  return Matrix::dense_view(features.rows(), cols, values, scaled.values);
}

}  // namespace

std::string_view scaling_name(ScalingMethod method) { return kNames[static_cast<int>(method)]; }

ScalingMethod parse_scaling_method(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    if (name == kNames[i]) return static_cast<ScalingMethod>(i);
  }
  throw InvalidArgument(fmt::format("there is no scaling '{}': {}", name, scaling_names()));
}

std::string scaling_names() {
  std::string text;
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    if (i > 0) text += i + 1 < std::size(kNames) ? ", " : " or ";
    text += kNames[i];
  }
  return text;
}

Scaling Scaling::fit(const Matrix& features, ScalingMethod method, double lower, double upper,
                     const RunControl& control) {
  Scaling result;
  result.method = method;
  if (method == ScalingMethod::none) return result;
  Group& group = group_of(control);
  const Index rows = sum_of_all(group, features.rows());
  if (rows == 0) throw DataError("scaling needs at least one row");
  if (method == ScalingMethod::weighted)
    throw InvalidArgument("feature weights are learned by a model, not from rows alone");
  if (method == ScalingMethod::robust || method == ScalingMethod::quantile)
    return fit_order(features, method, control);
  if (method == ScalingMethod::minmax) {
    result.lower = static_cast<float>(lower);
    const bool is_valid = std::isfinite(result.lower) && std::isfinite(static_cast<float>(upper)) &&
                          std::isfinite(static_cast<float>(upper - lower)) && lower < upper;
    if (!is_valid) {
      throw InvalidArgument(
          fmt::format("scaling to [{}, {}]: both and their difference must be finite, the first "
                      "below the second",
                      lower, upper));
    }
  }
  // The sums of a part, deviations, offset and factor.
  require_column_memory("scaling", features.cols(),
                        sizeof(Column) + sizeof(FixedSum) + 3 * sizeof(double) + 2 * sizeof(float),
                        memory_left(control.memory_bytes));
  with_threads(control.threads, [&] {
    const bool has_moments = method == ScalingMethod::standard;
    ProgressMeter meter(control, "scale", features.rows() * (has_moments ? 3 : 1));
    const std::vector<Column> columns = column_ranges(features, rows, group, meter);
    const Moments moments =
        has_moments ? column_moments(features, rows, columns, group, meter) : Moments();
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const Column& column = columns[j];
      const bool is_constant = !(column.minimum < column.maximum);
      double origin = 0;
      double spread = std::max(std::abs(column.minimum), std::abs(column.maximum));
      if (method == ScalingMethod::minmax) {
        origin = column.minimum;
        spread = column.maximum - column.minimum;
      } else if (method == ScalingMethod::standard) {
        origin = moments.means[j];
        spread = moments.deviations[j];
      }
      const double width = method == ScalingMethod::minmax ? upper - lower : 1.0;
      result.offset.push_back(static_cast<float>(origin));
      result.factor.push_back(is_constant ? 0.0F : factor_of(width, spread));
    }
  });
  features.require_intact();
  return result;
}

Matrix Scaling::apply(const Matrix& features, const RunControl& control) const {
  if (is_identity()) return features;
  if (offset.size() != factor.size() || static_cast<Index>(offset.size()) != features.cols()) {
    throw DataError(fmt::format("rows of {}, but the scaling was learned from {}",
                                counted(features.cols(), "column"), offset.size()));
  }
  const bool stays_sparse = features.is_sparse() && matrix.empty() && keeps_zeros(*this);
  // Many times the rows: not what a scratch file is for.
  if (features.is_sparse() && !stays_sparse) {
    require_memory(
        matrix.empty() ? "scaling makes the zeros non-zero (maxabs and quantile do not): it"
                       : "a full metric makes the zeros non-zero: it",
        checked_product(checked_product(features.rows(), features.cols()), sizeof(float)),
        memory_left(control.memory_bytes));
  }
  Matrix scaled_rows = with_threads(control.threads, [&] {
    ProgressMeter meter(control, "scale", features.rows());
    return stays_sparse ? apply_sparse(*this, features, meter, control)
                        : apply_dense(*this, features, meter, control);
  });
  features.require_intact();
  return scaled_rows;
}

float Scaling::scaled(std::size_t column, float value) const {
  if (method == ScalingMethod::quantile) {
    value = interpolated(of_column(knots, knots.values, column),
                         of_column(knots, knots.scores, column), value);
  }
  const double shifted = static_cast<double>(value) - static_cast<double>(offset[column]);
  return static_cast<float>(shifted * static_cast<double>(factor[column]) +
                            static_cast<double>(lower));
}

float Scaling::unscaled(std::size_t column, float value) const {
  if (is_identity()) return value;
  const float by = factor[column];
  const float score = (by == 0 ? 0 : (value - lower) / by) + offset[column];
  if (method != ScalingMethod::quantile) return score;
  return interpolated(of_column(knots, knots.scores, column),
                      of_column(knots, knots.values, column), score);
}

Scaling Scaling::with_weights(const std::vector<float>& learned) const {
  Scaling result = *this;
  if (is_identity()) {
    result.method = ScalingMethod::weighted;
    result.offset.assign(learned.size(), 0.0F);
    result.factor.assign(learned.size(), 1.0F);
  }
  TAMIS_CHECK(result.factor.size() == learned.size() && result.lower == 0);
  for (std::size_t j = 0; j < learned.size(); ++j) result.factor[j] *= learned[j];
  result.weights = learned;
  if (!weights.empty()) {
    for (std::size_t j = 0; j < learned.size(); ++j) result.weights[j] *= weights[j];
  }
  return result;
}

Scaling Scaling::with_matrix(const std::vector<float>& learned) const {
  const std::size_t cols =
      is_identity()
          ? static_cast<std::size_t>(std::llround(std::sqrt(static_cast<double>(learned.size()))))
          : factor.size();
  TAMIS_CHECK(learned.size() == cols * cols && matrix.empty() && lower == 0);
  std::vector<float> lengths;
  for (std::size_t i = 0; i < cols; ++i) {
    double squares = 0;
    for (std::size_t j = 0; j < cols; ++j) {
      const auto value = static_cast<double>(learned[i * cols + j]);
      squares += value * value;
    }
    lengths.push_back(static_cast<float>(std::sqrt(squares)));
  }
  // The lengths as weights, without their effect on the factors.
  Scaling result = with_weights(lengths);
  result.factor = is_identity() ? std::vector<float>(cols, 1.0F) : factor;
  result.matrix = learned;
  return result;
}

void Scaling::validate() const {
  const auto require = [](bool holds, std::string_view what) {
    if (!holds) throw DataError(fmt::format("the scaling {}", what));
  };
  const auto finite = [](const std::vector<float>& numbers) {
    return std::all_of(numbers.begin(), numbers.end(), [](float v) { return std::isfinite(v); });
  };
  require(offset.size() == factor.size(), "has another number of scaling offsets than of factors");
  require(weights.empty() || weights.size() == factor.size(),
          "has another number of weights than of columns");
  require(std::isfinite(lower) && finite(offset) && finite(factor) && finite(weights) &&
              finite(matrix) && finite(knots.values) && finite(knots.scores),
          "has a number that is not finite");
  require(matrix.empty() || (static_cast<Index>(factor.size()) <= kMaxMatrixColumns &&
                             matrix.size() == factor.size() * factor.size()),
          "has a matrix that does not fit its columns");
  if (method != ScalingMethod::quantile) return;
  require(knots.begin.size() == offset.size() + 1 && knots.begin.front() == 0 &&
              knots.begin.back() == static_cast<Index>(knots.values.size()) &&
              knots.scores.size() == knots.values.size(),
          "has knots that do not fit its columns");
  for (std::size_t j = 0; j < offset.size(); ++j)
    require(knots.begin[j] < knots.begin[j + 1] && knots.begin[j + 1] <= knots.begin.back(),
            "has a column without knots");
  for (std::size_t j = 0; j < offset.size(); ++j) {
    const auto values = of_column(knots, knots.values, j);
    const auto scores = of_column(knots, knots.scores, j);
    require(
        std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end() &&
            std::is_sorted(scores.begin(), scores.end()),
        "has knots that do not ascend");
  }
}

}  // namespace tamis
