#include "model/anchor_search.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "neighbors/neighbor_index.hpp"

namespace tamis {
namespace {

// Distances may be summed in another order than those to boxes.
constexpr float kRounding = 1.0F - 1e-5F;

float squared_distance(std::span<const float> lower, std::span<const float> upper,
                       std::span<const float> query) {
  float sum = 0;
  for (std::size_t j = 0; j < query.size(); ++j) {
    const float beyond = std::max({lower[j] - query[j], query[j] - upper[j], 0.0F});
    sum += beyond * beyond;
  }
  return sum * kRounding;
}

bool is_euclidean(const Kernel& kernel) {
  return kernel.type == KernelType::rbf || kernel.type == KernelType::linear ||
         kernel.type == KernelType::laplacian;
}

}  // namespace

struct AnchorSearch::Found {
  std::vector<float> distance;
  std::vector<Index> anchor;
};

AnchorSearch::AnchorSearch(const Matrix& rows, const SharedArray<Index>& anchors,
                           const Kernel& kernel, Index whole, Index part)
    : rows_(rows), anchors_(anchors), kernel_(kernel) {
  const Index count = anchors.empty() ? rows.rows() : anchors.size();
  const bool has_one = count <= whole || rows.is_sparse() || !is_euclidean(kernel);
  const Index step = has_one ? std::max<Index>(1, count) : part;
  for (Index begin = 0; begin < count; begin += step) {
    Part& next = parts_.emplace_back();
    next.begin = begin;
    next.end = std::min(begin + step, count);
  }
}

AnchorSearch::~AnchorSearch() = default;

Matrix AnchorSearch::rows_of(const Part& part) const {
  if (!anchors_.empty()) return rows_.select(anchors_.range(part.begin, part.end));
  if (part.end - part.begin == rows_.rows()) return rows_;
  return Matrix::dense_view(part.end - part.begin, rows_.cols(), rows_.dense_row(part.begin).data(),
                            std::make_shared<const Matrix>(rows_));
}

void AnchorSearch::set_boxes() const {
  const auto cols = usize(rows_.cols());
  parallel_each(std::ssize(parts_), [&](Index p) {
    Part& part = parts_[usize(p)];
    part.lower.assign(cols, std::numeric_limits<float>::infinity());
    part.upper.assign(cols, -std::numeric_limits<float>::infinity());
    for (Index a = part.begin; a < part.end; ++a) {
      const auto row = rows_.dense_row(anchors_.empty() ? a : anchors_[a]);
      for (std::size_t j = 0; j < cols; ++j) {
        part.lower[j] = std::min(part.lower[j], row[j]);
        part.upper[j] = std::max(part.upper[j], row[j]);
      }
    }
  });
}

const NeighborIndex& AnchorSearch::index_of(Part& part, const RunControl& control) const {
  if (part.index) return *part.index;
  part.rows = rows_of(part);
  // In parts, distances must be comparable: not those of the kernel, which differ no more far away.
  const Metric metric = parts_.size() > 1 ? Metric{} : neighbor_metric(kernel_);
  part.index = make_neighbor_index(part.rows, metric, Structure::automatic, quiet(control), 1);
  return *part.index;
}

std::vector<Index> AnchorSearch::nearest(const Matrix& queries, const RunControl& control) const {
  std::unique_lock<std::mutex> lock(mutex_);
  // A thread that waits inside must not begin a task that asks for an index too.
  isolated([&] {
    if (is_checked_) return;
    require_finite(rows_);
    if (parts_.size() > 1) set_boxes();
    is_checked_ = true;
  });
  if (parts_.size() > 1) return isolated([&] { return nearest_of_parts(queries, control); });
  const NeighborIndex& index = *isolated([&] { return &index_of(parts_[0], control); });
  lock.unlock();
  return index.nearest(queries, 1, quiet(control)).rows;
}

void AnchorSearch::search_part(Part& part, const Matrix& queries, const std::vector<Index>& which,
                               const RunControl& control, Found* found) const {
  if (which.empty()) return;
  const Neighbors nearest = index_of(part, control).nearest(queries, which, 1, quiet(control));
  for (std::size_t i = 0; i < which.size(); ++i) {
    const std::size_t q = usize(which[i]);
    const float distance = nearest.squared_distances[i];
    const Index anchor = part.begin + nearest.rows[i];
    const bool is_nearer = distance < found->distance[q] ||
                           (distance == found->distance[q] && anchor < found->anchor[q]);
    if (!is_nearer) continue;
    found->distance[q] = distance;
    found->anchor[q] = anchor;
  }
  // Kept while there is room for another one next to it.
  if (memory_left(control.memory_bytes) > 2 * (part.index->size_bytes() + part.rows.size_bytes()))
    return;
  part.index.reset();
  part.rows = {};
}

std::vector<Index> AnchorSearch::nearest_of_parts(const Matrix& given,
                                                  const RunControl& control) const {
  const Matrix queries = given.to_dense();
  const auto count = usize(queries.rows());
  Found found{std::vector<float>(count, std::numeric_limits<float>::infinity()),
              std::vector<Index>(count, std::numeric_limits<Index>::max())};
  const auto bound = [&](const Part& part, Index q) {
    return squared_distance(part.lower, part.upper, queries.dense_row(q));
  };
  // First the part that a query is in, or closest to: then most others are too far.
  std::vector<std::int32_t> first(count, 0);
  parallel_ranges(queries.rows(), 1024, [&](Index begin, Index end) {
    for (Index q = begin; q < end; ++q) {
      float least = std::numeric_limits<float>::infinity();
      for (std::size_t p = 0; p < parts_.size(); ++p) {
        const float distance = bound(parts_[p], q);
        if (distance >= least) continue;
        least = distance;
        first[usize(q)] = static_cast<std::int32_t>(p);
      }
    }
  });
  for (const bool is_first : {true, false}) {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      std::vector<std::uint8_t> asks(count, 0);
      parallel_ranges(queries.rows(), 1024, [&](Index begin, Index end) {
        for (Index q = begin; q < end; ++q) {
          const bool starts_here = first[usize(q)] == static_cast<std::int32_t>(p);
          asks[usize(q)] = is_first
                               ? starts_here
                               : !starts_here && bound(parts_[p], q) <= found.distance[usize(q)];
        }
      });
      std::vector<Index> which;
      for (std::size_t q = 0; q < count; ++q) {
        if (asks[q] != 0) which.push_back(static_cast<Index>(q));
      }
      search_part(parts_[p], queries, which, control, &found);
    }
  }
  return std::move(found.anchor);
}

}  // namespace tamis
