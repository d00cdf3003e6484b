#include "neighbors/distances.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

// Below this many columns, or above this share of values that are not zero, rows are held dense.
constexpr Index kFewColumns = 32;
constexpr Index kDenseShare = 4;  // one in

Index longest_row(const Matrix& points) {
  if (!points.is_sparse()) return points.cols();
  Index longest = 0;
  for (Index i = 0; i < points.rows(); ++i)
    longest = std::max(longest, static_cast<Index>(points.sparse_row(i).values.size()));
  return longest;
}

bool keeps_euclidean_order(const Metric& metric) {
  return !metric.kernel || metric.kernel->type == KernelType::linear ||
         metric.kernel->type == KernelType::rbf;
}

}  // namespace

bool better_dense(Index stored, Index rows, Index cols) {
  return cols <= kFewColumns || stored >= checked_product(rows, cols) / kDenseShare;
}

Space::Space(const Metric& metric, const Matrix& points) : points_(points) {
  if (metric.kernel) metric.kernel->validate();
  if (points.rows() >= std::numeric_limits<std::uint32_t>::max()) {
    throw InvalidArgument(
        fmt::format("{} rows: a neighbor index takes fewer than 2^32 - 1", points.rows()));
  }
  const bool precomputed = metric.kernel && metric.kernel->type == KernelType::precomputed;
  if (points.is_sparse() && !precomputed &&
      metric.held_dense.value_or(better_dense(points.num_stored(), points.rows(), points.cols())))
    points_ = points.to_dense();
  if (metric.kernel && metric.kernel->type == KernelType::rbf) rbf_gamma_ = metric.kernel->gamma;
  if (!keeps_euclidean_order(metric)) {
    kernel_ = metric.kernel;
    // Sparse L1 distances are too coarse for the allowance below.
    is_metric_ = (kernel_->type == KernelType::polynomial && kernel_->coef0 >= 0) ||
                 (kernel_->type == KernelType::laplacian && !points_.is_sparse());
  } else if (points_.is_sparse()) {
    kernel_ = Kernel{.type = KernelType::linear};
  }
  // A sum of t float32 terms is off by at most about t units of 2^-24 of the sum of their sizes; a
  // power multiplies that by its degree. Twice and four times as much leaves room for the rest.
  const double terms = static_cast<double>(longest_row(points_)) + 8;
  relative_error_ = terms * 0x1p-23;
  if (kernel_) {
    const double degree = kernel_->type == KernelType::polynomial ? kernel_->degree : 1;
    absolute_error_ = 4 * terms * degree * 0x1p-23;
  }
}

std::shared_ptr<const Space> Space::of_points(std::span<const Index> rows) const {
  auto some = std::make_shared<Space>(*this);
  some->points_ = points_.select(rows);
  return some;
}

Matrix Space::stored_like_points(const Matrix& rows) const {
  if (like_points(rows)) return rows;
  return points_.is_sparse() ? rows.to_sparse() : rows.to_dense();
}

KernelBlocks Space::blocks(std::span<const Index> order) const {
  if (kernel_) return KernelBlocks(*kernel_, points_, order);
  return KernelBlocks::squared_distances(points_, order);
}

std::vector<float> Space::self_values(const Matrix& matrix, std::span<const Index> rows) const {
  if (!kernel_ || rows.empty()) return {};
  std::vector<float> values(rows.size());
  parallel_ranges(static_cast<Index>(rows.size()), kPanel, [&](Index begin, Index end) {
    for (Index first = begin; first < end; first += kPanel) {
      const Index count = std::min(kPanel, end - first);
      const auto some = rows.subspan(usize(first), usize(count));
      if (kernel_->type == KernelType::precomputed) {
        for (const Index row : some) {
          const float serial = matrix.at(row, 0);
          if (serial >= 1 && serial < static_cast<float>(matrix.cols()) &&
              serial == std::floor(serial))
            continue;
          throw DataError(
              fmt::format("row {}: column 0 of a precomputed kernel must be the row's number, 1 to "
                          "{}; it is {}",
                          matrix.row_number(row), matrix.cols() - 1, serial));
        }
      }
      const KernelBlocks blocks(*kernel_, matrix, some);
      float out[kPanel * kPanel];
      blocks.evaluate(matrix, some, 0, count, out, kPanel);
      for (Index i = 0; i < count; ++i) {
        const float value = out[i * kPanel + i];
        if (!std::isfinite(value)) {
          throw DataError(
              fmt::format("row {} has the kernel value K(x, x) = {}, too large for float32: scale "
                          "the data",
                          matrix.row_number(some[usize(i)]), value));
        }
        values[usize(first + i)] = value;
      }
    }
  });
  return values;
}

float Space::reported(float squared) const {
  if (!rbf_gamma_) return squared;
  return static_cast<float>(-2 * std::expm1(-*rbf_gamma_ * static_cast<double>(squared)));
}

float Space::internal_limit(double squared_radius) const {
  double limit = squared_radius;
  if (rbf_gamma_ && limit >= 0) {
    if (limit >= 2) return std::numeric_limits<float>::infinity();
    limit = -std::log1p(-limit / 2) / *rbf_gamma_;
  }
  if (!(limit >= 0)) return -1;  // nothing is at a negative distance
  constexpr float kLargest = std::numeric_limits<float>::max();
  if (limit > static_cast<double>(kLargest)) {
    return std::isinf(limit) ? std::numeric_limits<float>::infinity() : kLargest;
  }
  // The largest float that is not above it, so that comparing floats is comparing with the limit.
  const auto rounded = static_cast<float>(limit);
  return static_cast<double>(rounded) > limit ? std::nextafter(rounded, -1.0F) : rounded;
}

Distances::Distances(const Space& space, std::span<const Index> order)
    : blocks_(space.blocks(order)) {
  if (space.uses_differences()) return;
  if (!order.empty()) {
    self_ = space.self_values(space.points(), order);
    return;
  }
  std::vector<Index> all(usize(space.points().rows()));
  std::iota(all.begin(), all.end(), Index{0});
  self_ = space.self_values(space.points(), all);
}

void Distances::evaluate(const Matrix& matrix, std::span<const Index> rows,
                         std::span<const float> self, Index begin, Index end, float* out,
                         Index stride) const {
  blocks_.evaluate(matrix, rows, begin, end, out, stride);
  if (self_.empty()) return;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    float* values = out + static_cast<Index>(r) * stride;
    const float* points = self_.data() + begin;
    for (Index c = 0; c < end - begin; ++c) {
      const float squared = (self[r] + points[c]) - 2.0F * values[c];
      values[c] = squared > 0.0F ? squared : 0.0F;
    }
  }
}

Index Distances::size_bytes() const {
  return blocks_.size_bytes() + static_cast<Index>(self_.size() * sizeof(float));
}

std::vector<float> distances_from(const Space& space, Index point, const RunControl& control) {
  constexpr Index kPointsAtOnce = 1024;
  const Index n = space.points().rows();
  const std::vector<float> self = space.self_values(space.points(), {&point, 1});
  std::vector<float> result(usize(round_up(n, kPanel)));
  parallel_ranges(n, kPointsAtOnce, [&](Index first, Index last) {
    for (Index begin = first; begin < last; begin += kPointsAtOnce) {
      if (control.cancelled()) throw Cancelled();
      std::vector<Index> some(usize(std::min(kPointsAtOnce, last - begin)));
      std::iota(some.begin(), some.end(), begin);
      const auto count = static_cast<Index>(some.size());
      Distances(space, some)
          .evaluate(space.points(), {&point, 1}, self, 0, count, result.data() + begin,
                    round_up(count, kPanel));
    }
  });
  result.resize(usize(n));
  return result;
}

}  // namespace tamis
