// The rows found so far for one query: the k best, or all within a radius.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/checked.hpp"
#include "tamis/dataset.hpp"

namespace tamis {

/// A squared distance and a row in one number that sorts by distance, then row: distances are never
/// negative, so their bits sort like they do.
using NeighborKey = std::uint64_t;

constexpr NeighborKey neighbor_key(float squared_distance, std::uint32_t row) {
  return static_cast<NeighborKey>(std::bit_cast<std::uint32_t>(squared_distance)) << 32 | row;
}
constexpr float key_distance(NeighborKey key) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(key >> 32));
}
constexpr std::uint32_t key_row(NeighborKey key) { return static_cast<std::uint32_t>(key); }

/// Collects keys. What lies above bound() cannot be among the answers and need not be offered.
/// Keys are gathered behind the k best known ones and cut back to k by selection once there are
/// half as many again: about two steps a key at any k, where a heap takes log k.
class Candidates {
 public:
  /// From now on: the k smallest keys, k >= 1.
  void start_nearest(Index k) {
    k_ = k;
    room_ = k > kSmall ? k + k / 2 : k;
    size_ = 0;
    any_ = false;
    marks_ = nullptr;
    bound_ = neighbor_key(std::numeric_limits<float>::infinity(), ~0U);
  }
  /// From now on: every key whose distance is at most `limit`.
  void start_within(float limit) {
    k_ = std::numeric_limits<Index>::max();
    room_ = k_;
    size_ = 0;
    any_ = false;
    marks_ = nullptr;
    bound_ = neighbor_key(limit, ~0U);
  }

  /// From now on: marks[row] = 1 for every key whose distance is at most `limit`; none is kept.
  /// Several threads may mark one array.
  void start_marking(float limit, std::uint8_t* marks) {
    start_within(limit);
    marks_ = marks;
  }
  /// From now on: any one key whose distance is at most `limit`.
  void start_any(float limit) {
    start_nearest(1);
    bound_ = neighbor_key(limit, ~0U);
    any_ = true;
  }

  /// How many are wanted; beyond every number of rows when all within a radius are.
  Index k() const { return k_; }
  NeighborKey bound() const { return bound_; }
  /// The distance of the bound; negative when nothing more is wanted.
  float limit() const { return any_ && size_ > 0 ? -1.0F : key_distance(bound_); }
  bool found_any() const { return size_ > 0; }

  /// Room for `count` more keys; commit() says how many were written.
  NeighborKey* reserve(Index count) {
    if (size_ + count > static_cast<Index>(keys_.size()))
      keys_.resize(usize(std::max(size_ + count, 2 * size_)));
    return keys_.data() + size_;
  }
  void commit(Index written) {
    if (written == 0) return;
    if (marks_ != nullptr) return mark(written);
    size_ += written;
    const bool first_time = key_row(bound_) == ~0U;
    if (size_ > room_ || (first_time && size_ >= k_)) cut();
  }

  /// The answer, in order. Ends the collecting.
  std::span<const NeighborKey> sorted() {
    if (size_ > k_) cut();
    std::sort(keys_.begin(), keys_.begin() + size_);
    return {keys_.data(), usize(size_)};
  }

 private:
  static constexpr Index kSmall = 16;  // up to here the bound is kept tight after every commit

  void mark(Index written) {
    for (Index i = 0; i < written; ++i) {
      std::atomic_ref<std::uint8_t> place(marks_[key_row(keys_[usize(i)])]);
      place.store(1, std::memory_order_relaxed);
    }
  }

  void cut() {
    if (k_ == 1) {
      keys_[0] = *std::min_element(keys_.begin(), keys_.begin() + size_);
    } else {
      std::nth_element(keys_.begin(), keys_.begin() + (k_ - 1), keys_.begin() + size_);
    }
    size_ = k_;
    bound_ = keys_[usize(k_ - 1)];
  }

  std::vector<NeighborKey> keys_;
  Index size_ = 0;
  Index k_ = 1;
  Index room_ = 1;
  NeighborKey bound_ = 0;
  bool any_ = false;
  std::uint8_t* marks_ = nullptr;
};

}  // namespace tamis
