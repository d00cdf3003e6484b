#include "gram/computed_rows.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <numeric>

#include "base/checked.hpp"
#include "base/clock.hpp"
#include "base/group.hpp"
#include "base/parallel.hpp"
#include "data/row_messages.hpp"
#include "gram/linear_rows.hpp"
#include "kernels/kernel_value.hpp"

namespace tamis {
namespace {

constexpr Index kStrip =
    512;  // columns a task works on at a time: its sums and panels stay in the second-level cache
constexpr Index kSmallestStrip = 64;
constexpr Index kFewestStrips = 16;  // of few columns, so that no thread waits for a long last one
constexpr Index kMostRows = KernelBlocks::kMostRowsAtOnce;  // computed before they are added up
constexpr Index kPieceOfPoints = 65536;  // points packed at a time by accumulate_at

// By the number of columns alone: what is counted as cached must not depend on the threads.
Index strip_of(Index columns) {
  return std::clamp(round_up(columns / kFewestStrips, kSmallestStrip), kSmallestStrip, kStrip);
}

// Fetching a value from memory, one thread of several. Only relative to computing it does this
// matter, and roughly.
constexpr double kFetchSeconds = 0.4e-9;

}  // namespace

ComputedRows::ComputedRows(const Kernel& kernel, const Matrix& data, std::span<const Index> rows,
                           Index cache_bytes, std::function<bool()> interrupted)
    : ComputedRows(alone(), kernel, data, {rows.begin(), rows.end()}, cache_bytes,
                   has_many_far_pairs(kernel, data, rows), DistanceBy::differences,
                   std::move(interrupted)) {}

ComputedRows::ComputedRows(Group& group, const Kernel& kernel, const Matrix& data,
                           RowVector<Index> rows, Index cache_bytes, bool leaves_far_out,
                           DistanceBy distance_by, std::function<bool()> interrupted,
                           const RunControl* control)
    : group_(group),
      control_(control),
      kernel_(kernel),
      data_(data),
      rows_(std::move(rows)),
      diagonal_(rows_.size(), store()),
      distance_by_(distance_by),
      norms_(needs_norms(kernel, data, distance_by) ? rows_.size() : 0, store()),
      interrupted_(std::move(interrupted)),
      cache_bytes_(cache_bytes),
      leaves_far_out_(leaves_far_out),
      active_(store()),
      times_asked_(rows_.size(), 0, store()) {
  kernel_diagonal(kernel, data, rows_, diagonal_);
  row_norms(kernel, data, rows_, norms_);
}

// Rows that the last call brought are here already: half of a block was in the block before.
std::vector<Index> ComputedRows::bring(std::span<const qp::PointName> points) {
  if (group_.size() == 1) return RowSource::bring(points);
  std::vector<Index> sent;
  std::vector<Index> known;
  std::vector<std::int32_t> part_of_row;
  std::unordered_map<std::uint64_t, Index> guest_of_name;
  guest_of_name.reserve(points.size());
  for (const qp::PointName& name : points) {
    const auto found = guest_of_name_.find(name.as_number());
    const bool is_new = found == guest_of_name_.end();
    part_of_row.push_back(is_new ? name.owner : group_.size());
    if (!is_new) known.push_back(found->second);
    if (is_new && name.owner == group_.rank()) sent.push_back(rows_[usize(name.point)]);
    guest_of_name.emplace(name.as_number(), std::ssize(part_of_row) - 1);
  }
  std::vector<Matrix> parts;
  for (Group::Message& message : group_.all_gather(pack_rows(data_, sent)))
    parts.push_back(unpack_rows(std::move(message), data_));
  parts.push_back(guests_.select(known));
  guests_ = interleave_rows(parts, part_of_row);
  guest_of_name_ = std::move(guest_of_name);
  std::vector<Index> guest_rows(points.size());
  std::iota(guest_rows.begin(), guest_rows.end(), 0);
  guest_norms_ = row_norms(kernel_, guests_, guest_rows, distance_by_);
  if (!leaves_far_out_) number_for_cache(points);
  std::vector<Index> numbers(points.size());
  std::iota(numbers.begin(), numbers.end(), size());
  return numbers;
}

void ComputedRows::number_for_cache(std::span<const qp::PointName> guests) {
  guest_cached_rows_.clear();
  for (const qp::PointName& name : guests) {
    Index cached = name.point;
    if (name.owner != group_.rank()) {
      const auto [found, is_new] =
          foreign_.emplace(name.as_number(), static_cast<Index>(times_asked_.size()));
      cached = found->second;
      if (is_new) {
        times_asked_.push_back(0);
        if (cache_) cache_->add_row();
      }
    }
    guest_cached_rows_.push_back(cached);
  }
}

const Matrix& ComputedRows::rows_matrix(std::span<const Index> points) const {
  return !points.empty() && points[0] >= size() ? guests_ : data_;
}

Index ComputedRows::data_row(Index point) const {
  return point >= size() ? point - size() : rows_[usize(point)];
}

float ComputedRows::norm(Index point) const {
  return point >= size() ? guest_norms_[usize(point - size())] : norms_[usize(point)];
}

Index ComputedRows::cached_row(Index point) const {
  return point >= size() ? guest_cached_rows_[usize(point - size())] : point;
}

std::vector<Index> ComputedRows::data_rows(std::span<const Index> points) const {
  std::vector<Index> result;
  result.reserve(points.size());
  for (const Index point : points) result.push_back(data_row(point));
  return result;
}

std::vector<float> ComputedRows::norms_of(std::span<const Index> points) const {
  std::vector<float> result;
  for (std::size_t k = 0; k < points.size() && has_norms(); ++k) result.push_back(norm(points[k]));
  return result;
}

void ComputedRows::count_in_block(Index values) {
  counts_.computed += values;
  counts_.in_blocks += values;
}

PointSquare ComputedRows::square_of(std::span<const Index> points) const {
  return {kernel_, rows_matrix(points), data_rows(points), norms_of(points), distance_by_};
}

void ComputedRows::rest_of_square(std::span<const Index> points, Index known, float* block,
                                  Index stride) {
  count_in_block(square_of(points).compute(known, block, stride));
}

void ComputedRows::rest_of_square_together(std::span<const Index> points, Index known, float* block,
                                           Index stride) {
  count_in_block(square_of(points).compute_together(group_, known, block, stride));
}

bool ComputedRows::begin_block(std::span<const Index> points) {
  if (!KernelBlocks::is_quick_with_single_rows(data_)) return false;
  square_.emplace(square_of(points));
  return true;
}

void ComputedRows::block_row(Index r, float* values) const { square_->compute_row(r, values); }

void ComputedRows::end_block(Index rows_used) {
  count_in_block(rows_used * square_->size());
  square_.reset();
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

bool ComputedRows::precise_rows(std::span<const Index> points, double* values) {
  const auto count = static_cast<Index>(points.size());
  counts_.computed += count * size();
  std::atomic<bool> stopped = false;
  parallel_each(count, [&](Index r) {
    if (stopped || interrupted_()) {
      stopped = true;
      return;
    }
    const Index row = rows_[usize(points[usize(r)])];
    for (Index c = 0; c < size(); ++c)
      values[r * size() + c] = kernel_value(kernel_, data_, row, data_, rows_[usize(c)]);
  });
  return !stopped;
}

void ComputedRows::set_active(std::span<const Index> points) {
  piece_.reset();
  const Index count = static_cast<Index>(points.size());
  const bool first = !cache_;
  if (cache_) {
    // Old places of the points that stay; what follows them is new.
    RowVector<Index> place(usize(size()), -1, store());
    for (std::size_t p = 0; p < active_.size(); ++p)
      place[usize(active_[p])] = static_cast<Index>(p);
    RowVector<Index> kept(store());
    for (const Index point : points) {
      const Index old = place[usize(point)];
      if (old < 0 || (!kept.empty() && old <= kept.back())) break;
      kept.push_back(old);
    }
    cache_->remap(kept, count - static_cast<Index>(kept.size()));
  }
  active_.assign(points.begin(), points.end());
  if (kernel_.type == KernelType::linear) return;  // add_linear() needs neither
  if (points.empty()) {                            // another rank has all of them
    active_blocks_.reset();
    near_.reset();
    return;
  }
  RowVector<Index> rows(store());
  rows.reserve(points.size());
  for (const Index point : points) rows.push_back(data_row(point));
  active_blocks_.reset();  // before the new ones: they need not fit together
  active_blocks_.emplace(kernel_, data_, rows, control_, distance_by_);
  if (leaves_far_out_) {
    active_blocks_->set_least_value(least_near_value());
    near_.emplace(kernel_, data_, rows);
  } else if (first) {
    make_cache();
  }
}

// Keeping a row pays when it saves more than the fresh memory it takes. How often it will be asked
// for is unknown, so it is kept when recomputing it has cost as much as the memory would (the
// ski-rental rule). Both prices are measured: on virtual machines fresh memory can cost thirty
// times as much as elsewhere. No result depends on what is kept.
void ComputedRows::make_cache() {
  value_seconds_ = measure_value_seconds();
  cache_.emplace(static_cast<Index>(times_asked_.size()), static_cast<Index>(active_.size()),
                 value_seconds_ > kWorthKeepingSeconds ? cache_bytes_ : 0, store());
}

double ComputedRows::measure_value_seconds() const {
  const Index columns = std::min<Index>(kStrip, static_cast<Index>(active_.size()));
  const Index count = KernelBlocks::rows_at_once(data_);
  const std::vector<Index> rows(usize(count), rows_[0]);
  std::vector<float> values(usize(count * kStrip));
  double best = std::numeric_limits<double>::infinity();
  for (int trial = 0; trial < 5; ++trial) {  // the best of a few: the first one warms the caches
    const Stopwatch watch;
    active_blocks_->evaluate(data_, rows, 0, columns, values.data(), kStrip);
    best = std::min(best, watch.seconds());
  }
  return best / static_cast<double>(count * columns);
}

std::vector<ComputedRows::Request> ComputedRows::look_up(std::span<const Index> rows,
                                                         std::span<const double> coefficients) {
  cache_->begin_round(static_cast<Index>(rows.size()));
  const double saved_seconds = value_seconds_ - kFetchSeconds;
  std::vector<Request> requests;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    Request request{rows[r], coefficients[r]};
    const Index name = cached_row(rows[r]);
    request.kept = cache_->find(name, &request.covered);
    std::uint8_t& asked = times_asked_[usize(name)];
    const bool worth_it = asked * saved_seconds >= cache_->fresh_seconds();
    if (request.kept == nullptr && (asked > 0 || worth_it))
      request.kept = cache_->insert(name, worth_it);
    asked = static_cast<std::uint8_t>(std::min(asked + 1, 255));
    requests.push_back(request);
  }
  return requests;
}

bool ComputedRows::accumulate(std::span<const Index> rows, std::span<const double> coefficients,
                              std::span<double> sums) {
  if (kernel_.type == KernelType::linear) return add_linear(active_, rows, coefficients, sums);
  if (sums.empty()) return true;
  piece_.reset();
  if (near_) return add_near(*active_blocks_, *near_, rows, coefficients, sums);
  const std::vector<Request> requests = look_up(rows, coefficients);
  if (!add_requests(*active_blocks_, rows_matrix(rows), requests, sums)) {
    return false;
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (requests[r].kept != nullptr)
      cache_->set_covered(cached_row(rows[r]), static_cast<Index>(sums.size()));
  }
  return true;
}

// On several ranks the rows come in parts, each for the same points: these are packed once.
const ComputedRows::Piece& ComputedRows::piece_of(std::span<const Index> points) {
  std::vector<Index> rows = data_rows(points);
  if (piece_ && piece_->rows == rows) return *piece_;
  piece_.reset();  // before the new one: they need not fit together
  KernelBlocks blocks(kernel_, data_, rows, control_, distance_by_);
  std::optional<NearPoints> near;
  if (leaves_far_out_) {
    blocks.set_least_value(least_near_value());
    near.emplace(kernel_, data_, rows);
  }
  return piece_.emplace(Piece{std::move(rows), std::move(blocks), std::move(near)});
}

bool ComputedRows::accumulate_at(std::span<const Index> points, std::span<const Index> rows,
                                 std::span<const double> coefficients, std::span<double> sums) {
  if (kernel_.type == KernelType::linear) return add_linear(points, rows, coefficients, sums);
  std::vector<Request> requests;
  for (std::size_t r = 0; r < rows.size() && !leaves_far_out_; ++r)
    requests.push_back({rows[r], coefficients[r]});
  for (std::size_t first = 0; first < points.size(); first += kPieceOfPoints) {
    const std::size_t count = std::min<std::size_t>(kPieceOfPoints, points.size() - first);
    const Piece& piece = piece_of(points.subspan(first, count));
    const auto part = sums.subspan(first, count);
    const bool added = piece.near ? add_near(piece.blocks, *piece.near, rows, coefficients, part)
                                  : add_requests(piece.blocks, rows_matrix(rows), requests, part);
    if (!added) return false;
  }
  return true;
}

// The sum of coefficient * <x, z> over x is <w, z> with w the sum of coefficient * x: one product a
// point instead of one a row and point, and no rounding to float. In parts of a fixed number of
// rows, because the rows of other ranks come in such parts.
bool ComputedRows::add_linear(std::span<const Index> points, std::span<const Index> rows,
                              std::span<const double> coefficients, std::span<double> sums) {
  std::atomic<bool> stopped = false;
  for (std::size_t first = 0; first < rows.size() && !stopped; first += qp::kRowsBrought) {
    counts_.computed += static_cast<Index>(points.size());
    std::vector<double> w(usize(data_.cols()), 0.0);
    for (std::size_t r = first; r < std::min(rows.size(), first + qp::kRowsBrought); ++r)
      add_row(rows_matrix(rows), data_row(rows[r]), coefficients[r], w);
    parallel_ranges(static_cast<Index>(points.size()), kStrip, [&](Index begin, Index end) {
      if (stopped || interrupted_()) {
        stopped = true;
        return;
      }
      for (Index p = begin; p < end; ++p)
        sums[usize(p)] += dot_row(data_, rows_[usize(points[usize(p)])], w);
    });
  }
  return !stopped;
}

bool ComputedRows::add_requests(const KernelBlocks& blocks, const Matrix& rows_from,
                                std::span<const Request> requests, std::span<double> sums) {
  const Index count = static_cast<Index>(sums.size());
  const Index columns = strip_of(count);
  for (const Request& request : requests) {
    const Index kept = std::min(count, request.covered / columns * columns);
    counts_.cached += kept;
    counts_.computed += count - kept;
  }
  std::atomic<bool> stopped = false;
  parallel_ranges(count, columns, [&](Index begin, Index end) {
    for (Index strip = begin; strip < end && !stopped; strip += columns) {
      if (interrupted_()) stopped = true;
      add_strip(blocks, rows_from, requests, strip, std::min(strip + columns, end), sums.data());
    }
  });
  return !stopped;
}

// Rows are added in the order of the requests, wherever their values come from, so that the sums do
// not depend on what happens to be kept.
void ComputedRows::add_strip(const KernelBlocks& blocks, const Matrix& rows_from,
                             std::span<const Request> requests, Index begin, Index end,
                             double* sums) const {
  alignas(64) float scratch[kMostRows * kStrip];
  const Index columns = end - begin;
  const float* values[kMostRows];
  double coefficients[kMostRows];
  Index to_compute[kMostRows];
  float norms[kMostRows];
  float* destinations[kMostRows];
  const auto at_once = usize(KernelBlocks::rows_at_once(data_));
  for (std::size_t first = 0; first < requests.size(); first += at_once) {
    const std::size_t count = std::min(at_once, requests.size() - first);
    Index computed = 0;
    for (std::size_t r = 0; r < count; ++r) {
      const Request& request = requests[first + r];
      coefficients[r] = request.coefficient;
      if (request.covered >= end) {
        values[r] = request.kept + begin;
      } else {
        values[r] = scratch + computed * kStrip;
        to_compute[computed] = data_row(request.point);
        if (has_norms()) norms[computed] = norm(request.point);
        destinations[computed++] = request.kept;
      }
    }
    blocks.evaluate(rows_from, std::span(to_compute, usize(computed)), begin, end, scratch, kStrip,
                    std::span(norms, has_norms() ? usize(computed) : 0));
    accumulate_rows(std::span(values, count), std::span(coefficients, count), columns,
                    sums + begin);
    for (Index r = 0; r < computed; ++r) {
      if (destinations[r] != nullptr)
        std::copy_n(scratch + r * kStrip, columns, destinations[r] + begin);
    }
  }
}

bool ComputedRows::add_near(const KernelBlocks& blocks, const NearPoints& near,
                            std::span<const Index> asked, std::span<const double> coefficients,
                            std::span<double> sums) {
  const Matrix& rows_from = rows_matrix(asked);
  const std::vector<Index> rows = data_rows(asked);
  const std::vector<std::uint16_t> near_strips = near.near_strips(rows_from, rows);
  const Index count = std::ssize(rows);
  std::atomic<Index> computed = 0;
  std::atomic<bool> stopped = false;
  parallel_each(near.num_strips(), [&](Index strip) {
    if (stopped || interrupted_()) {
      stopped = true;
      return;
    }
    const std::uint16_t* reaches_strip = near_strips.data() + strip / kBoxPanel * count;
    const auto bit = 1U << (strip % kBoxPanel);
    ReachingRows reaching;
    for (Index first = 0; first < count; first += ReachingRows::kMost) {
      const Index some = std::min(ReachingRows::kMost, count - first);
      reaching.clear();
      for (Index r = 0; r < some; ++r) {
        if ((reaches_strip[first + r] & bit) == 0) continue;
        for (unsigned groups = near.near_groups(rows_from, rows[usize(first + r)], strip);
             groups != 0; groups &= groups - 1)
          reaching.add(usize(std::countr_zero(groups)), r);
      }
      computed += add_reaching(blocks, asked.subspan(usize(first), usize(some)),
                               std::span(rows).subspan(usize(first), usize(some)), reaching,
                               coefficients.subspan(usize(first), usize(some)),
                               strip * NearPoints::kStrip, sums);
    }
  });
  counts_.computed += computed;
  return !stopped;
}

// Of one strip, which begins at `first_point`; how many values were computed.
Index ComputedRows::add_reaching(const KernelBlocks& blocks, std::span<const Index> asked,
                                 std::span<const Index> rows, const ReachingRows& reaching,
                                 std::span<const double> coefficients, Index first_point,
                                 std::span<double> sums) const {
  alignas(64) float values[kMostRows * NearPoints::kGroup];
  Index reaching_rows[kMostRows];
  double factors[kMostRows];
  float norms[kMostRows];
  // More than evaluate() wants elsewhere: each has only the points of one group.
  constexpr auto at_once = usize(kMostRows);
  const Matrix& rows_from = rows_matrix(asked);
  Index computed = 0;
  for (Index g = 0; g < kBoxPanel; ++g) {
    const Index begin = first_point + g * NearPoints::kGroup;
    const Index end = std::min(begin + NearPoints::kGroup, std::ssize(sums));
    const std::span<const std::uint16_t> all = reaching.of(g);
    for (std::size_t first = 0; first < all.size(); first += at_once) {
      const std::size_t some = std::min(at_once, all.size() - first);
      for (std::size_t k = 0; k < some; ++k) {
        const std::size_t r = all[first + k];
        reaching_rows[k] = rows[r];
        factors[k] = coefficients[r];
        if (has_norms()) norms[k] = norm(asked[r]);
      }
      blocks.evaluate(rows_from, std::span(reaching_rows, some), begin, end, values,
                      NearPoints::kGroup, std::span(norms, has_norms() ? some : 0));
      accumulate_rows(values, NearPoints::kGroup, std::span(factors, some), end - begin,
                      sums.data() + begin);
    }
    computed += std::ssize(all) * std::max<Index>(0, end - begin);
  }
  return computed;
}

}  // namespace tamis
