#include "tamis/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

constexpr std::string_view kNames[] = {"none", "minmax", "standard", "maxabs"};
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
  double sum = 0;
  Index stored = 0;
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

std::vector<Column> column_ranges(const Matrix& features, ProgressMeter& meter) {
  auto columns = sum_columns<Column>(
      features, meter,
      [](Column& column, std::size_t, float value) {
        column.minimum = std::min(column.minimum, static_cast<double>(value));
        column.maximum = std::max(column.maximum, static_cast<double>(value));
        column.sum += static_cast<double>(value);
        ++column.stored;
      },
      [](Column& into, const Column& part) {
        into.minimum = std::min(into.minimum, part.minimum);
        into.maximum = std::max(into.maximum, part.maximum);
        into.sum += part.sum;
        into.stored += part.stored;
      });
  for (Column& column : columns) {
    if (!std::isfinite(column.sum)) require_finite(features);
    if (column.stored == features.rows()) continue;
    column.minimum = std::min(column.minimum, 0.0);
    column.maximum = std::max(column.maximum, 0.0);
  }
  return columns;
}

// Standard deviations (of the rows as the whole population), in a second pass about the mean: the
// one-pass formula cancels when the mean is large.
std::vector<double> column_deviations(const Matrix& features, const std::vector<Column>& columns,
                                      ProgressMeter& meter) {
  const auto rows = static_cast<double>(features.rows());
  auto squares = sum_columns<double>(
      features, meter,
      [&](double& sum, std::size_t column, float value) {
        const double difference = static_cast<double>(value) - columns[column].sum / rows;
        sum += difference * difference;
      },
      [](double& into, double part) { into += part; });
  for (std::size_t j = 0; j < squares.size(); ++j) {
    const double mean = columns[j].sum / rows;
    const auto zeros = static_cast<double>(features.rows() - columns[j].stored);
    squares[j] = std::sqrt((squares[j] + zeros * mean * mean) / rows);
  }
  return squares;
}

// 0 for a column without spread, also for one so narrow that its factor is no float.
float factor_of(double width, double spread) {
  const double limit = std::numeric_limits<float>::max();
  return spread > 0 && width / spread < limit ? static_cast<float>(width / spread) : 0.0F;
}

float scaled(const Scaling& scaling, std::size_t column, float value) {
  const double shifted = static_cast<double>(value) - static_cast<double>(scaling.offset[column]);
  return static_cast<float>(shifted * static_cast<double>(scaling.factor[column]) +
                            static_cast<double>(scaling.lower));
}

bool keeps_zeros(const Scaling& scaling) {
  for (std::size_t j = 0; j < scaling.offset.size(); ++j) {
    if (scaled(scaling, j, 0.0F) != 0.0F) return false;
  }
  return true;
}

Matrix apply_sparse(const Scaling& scaling, const Matrix& features, ProgressMeter& meter) {
  std::vector<Index> row_begin{0};
  for (Index i = 0; i < features.rows(); ++i)
    row_begin.push_back(row_begin.back() +
                        static_cast<Index>(features.sparse_row(i).values.size()));
  std::vector<std::int32_t> columns(usize(row_begin.back()));
  std::vector<float> values(columns.size());
  const Index step = poll_rows(features.cols());
  parallel_ranges(features.rows(), step, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const SparseRow row = features.sparse_row(i);
      const auto at = row_begin[usize(i)];
      std::copy(row.columns.begin(), row.columns.end(), columns.begin() + at);
      for (std::size_t k = 0; k < row.values.size(); ++k)
        values[usize(at) + k] = scaled(scaling, usize(row.columns[k]), row.values[k]);
      if (i % step == 0) meter.add(std::min(step, end - i));
    }
  });
  return Matrix::sparse(features.cols(), std::move(row_begin), std::move(columns),
                        std::move(values));
}

Matrix apply_dense(const Scaling& scaling, const Matrix& features, ProgressMeter& meter) {
  const Index cols = features.cols();
  std::vector<float> values(usize(checked_product(features.rows(), cols)));
  const Index step = poll_rows(features.cols());
  parallel_ranges(features.rows(), step, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const std::span<float> row(values.data() + i * cols, usize(cols));
      features.copy_row(i, row);
      for (std::size_t j = 0; j < row.size(); ++j) row[j] = scaled(scaling, j, row[j]);
      if (i % step == 0) meter.add(std::min(step, end - i));
    }
  });
  return Matrix::dense(features.rows(), cols, std::move(values));
}

}  // namespace

std::string_view scaling_name(ScalingMethod method) { return kNames[static_cast<int>(method)]; }

ScalingMethod parse_scaling_method(std::string_view name) {
  for (int i = 0; i < 4; ++i) {
    if (name == kNames[i]) return static_cast<ScalingMethod>(i);
  }
  throw InvalidArgument(
      fmt::format("there is no scaling '{}': none, minmax, standard or maxabs", name));
}

Scaling Scaling::fit(const Matrix& features, ScalingMethod method, double lower, double upper,
                     const RunControl& control) {
  Scaling result;
  result.method = method;
  if (method == ScalingMethod::none) return result;
  if (features.rows() == 0) throw DataError("scaling cannot be learnt from no rows");
  if (method == ScalingMethod::minmax) {
    result.lower = static_cast<float>(lower);
    const bool is_valid =
        std::isfinite(result.lower) && std::isfinite(static_cast<float>(upper)) && lower < upper;
    if (!is_valid) {
      throw InvalidArgument(fmt::format(
          "scaling to [{}, {}]: both must be finite, the first below the second", lower, upper));
    }
  }
  // The sums of a part, deviations, offset and factor.
  require_column_memory("scaling", features.cols(),
                        sizeof(Column) + 2 * sizeof(double) + 2 * sizeof(float),
                        memory_left(control.memory_bytes));
  with_threads(control.threads, [&] {
    const bool two_passes = method == ScalingMethod::standard;
    ProgressMeter meter(control, "scale", features.rows() * (two_passes ? 2 : 1));
    const std::vector<Column> columns = column_ranges(features, meter);
    const std::vector<double> deviations =
        two_passes ? column_deviations(features, columns, meter) : std::vector<double>();
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const Column& column = columns[j];
      const bool is_constant = !(column.minimum < column.maximum);
      double origin = 0;
      double spread = std::max(std::abs(column.minimum), std::abs(column.maximum));
      if (method == ScalingMethod::minmax) {
        origin = column.minimum;
        spread = column.maximum - column.minimum;
      } else if (method == ScalingMethod::standard) {
        origin = column.sum / static_cast<double>(features.rows());
        spread = deviations[j];
      }
      const double width = method == ScalingMethod::minmax ? upper - lower : 1.0;
      result.offset.push_back(static_cast<float>(origin));
      result.factor.push_back(is_constant ? 0.0F : factor_of(width, spread));
    }
  });
  return result;
}

Matrix Scaling::apply(const Matrix& features, const RunControl& control) const {
  if (is_identity()) return features;
  if (offset.size() != factor.size() || static_cast<Index>(offset.size()) != features.cols()) {
    throw DataError(fmt::format("rows of {}, but the scaling was learnt from {}",
                                counted(features.cols(), "column"), offset.size()));
  }
  const bool stays_sparse = features.is_sparse() && keeps_zeros(*this);
  if (!stays_sparse) {
    const Index bytes =
        checked_product(checked_product(features.rows(), features.cols()), sizeof(float));
    require_memory(
        features.is_sparse() ? "scaling makes the zeros non-zero (maxabs does not): it" : "scaling",
        bytes, memory_left(control.memory_bytes));
  }
  return with_threads(control.threads, [&] {
    ProgressMeter meter(control, "scale", features.rows());
    return stays_sparse ? apply_sparse(*this, features, meter)
                        : apply_dense(*this, features, meter);
  });
}

}  // namespace tamis
