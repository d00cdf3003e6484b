#include "neighbors/kd_tree_builder.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr Index kSampledRows = 128;           // of a node, to find its widest feature
constexpr Index kSplitInParallel = 1 << 13;   // points: below that a subtree is one task
constexpr Index kSelectInParallel = 1 << 17;  // points: above that one split is many tasks
constexpr Index kChunk = 1 << 14;
constexpr int kDigitBits = 11;

// Unsigned numbers that sort like the floats.
std::uint32_t sortable(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
}

float from_sortable(std::uint32_t bits) {
  return std::bit_cast<float>((bits >> 31) != 0 ? bits & 0x7FFFFFFFU : ~bits);
}

}  // namespace

KdTree::Builder::Builder(KdTree& tree, const RunControl& control)
    : tree_(tree), points_(tree.space().points()), control_(control) {}

void KdTree::Builder::poll() const {
  if (control_.cancelled()) throw Cancelled();
}

void KdTree::Builder::run() {
  const Index n = points_.rows();
  keys_.resize(usize(n));
  moved_.resize(usize(n > kSelectInParallel ? n : 0));
  parallel_ranges(n, kChunk, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) keys_[usize(i)] = static_cast<std::uint64_t>(i);
  });
  split(1, 0);
  parallel_ranges(n, kChunk, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      tree_.rows_[usize(i)] = static_cast<std::uint32_t>(keys_[usize(i)]);
  });
  const Index leaves = Index{1} << tree_.depth_;
  parallel_ranges(leaves, 64, [&](Index begin, Index end) {
    poll();
    for (Index leaf = begin; leaf < end; ++leaf) make_leaf_box(leaves + leaf);
  });
  const Index cols = tree_.cols_;
  for (Index node = leaves - 1; node >= 1; --node) {
    float* box = tree_.boxes_.data() + 2 * cols * node;
    const float* left = tree_.box(2 * node);
    const float* right = tree_.box(2 * node + 1);
    for (Index j = 0; j < cols; ++j) box[j] = std::min(left[j], right[j]);
    for (Index j = cols; j < 2 * cols; ++j) box[j] = std::max(left[j], right[j]);
    tree_.min_rows_[usize(node)] =
        std::min(tree_.min_rows_[usize(2 * node)], tree_.min_rows_[usize(2 * node + 1)]);
  }
}

void KdTree::Builder::split(Index node, int depth) {
  poll();
  const Range range = tree_.points_of(node, depth);
  if (depth == tree_.depth_) return;
  const std::int32_t feature = widest_feature(range);
  const auto set_keys = [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      std::uint64_t& key = keys_[usize(i)];
      const auto row = static_cast<std::uint32_t>(key);
      key =
          static_cast<std::uint64_t>(sortable(points_.dense_row(row)[usize(feature)])) << 32 | row;
    }
  };
  const Index middle = tree_.points_of(2 * node, depth + 1).end;
  const Index count = range.end - range.begin;
  if (count > kSelectInParallel) {
    parallel_ranges(count, kChunk, [&](Index begin, Index end) {
      poll();
      set_keys(range.begin + begin, range.begin + end);
    });
    select_median(range, middle);
  } else {
    set_keys(range.begin, range.end);
    std::nth_element(keys_.begin() + range.begin, keys_.begin() + (middle - 1),
                     keys_.begin() + range.end);
  }
  tree_.split_features_[usize(node)] = feature;
  tree_.split_values_[usize(node)] =
      from_sortable(static_cast<std::uint32_t>(keys_[usize(middle - 1)] >> 32));
  if (count > kSplitInParallel) {
    parallel_each(2, [&](Index side) { split(2 * node + side, depth + 1); });
  } else {
    split(2 * node, depth + 1);
    split(2 * node + 1, depth + 1);
  }
}

std::int32_t KdTree::Builder::widest_feature(Range range) const {
  const Index cols = tree_.cols_;
  const Index count = range.end - range.begin;
  const Index sampled = std::min(count, kSampledRows);
  std::vector<float> low(usize(cols));
  std::vector<float> high(usize(cols));
  for (Index s = 0; s < sampled; ++s) {
    const Index i = range.begin + s * count / sampled;
    const auto row = points_.dense_row(static_cast<std::uint32_t>(keys_[usize(i)]));
    for (std::size_t j = 0; j < row.size(); ++j) {
      low[j] = s == 0 ? row[j] : std::min(low[j], row[j]);
      high[j] = s == 0 ? row[j] : std::max(high[j], row[j]);
    }
  }
  std::size_t widest = 0;
  for (std::size_t j = 1; j < low.size(); ++j) {
    if (high[j] - low[j] > high[widest] - low[widest]) widest = j;
  }
  return static_cast<std::int32_t>(widest);
}

// Puts the keys so that [begin, middle) are the smallest and middle - 1 holds the largest of these:
// nth_element in many tasks, which also lets it be cancelled. The median's digits are found one
// after the other from counts of the keys that agree with the digits known.
void KdTree::Builder::select_median(Range range, Index middle) {
  const Index count = range.end - range.begin;
  const Index chunks = round_up(count, kChunk) / kChunk;
  const auto for_each_chunk = [&](const auto& body) {
    parallel_each(chunks, [&](Index chunk) {
      poll();
      const Index begin = range.begin + chunk * kChunk;
      body(chunk, begin, std::min(begin + kChunk, range.end));
    });
  };
  std::uint64_t median = 0;
  Index rank = middle - 1 - range.begin;
  int known_bits = 0;
  using Counts = std::array<std::uint32_t, 1 << kDigitBits>;
  std::vector<Counts> counts(usize(chunks));
  while (known_bits < 64) {
    const int bits = std::min(kDigitBits, 64 - known_bits);
    const int shift = 64 - known_bits - bits;
    const std::uint64_t digit_mask = (std::uint64_t{1} << bits) - 1;
    for_each_chunk([&](Index chunk, Index begin, Index end) {
      Counts& some = counts[usize(chunk)];
      some.fill(0);
      for (Index i = begin; i < end; ++i) {
        const std::uint64_t key = keys_[usize(i)];
        if (known_bits == 0 || key >> (64 - known_bits) == median)
          ++some[key >> shift & digit_mask];
      }
    });
    std::uint64_t digit = 0;
    for (;; ++digit) {
      Index with_digit = 0;
      for (const Counts& some : counts) with_digit += some[digit];
      if (rank < with_digit) break;
      rank -= with_digit;
    }
    median = median << bits | digit;
    known_bits += bits;
  }
  std::vector<Index> smaller(usize(chunks));
  for_each_chunk([&](Index chunk, Index begin, Index end) {
    smaller[usize(chunk)] = std::count_if(keys_.begin() + begin, keys_.begin() + end,
                                          [&](std::uint64_t key) { return key < median; });
  });
  Index before = 0;
  for (Index& number : smaller) {
    const Index some = number;
    number = before;
    before += some;
  }
  for_each_chunk([&](Index chunk, Index begin, Index end) {
    Index left = range.begin + smaller[usize(chunk)];
    Index right = middle - 1 + (begin - range.begin) - smaller[usize(chunk)];
    for (Index i = begin; i < end; ++i)
      moved_[usize(keys_[usize(i)] < median ? left++ : right++)] = keys_[usize(i)];
  });
  for_each_chunk([&](Index, Index begin, Index end) {
    std::copy(moved_.begin() + begin, moved_.begin() + end, keys_.begin() + begin);
  });
  // The median is among those that are not smaller; its place is the first.
  const auto found = std::find(keys_.begin() + (middle - 1), keys_.begin() + range.end, median);
  std::iter_swap(keys_.begin() + (middle - 1), found);
}

void KdTree::Builder::make_leaf_box(Index node) {
  const Range range = tree_.points_of(node, tree_.depth_);
  const Index cols = tree_.cols_;
  float* low = tree_.boxes_.data() + 2 * cols * node;
  float* high = low + cols;
  std::uint32_t min_row = ~0U;
  for (Index i = range.begin; i < range.end; ++i) {
    const std::uint32_t row = tree_.rows_[usize(i)];
    min_row = std::min(min_row, row);
    const auto values = points_.dense_row(row);
    for (Index j = 0; j < cols; ++j) {
      const float value = values[usize(j)];
      low[j] = i == range.begin ? value : std::min(low[j], value);
      high[j] = i == range.begin ? value : std::max(high[j], value);
    }
  }
  tree_.min_rows_[usize(node)] = min_row;
}

}  // namespace tamis
