#include "gram/row_cache.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/checked.hpp"
#include "base/clock.hpp"
#include "base/page_memory.hpp"
#include "base/parallel.hpp"

namespace tamis {
namespace {

constexpr Index kGrowth =
    2 << 20;                  // floats of fresh memory taken at a time: 8 MiB, four large pages
constexpr Index kAlign = 16;  // floats

}  // namespace

RowCache::RowCache(Index num_rows, Index columns, Index budget_bytes, const RowStore& store)
    : columns_(columns),
      stride_(std::max<Index>(kAlign, round_up(columns, kAlign))),
      capacity_floats_(
          std::min(std::max<Index>(0, budget_bytes) / static_cast<Index>(sizeof(float)),
                   checked_product(num_rows, round_up(std::max(num_rows, columns), kAlign)))),
      values_(reserve_floats(capacity_floats_)),
      slot_of_(usize(num_rows), -1, store) {
  set_stride(stride_);
  if (!owner_.empty()) touch_more(1);
}

// Keeps the rows in the lowest slots that still exist and lie in memory used before: spreading rows
// over fresh memory can cost more than computing them again, and nobody can interrupt it. Moving
// one at a time is safe in ascending order when the stride shrinks and in descending order when it
// grows.
void RowCache::set_stride(Index stride) {
  const Index slots = std::min(capacity_floats_ / stride, static_cast<Index>(slot_of_.size()));
  const Index left = std::min({used_, slots, touched_floats_ / stride});
  for (Index s = left; s < used_; ++s) {
    if (owner_[usize(s)] >= 0) slot_of_[usize(owner_[usize(s)])] = -1;
    recent_.erase(position_[usize(s)]);
  }
  used_ = left;
  const auto move_row = [&](Index s) {
    std::memmove(values_.get() + s * stride, values_.get() + s * stride_,
                 usize(covered_[usize(s)]) * sizeof(float));
  };
  if (stride < stride_) {
    for (Index s = 0; s < used_; ++s) move_row(s);
  } else if (stride > stride_) {
    for (Index s = used_ - 1; s >= 0; --s) move_row(s);
  }
  stride_ = stride;
  owner_.resize(usize(slots), -1);
  covered_.resize(usize(slots), 0);
  last_use_.resize(usize(slots), -1);
  position_.resize(usize(slots));
}

void RowCache::touch(Index s) {
  last_use_[usize(s)] = clock_++;
  recent_.splice(recent_.begin(), recent_, position_[usize(s)]);
}

float* RowCache::find(Index row, Index* covered) {
  const Index s = slot_of_[usize(row)];
  if (s < 0) return nullptr;
  touch(s);
  *covered = covered_[usize(s)];
  return slot(s);
}

float* RowCache::insert(Index row, bool may_grow) {
  const Index end = (used_ + 1) * stride_;
  Index s = -1;
  if (used_ < static_cast<Index>(owner_.size()) && (may_grow || end <= touched_floats_)) {
    s = used_++;
    if (end > touched_floats_) touch_more(end);
    recent_.push_front(s);
    position_[usize(s)] = recent_.begin();
  } else if (used_ >= 2 * round_rows_ && last_use_[usize(recent_.back())] < round_start_) {
    s = recent_.back();
    if (owner_[usize(s)] >= 0) slot_of_[usize(owner_[usize(s)])] = -1;
  } else {
    return nullptr;
  }
  touch(s);
  owner_[usize(s)] = row;
  covered_[usize(s)] = 0;
  slot_of_[usize(row)] = s;
  return slot(s);
}

// Takes the next pieces of fresh memory, on all threads, and learns what they cost.
void RowCache::touch_more(Index floats) {
  constexpr Index kPage = 1024;  // floats
  const Index end = std::min(capacity_floats_, round_up(floats, kGrowth));
  const Index count = end - touched_floats_;
  if (count <= 0) return;
  std::atomic<std::int64_t> nanoseconds = 0;
  parallel_ranges(count, kGrowth / 4, [&](Index begin, Index last) {
    const Stopwatch watch;
    for (Index i = begin; i < last; i += kPage) values_[usize(touched_floats_ + i)] = 0;
    nanoseconds += static_cast<std::int64_t>(watch.seconds() * 1e9);
  });
  const double seconds = static_cast<double>(nanoseconds) * 1e-9 / static_cast<double>(count);
  fresh_seconds_ = touched_floats_ == 0 ? seconds : 0.8 * fresh_seconds_ + 0.2 * seconds;
  touched_floats_ = end;
}

void RowCache::set_covered(Index row, Index columns) {
  covered_[usize(slot_of_[usize(row)])] = columns;
}

void RowCache::remap(std::span<const Index> kept, Index added) {
  if (static_cast<Index>(kept.size()) < columns_) {
    parallel_each(used_, [&](Index s) {
      float* values = slot(s);
      Index count = 0;
      for (const Index column : kept) {
        if (column >= covered_[usize(s)]) break;
        values[count++] = values[column];
      }
      covered_[usize(s)] = count;
    });
  }
  columns_ = static_cast<Index>(kept.size()) + added;
  const Index wanted = std::max<Index>(kAlign, round_up(columns_, kAlign));
  if (wanted > stride_ || wanted < stride_ / 2) set_stride(wanted);
}

}  // namespace tamis
