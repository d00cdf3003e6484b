#include "linear/block_sums.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.hpp"
#include "base/checked.hpp"
#include "base/group.hpp"
#include "base/parallel.hpp"

namespace tamis::linear {
namespace {

constexpr Index kBlockValues = 65536;
// Sums this short go to all ranks at once; longer ones are first added up in slices, one per rank.
constexpr std::size_t kShortSums = 1024;
constexpr double kWorkForThreads = 20'000;
constexpr std::size_t kNumbersAtOnce = std::size_t{1} << 20;  // 8 MiB

// parts[n][k] for the nodes n of all ranks: the sum over the tree, elements [0, length).
template <typename Node>
class TreeSum {
 public:
  TreeSum(std::vector<Node> nodes, std::vector<const double*> parts, std::size_t length)
      : nodes_(std::move(nodes)), parts_(std::move(parts)), length_(length) {}

  std::vector<double> of(const Node& node) const {
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      if (nodes_[n].size == node.size && nodes_[n].index == node.index)
        return {parts_[n], parts_[n] + length_};
    }
    TAMIS_CHECK(node.size > 1);
    std::vector<double> left = of({node.size / 2, 2 * node.index});
    const std::vector<double> right = of({node.size / 2, 2 * node.index + 1});
    for (std::size_t k = 0; k < length_; ++k) left[k] += right[k];
    return left;
  }

 private:
  std::vector<Node> nodes_;
  std::vector<const double*> parts_;
  std::size_t length_;
};

Group::Message bytes_of(std::span<const double> values) {
  const auto bytes = as_message(values);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

Index num_blocks(Index values, Index cols) {
  const Index least = std::max(kBlockValues, 2 * cols);
  Index blocks = 1;
  while (blocks < kMostBlocks && 2 * blocks * least <= values) blocks *= 2;
  return blocks;
}

int owner_of_block(Index block, Index blocks, int ranks) {
  return static_cast<int>(block * ranks / blocks);
}

BlockRange blocks_of_rank(Index blocks, int rank, int ranks) {
  const auto first = [&](Index r) { return (r * blocks + ranks - 1) / ranks; };
  return {first(rank), first(rank + 1)};
}

BlockSums::BlockSums(std::vector<Index> begins, Group& group)
    : begins_(std::move(begins)), group_(group) {
  TAMIS_CHECK(begins_.size() > 1 && (blocks() & (blocks() - 1)) == 0);
}

Index BlockSums::block_at(Index begin) const {
  return std::upper_bound(begins_.begin(), begins_.end() - 1, begin) - begins_.begin() - 1;
}

void BlockSums::sum_of_block(Index block, const Body& body, double* sums) const {
  const Index begin = begins_[usize(block)];
  const Index end = begins_[usize(block) + 1];
  if (begin < end) body(begin, end, sums);
}

// Halves, which are added: one of them is done before memory is taken for the other, but for those
// that other threads take up.
std::vector<double> BlockSums::sum_of_node(const Node& node, std::size_t length,
                                           const Body& body) const {
  if (node.size == 1) {
    std::vector<double> sums(length, 0.0);
    sum_of_block(node.index, body, sums.data());
    return sums;
  }
  std::array<std::vector<double>, 2> halves;
  parallel_each(2, [&](Index h) {
    halves[usize(h)] = sum_of_node({node.size / 2, 2 * node.index + h}, length, body);
  });
  for (std::size_t k = 0; k < length; ++k) halves[0][k] += halves[1][k];
  return std::move(halves[0]);
}

// The same sums, with memory for all blocks: quicker where that is little.
std::vector<double> BlockSums::sum_at_once(const Node& node, std::size_t length, const Body& body,
                                           bool on_threads) const {
  std::vector<double> sums(usize(node.size) * length, 0.0);
  const Index first = node.index * node.size;
  const auto block = [&](Index k) { sum_of_block(first + k, body, &sums[usize(k) * length]); };
  if (on_threads) {
    parallel_each(node.size, block);
  } else {
    for (Index k = 0; k < node.size; ++k) block(k);
  }
  for (Index step = 1; step < node.size; step *= 2) {
    for (Index k = 0; k < node.size; k += 2 * step) {
      double* left = &sums[usize(k) * length];
      const double* right = &sums[usize(k + step) * length];
      for (std::size_t j = 0; j < length; ++j) left[j] += right[j];
    }
  }
  sums.resize(length);
  return sums;
}

// The largest nodes that a rank has all blocks of.
std::vector<BlockSums::Node> BlockSums::nodes_of_rank(int rank) const {
  const BlockRange own = blocks_of_rank(blocks(), rank, group_.size());
  std::vector<Node> nodes;
  for (Index at = own.begin; at < own.end;) {
    Index size = 1;
    while (at % (2 * size) == 0 && at + 2 * size <= own.end) size *= 2;
    nodes.push_back({size, at / size});
    at += size;
  }
  return nodes;
}

std::vector<double> BlockSums::sum(std::size_t length, const Body& body, double work) const {
  const std::vector<Node> nodes = nodes_of_rank(group_.rank());
  std::vector<std::vector<double>> own(nodes.size());
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    own[n] = usize(nodes[n].size) * length <= kNumbersAtOnce
                 ? sum_at_once(nodes[n], length, body, work >= kWorkForThreads)
                 : sum_of_node(nodes[n], length, body);
  }
  if (group_.size() == 1) return std::move(own[0]);
  return combine(own, length);
}

std::vector<double> BlockSums::combine(const std::vector<std::vector<double>>& own,
                                       std::size_t length) const {
  const int ranks = group_.size();
  std::vector<Node> nodes;
  std::vector<std::size_t> nodes_of(usize(ranks));
  for (int r = 0; r < ranks; ++r) {
    const std::vector<Node> of_rank = nodes_of_rank(r);
    nodes_of[usize(r)] = of_rank.size();
    nodes.insert(nodes.end(), of_rank.begin(), of_rank.end());
  }
  // Elements [begin, end) of every own node, one node after the other.
  const auto slice_of_own = [&](std::size_t begin, std::size_t end) {
    std::vector<double> slice;
    for (const std::vector<double>& sums : own)
      slice.insert(slice.end(), sums.begin() + std::ptrdiff_t(begin),
                   sums.begin() + std::ptrdiff_t(end));
    return bytes_of(slice);
  };
  const auto sum_of_slices = [&](const std::vector<Group::Message>& messages, std::size_t count) {
    std::vector<std::vector<double>> received;
    std::vector<const double*> parts;
    for (std::size_t r = 0; r < messages.size(); ++r) {
      received.push_back(from_message<double>(messages[r]));
      TAMIS_CHECK(received[r].size() == nodes_of[r] * count);
      for (std::size_t n = 0; n < nodes_of[r]; ++n) parts.push_back(received[r].data() + n * count);
    }
    return TreeSum<Node>(nodes, std::move(parts), count).of({blocks(), 0});
  };
  if (length <= kShortSums)
    return sum_of_slices(group_.all_gather(slice_of_own(0, length)), length);
  const auto slice_begin = [&](int r) { return length * usize(r) / usize(ranks); };
  std::vector<Group::Message> to_each;
  to_each.reserve(usize(ranks));
  for (int r = 0; r < ranks; ++r)
    to_each.push_back(slice_of_own(slice_begin(r), slice_begin(r + 1)));
  const int rank = group_.rank();
  const std::vector<double> slice =
      sum_of_slices(group_.exchange(std::move(to_each)), slice_begin(rank + 1) - slice_begin(rank));
  return gather_all(group_, slice);
}

}  // namespace tamis::linear
