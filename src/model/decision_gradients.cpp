#include "model/decision_gradients.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "kernels/kernel_value.hpp"

namespace tamis {
namespace {

// Parts of the rows, each summed by one thread: a number that depends on rows and columns alone.
// Each part takes doubles for every column, or pair of columns, so many of them mean few parts.
constexpr Index kMostParts = 64;
constexpr Index kMostSums = Index{1} << 21;  // of all parts
constexpr Index kPartColumnBytes = 3 * sizeof(double);

Index number_of_parts(Index rows, Index sums) {
  return std::clamp<Index>(kMostSums / std::max<Index>(1, sums), 1, std::min(kMostParts, rows));
}

// Calls add(column, value) for the stored values of a row.
template <typename Add>
void visit_row(const Matrix& matrix, Index row, const Add& add) {
  if (matrix.is_sparse()) {
    const SparseRow values = matrix.sparse_row(row);
    for (std::size_t k = 0; k < values.columns.size(); ++k)
      add(usize(values.columns[k]), static_cast<double>(values.values[k]));
  } else {
    const auto values = matrix.dense_row(row);
    for (std::size_t j = 0; j < values.size(); ++j) add(j, static_cast<double>(values[j]));
  }
}

double squared_norm(const Matrix& matrix, Index row) {
  double sum = 0;
  visit_row(matrix, row, [&](std::size_t, double value) { sum += value * value; });
  return sum;
}

int sign(double value) { return (value > 0 ? 1 : 0) - (value < 0 ? 1 : 0); }

enum class Sums { squares, products };

// The squares of the gradients of one row after the other, or all products of their elements, added
// up. One per part of the rows.
class GradientSum {
 public:
  GradientSum(const KernelExpansion& machine, std::span<const double> vector_norms, Sums kind)
      : machine_(machine),
        vector_norms_(vector_norms),
        kind_(kind),
        point_(usize(machine.num_features())),
        gradient_(point_.size()),
        slopes_(vector_norms.size()),
        sum_(kind == Sums::squares ? point_.size() : point_.size() * point_.size(), 0.0) {}

  void add(const Matrix& rows, Index row) {
    std::fill(point_.begin(), point_.end(), 0.0);
    visit_row(rows, row, [&](std::size_t j, double value) { point_[j] = value; });
    if (is_laplacian())
      find_laplacian_slopes();
    else
      find_slopes(squared_norm(rows, row));
    for (Index m = 0; m < machine_.num_machines(); ++m) {
      if (is_laplacian())
        find_laplacian_gradient(m);
      else
        find_gradient(m);
      if (kind_ == Sums::squares)
        add_squares();
      else
        add_products();
    }
  }

  std::vector<double> take() && { return std::move(sum_); }

 private:
  void add_squares() {
    for (std::size_t j = 0; j < sum_.size(); ++j) sum_[j] += gradient_[j] * gradient_[j];
  }

  void add_products() {
    const std::size_t cols = gradient_.size();
    for (std::size_t i = 0; i < cols; ++i) {
      if (gradient_[i] == 0) continue;
      for (std::size_t j = 0; j < cols; ++j) sum_[i * cols + j] += gradient_[i] * gradient_[j];
    }
  }

  bool is_laplacian() const { return machine_.kernel().type == KernelType::laplacian; }

  void find_slopes(double point_norm) {
    const Matrix& vectors = machine_.support_vectors();
    for (std::size_t s = 0; s < slopes_.size(); ++s) {
      double product = 0;
      visit_row(vectors, static_cast<Index>(s),
                [&](std::size_t j, double value) { product += value * point_[j]; });
      const double distance = std::max(0.0, point_norm + vector_norms_[s] - 2 * product);
      slopes_[s] = kernel_slope(machine_.kernel(), product, distance);
    }
  }

  // Of machine m at the point: sum of coefficient * (along_z * z + along_x * x).
  void find_gradient(Index m) {
    std::fill(gradient_.begin(), gradient_.end(), 0.0);
    double along_point = 0;
    for (const Segment& segment : machine_.segments(m)) {
      for (Index s = segment.sv_begin; s < segment.sv_end; ++s) {
        const auto at = usize(segment.coefficient_begin + s - segment.sv_begin);
        const double coefficient = machine_.parts().coefficients[at];
        const KernelSlope& slope = slopes_[usize(s)];
        const double along_vector = coefficient * slope.along_z;
        along_point += coefficient * slope.along_x;
        if (along_vector == 0) continue;
        visit_row(machine_.support_vectors(), s,
                  [&](std::size_t j, double value) { gradient_[j] += along_vector * value; });
      }
    }
    if (along_point == 0) return;
    for (std::size_t j = 0; j < gradient_.size(); ++j) gradient_[j] += along_point * point_[j];
  }

  // |x - z|_1 from |x|_1 and the columns in which z has values.
  void find_laplacian_slopes() {
    double point_size = 0;
    for (const double value : point_) point_size += std::abs(value);
    for (std::size_t s = 0; s < slopes_.size(); ++s) {
      double distance = point_size;
      visit_row(machine_.support_vectors(), static_cast<Index>(s),
                [&](std::size_t j, double value) {
                  distance += std::abs(value - point_[j]) - std::abs(point_[j]);
                });
      slopes_[s].along_z = laplacian_slope(machine_.kernel(), std::max(0.0, distance));
    }
  }

  // Sum of coefficient * slope * sign(z - x): as if z were 0, corrected where it is not.
  void find_laplacian_gradient(Index m) {
    std::fill(gradient_.begin(), gradient_.end(), 0.0);
    double total = 0;
    for (const Segment& segment : machine_.segments(m)) {
      for (Index s = segment.sv_begin; s < segment.sv_end; ++s) {
        const auto at = usize(segment.coefficient_begin + s - segment.sv_begin);
        const double slope = machine_.parts().coefficients[at] * slopes_[usize(s)].along_z;
        total += slope;
        if (slope == 0) continue;
        visit_row(machine_.support_vectors(), s, [&](std::size_t j, double value) {
          gradient_[j] += slope * (sign(value - point_[j]) - sign(-point_[j]));
        });
      }
    }
    for (std::size_t j = 0; j < gradient_.size(); ++j) gradient_[j] += total * sign(-point_[j]);
  }

  const KernelExpansion& machine_;
  std::span<const double> vector_norms_;
  Sums kind_;
  std::vector<double> point_;
  std::vector<double> gradient_;
  std::vector<KernelSlope> slopes_;
  std::vector<double> sum_;
};

std::vector<double> mean_sums(const KernelExpansion& machine, const Matrix& rows, Sums kind,
                              const RunControl& control) {
  TAMIS_CHECK(machine.kernel().type != KernelType::precomputed && rows.rows() > 0);
  const Matrix& vectors = machine.support_vectors();
  std::vector<double> norms;
  for (Index s = 0; s < vectors.rows(); ++s) norms.push_back(squared_norm(vectors, s));
  ProgressMeter meter(control, "gradients", rows.rows());
  const Index cols = machine.num_features();
  const Index sums_of_column = kind == Sums::squares ? 1 : cols;
  const Index count_sums = checked_product(cols, sums_of_column);
  const Index parts = number_of_parts(rows.rows(), count_sums);
  require_column_memory(
      "measuring gradients", cols,
      checked_product(sums_of_column, parts * kPartColumnBytes + Index{sizeof(double)}),
      memory_left(control.memory_bytes));
  std::vector<std::vector<double>> sums(usize(parts));
  parallel_each(parts, [&](Index part) {
    GradientSum sum(machine, norms, kind);
    for (Index i = rows.rows() * part / parts; i < rows.rows() * (part + 1) / parts; ++i) {
      sum.add(rows, i);
      meter.add(1);
    }
    sums[usize(part)] = std::move(sum).take();
  });
  const double count =
      static_cast<double>(rows.rows()) * static_cast<double>(machine.num_machines());
  std::vector<double> result(usize(count_sums), 0.0);
  for (const std::vector<double>& sum : sums) {
    for (std::size_t j = 0; j < result.size(); ++j) result[j] += sum[j] / count;
  }
  return result;
}

}  // namespace

std::vector<double> mean_squared_gradients(const KernelExpansion& machine, const Matrix& rows,
                                           const RunControl& control) {
  return mean_sums(machine, rows, Sums::squares, control);
}

std::vector<double> mean_gradient_products(const KernelExpansion& machine, const Matrix& rows,
                                           const RunControl& control) {
  return mean_sums(machine, rows, Sums::products, control);
}

double gradient_work(const KernelExpansion& machine, bool products) {
  const Matrix& vectors = machine.support_vectors();
  const double per_vector = static_cast<double>(vectors.num_stored()) /
                            static_cast<double>(std::max<Index>(1, vectors.rows()));
  const auto coefficients = static_cast<double>(machine.parts().coefficients.size());
  const double vectors_work =
      (coefficients + static_cast<double>(vectors.rows())) * (per_vector + 30);  // 30: the kernel
  const auto cols = static_cast<double>(machine.num_features());
  return vectors_work +
         static_cast<double>(machine.num_machines()) * (products ? cols * cols : cols);
}

}  // namespace tamis
