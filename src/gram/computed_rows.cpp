#include "gram/computed_rows.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

#include "base/checked.hpp"
#include "base/clock.hpp"
#include "base/parallel.hpp"
#include "kernels/kernel_value.hpp"

namespace tamis {
namespace {

constexpr Index kStrip =
    512;  // columns a task works on at a time: its sums and panels stay in the second-level cache
constexpr Index kRowsAtOnce = 64;        // rows computed into scratch before they are added up
constexpr Index kPieceOfPoints = 65536;  // points packed at a time by accumulate_at

// Fetching a value from memory, one thread of several. Only relative to computing it does this
// matter, and roughly.
constexpr double kFetchSeconds = 0.4e-9;

}  // namespace

ComputedRows::ComputedRows(const Kernel& kernel, const Matrix& data, std::vector<Index> rows,
                           Index cache_bytes, std::function<bool()> interrupted)
    : kernel_(kernel),
      data_(data),
      rows_(std::move(rows)),
      diagonal_(kernel_diagonal(kernel, data, rows_)),
      interrupted_(std::move(interrupted)),
      cache_bytes_(cache_bytes),
      times_asked_(rows_.size(), 0) {}

std::vector<Index> ComputedRows::data_rows(std::span<const Index> points) const {
  std::vector<Index> result;
  result.reserve(points.size());
  for (const Index point : points) result.push_back(rows_[usize(point)]);
  return result;
}

void ComputedRows::square(std::span<const Index> points, float* block, Index stride) {
  const Index size = static_cast<Index>(points.size());
  const std::vector<Index> rows = data_rows(points);
  counts_.computed += size * size;
  const KernelBlocks blocks(kernel_, data_, rows);
  parallel_ranges(size, kRowsAtOnce, [&](Index begin, Index end) {
    blocks.evaluate(data_, std::span(rows).subspan(usize(begin), usize(end - begin)), 0, size,
                    block + begin * stride, stride);
  });
}

bool ComputedRows::precise_square(std::span<const Index> points, float* block, float* rest,
                                  Index stride) {
  const Index size = static_cast<Index>(points.size());
  const std::vector<Index> rows = data_rows(points);
  counts_.computed += size * (size + 1) / 2;
  std::atomic<bool> stopped = false;
  parallel_each(size, [&](Index r) {
    if (stopped || interrupted_()) {
      stopped = true;
      return;
    }
    std::fill_n(block + r * stride + size, stride - size, 0.0F);
    std::fill_n(rest + r * stride + size, stride - size, 0.0F);
    for (Index c = r; c < size; ++c) {
      const double value = kernel_value(kernel_, data_, rows[usize(r)], data_, rows[usize(c)]);
      const auto rounded = static_cast<float>(value);
      const auto remainder = static_cast<float>(value - static_cast<double>(rounded));
      block[r * stride + c] = block[c * stride + r] = rounded;
      rest[r * stride + c] = rest[c * stride + r] = remainder;
    }
  });
  return !stopped;
}

void ComputedRows::set_active(std::span<const Index> points) {
  const Index count = static_cast<Index>(points.size());
  const bool first = !cache_;
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
  }
  active_.assign(points.begin(), points.end());
  active_blocks_.emplace(kernel_, data_, data_rows(points));
  if (first) make_cache();
}

// Keeping a row pays when it saves more than the fresh memory it takes. How often it will be asked
// for is unknown, so it is kept when recomputing it has cost as much as the memory would (the
// ski-rental rule). Both prices are measured: on virtual machines fresh memory can cost thirty
// times as much as elsewhere. No result depends on what is kept.
void ComputedRows::make_cache() {
  saved_seconds_ = measure_compute_seconds() - kFetchSeconds;
  cache_.emplace(size(), static_cast<Index>(active_.size()), saved_seconds_ > 0 ? cache_bytes_ : 0);
}

// Seconds a kernel value takes one thread.
double ComputedRows::measure_compute_seconds() const {
  const Index columns = std::min<Index>(kStrip, static_cast<Index>(active_.size()));
  const std::vector<Index> rows(kRowsAtOnce, rows_[0]);
  std::vector<float> values(usize(kRowsAtOnce * kStrip));
  double best = std::numeric_limits<double>::infinity();
  for (int trial = 0; trial < 5; ++trial) {  // the best of a few: the first one warms the caches
    const Stopwatch watch;
    active_blocks_->evaluate(data_, rows, 0, columns, values.data(), kStrip);
    best = std::min(best, watch.seconds());
  }
  return best / static_cast<double>(kRowsAtOnce * columns);
}

std::vector<ComputedRows::Request> ComputedRows::look_up(std::span<const Index> rows,
                                                         std::span<const double> coefficients) {
  cache_->begin_round(static_cast<Index>(rows.size()));
  std::vector<Request> requests;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    Request request{rows_[usize(rows[r])], coefficients[r]};
    request.kept = cache_->find(rows[r], &request.covered);
    std::uint8_t& asked = times_asked_[usize(rows[r])];
    const bool worth_it = asked * saved_seconds_ >= cache_->fresh_seconds();
    if (request.kept == nullptr && (asked > 0 || worth_it))
      request.kept = cache_->insert(rows[r], worth_it);
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

// Rows are added in the order of the requests, wherever their values come from, so that the sums do
// not depend on what happens to be kept.
void ComputedRows::add_strip(const KernelBlocks& blocks, std::span<const Request> requests,
                             Index begin, Index end, double* sums) const {
  alignas(64) float scratch[kRowsAtOnce * kStrip];
  const Index columns = end - begin;
  const float* values[kRowsAtOnce];
  double coefficients[kRowsAtOnce];
  Index to_compute[kRowsAtOnce];
  float* destinations[kRowsAtOnce];
  for (std::size_t first = 0; first < requests.size(); first += kRowsAtOnce) {
    const std::size_t count = std::min<std::size_t>(kRowsAtOnce, requests.size() - first);
    Index computed = 0;
    for (std::size_t r = 0; r < count; ++r) {
      const Request& request = requests[first + r];
      coefficients[r] = request.coefficient;
      if (request.covered >= end) {
        values[r] = request.kept + begin;
      } else {
        values[r] = scratch + computed * kStrip;
        to_compute[computed] = request.data_row;
        destinations[computed++] = request.kept;
      }
    }
    blocks.evaluate(data_, std::span(to_compute, usize(computed)), begin, end, scratch, kStrip);
    accumulate_rows(std::span(values, count), std::span(coefficients, count), columns,
                    sums + begin);
    for (Index r = 0; r < computed; ++r) {
      if (destinations[r] != nullptr)
        std::copy_n(scratch + r * kStrip, columns, destinations[r] + begin);
    }
  }
}

}  // namespace tamis
