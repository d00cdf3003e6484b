#include "gram/computed_rows.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "kernels/kernel_value.hpp"

namespace tamis {
namespace {

std::size_t usize(Index value) { return static_cast<std::size_t>(value); }

constexpr Index kStrip =
    512;  // columns a task works on at a time: its sums and panels stay in the second-level cache
constexpr Index kRowsAtOnce = 64;        // rows computed into scratch before they are added up
constexpr Index kPieceOfPoints = 65536;  // points packed at a time by accumulate_at

// Computing a value costs about this much per feature (or stored value of a sparse row), relative
// to fetching it from memory; fresh memory costs several times as much again. So rows of few
// features are never kept, and others only when they were asked for often enough to be asked for
// again.
constexpr double kFeaturesPerFetch = 6;
constexpr double kFeaturesPerFreshMemory = 40;

double features_per_row(const Matrix& data) {
  return static_cast<double>(data.num_stored()) /
         static_cast<double>(std::max<Index>(1, data.rows()));
}

int asks_before_keeping(const Matrix& data) {
  return static_cast<int>(std::clamp(
      std::ceil(kFeaturesPerFreshMemory / std::max(1.0, features_per_row(data))), 1.0, 100.0));
}

}  // namespace

ComputedRows::ComputedRows(const Kernel& kernel, const Matrix& data, std::vector<Index> rows,
                           Index cache_bytes, std::function<bool()> interrupted)
    : kernel_(kernel),
      data_(data),
      rows_(std::move(rows)),
      interrupted_(std::move(interrupted)),
      cache_bytes_(features_per_row(data) < kFeaturesPerFetch ? 0 : cache_bytes),
      times_asked_(rows_.size(), 0),
      asks_to_keep_(asks_before_keeping(data)) {
  const std::vector<double> all = kernel_diagonal(kernel, data);
  diagonal_.reserve(rows_.size());
  for (const Index row : rows_) diagonal_.push_back(all[usize(row)]);
}

std::vector<Index> ComputedRows::data_rows(std::span<const Index> points) const {
  std::vector<Index> result;
  result.reserve(points.size());
  for (const Index point : points) result.push_back(rows_[usize(point)]);
  return result;
}

void ComputedRows::square(std::span<const Index> points, float* block, Index stride) {
  const Index size = static_cast<Index>(points.size());
  const std::vector<Index> rows = data_rows(points);
  const KernelBlocks blocks(kernel_, data_, rows);
  parallel_ranges(size, kRowsAtOnce, [&](Index begin, Index end) {
    blocks.evaluate(data_, std::span(rows).subspan(usize(begin), usize(end - begin)), 0, size,
                    block + begin * stride, stride);
  });
  counts_.computed += size * size;
}

void ComputedRows::set_active(std::span<const Index> points) {
  const Index count = static_cast<Index>(points.size());
  if (cache_) {
    // Old places of the points that stay; what follows them is new.
    std::vector<Index> place(rows_.size(), -1);
    for (std::size_t p = 0; p < active_.size(); ++p)
      place[usize(active_[p])] = static_cast<Index>(p);
    std::vector<Index> kept;
    for (const Index point : points) {
      const Index old = place[usize(point)];
      if (old < 0 || (!kept.empty() && old <= kept.back())) break;
      kept.push_back(old);
    }
    cache_->remap(kept, count - static_cast<Index>(kept.size()));
  } else {
    cache_.emplace(size(), count, cache_bytes_);
  }
  active_.assign(points.begin(), points.end());
  active_blocks_.emplace(kernel_, data_, data_rows(points));
}

// A row enters the cache at its second use at the earliest: many are needed only once.
std::vector<ComputedRows::Request> ComputedRows::look_up(std::span<const Index> rows,
                                                         std::span<const double> coefficients) {
  cache_->begin_round(static_cast<Index>(rows.size()));
  std::vector<Request> requests;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    Request request{rows_[usize(rows[r])], coefficients[r]};
    request.kept = cache_->find(rows[r], &request.covered);
    std::uint8_t& asked = times_asked_[usize(rows[r])];
    if (request.kept == nullptr && (asked > 0 || asks_to_keep_ == 0))
      request.kept = cache_->insert(rows[r], asked >= asks_to_keep_);
    asked = static_cast<std::uint8_t>(std::min(asked + 1, 255));
    requests.push_back(request);
  }
  return requests;
}

bool ComputedRows::accumulate(std::span<const Index> rows, std::span<const double> coefficients,
                              std::span<double> sums) {
  const std::vector<Request> requests = look_up(rows, coefficients);
  if (!add_requests(*active_blocks_, requests, sums)) {
    return false;
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (requests[r].kept != nullptr) cache_->set_covered(rows[r], static_cast<Index>(sums.size()));
  }
  return true;
}

bool ComputedRows::accumulate_at(std::span<const Index> points, std::span<const Index> rows,
                                 std::span<const double> coefficients, std::span<double> sums) {
  std::vector<Request> requests;
  for (std::size_t r = 0; r < rows.size(); ++r)
    requests.push_back({rows_[usize(rows[r])], coefficients[r]});
  for (std::size_t first = 0; first < points.size(); first += kPieceOfPoints) {
    const std::size_t count = std::min<std::size_t>(kPieceOfPoints, points.size() - first);
    const KernelBlocks blocks(kernel_, data_, data_rows(points.subspan(first, count)));
    if (!add_requests(blocks, requests, sums.subspan(first, count))) return false;
  }
  return true;
}

bool ComputedRows::add_requests(const KernelBlocks& blocks, std::span<const Request> requests,
                                std::span<double> sums) {
  const Index count = static_cast<Index>(sums.size());
  for (const Request& request : requests) {
    const Index kept = std::min(count, request.covered / kStrip * kStrip);
    counts_.cached += kept;
    counts_.computed += count - kept;
  }
  std::atomic<bool> stopped = false;
  parallel_ranges(count, kStrip, [&](Index begin, Index end) {
    for (Index strip = begin; strip < end && !stopped; strip += kStrip) {
      if (interrupted_()) stopped = true;
      add_strip(blocks, requests, strip, std::min(strip + kStrip, end), sums.data());
    }
  });
  return !stopped;
}

void ComputedRows::add_strip(const KernelBlocks& blocks, std::span<const Request> requests,
                             Index begin, Index end, double* sums) const {
  alignas(64) float scratch[kRowsAtOnce * kStrip];
  const Index columns = end - begin;
  const float* kept_rows[kRowsAtOnce];
  double kept_coefficients[kRowsAtOnce];
  Index to_compute[kRowsAtOnce];
  float* destinations[kRowsAtOnce];
  double coefficients[kRowsAtOnce];
  Index num_kept = 0;
  Index num_to_compute = 0;
  const auto flush_kept = [&] {
    accumulate_rows(std::span(kept_rows, usize(num_kept)),
                    std::span(kept_coefficients, usize(num_kept)), columns, sums + begin);
    num_kept = 0;
  };
  const auto flush_computed = [&] {
    blocks.evaluate(data_, std::span(to_compute, usize(num_to_compute)), begin, end, scratch,
                    kStrip);
    accumulate_rows(scratch, kStrip, std::span(coefficients, usize(num_to_compute)), columns,
                    sums + begin);
    for (Index r = 0; r < num_to_compute; ++r) {
      if (destinations[r] != nullptr)
        std::copy_n(scratch + r * kStrip, columns, destinations[r] + begin);
    }
    num_to_compute = 0;
  };
  for (const Request& request : requests) {
    if (request.covered >= end) {
      kept_rows[num_kept] = request.kept + begin;
      kept_coefficients[num_kept++] = request.coefficient;
      if (num_kept == kRowsAtOnce) flush_kept();
    } else {
      to_compute[num_to_compute] = request.data_row;
      destinations[num_to_compute] = request.kept;
      coefficients[num_to_compute++] = request.coefficient;
      if (num_to_compute == kRowsAtOnce) flush_computed();
    }
  }
  if (num_kept > 0) flush_kept();
  if (num_to_compute > 0) flush_computed();
}

}  // namespace tamis
