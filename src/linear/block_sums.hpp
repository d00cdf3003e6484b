// Sums over the points of a problem that are the same, to the last bit, for any number of threads
// and ranks: the points are in fixed blocks, a block is summed by one thread of the rank that has
// it, and the sums of blocks are added in pairs, pairs of pairs, and so on.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tamis/dataset.hpp"
#include "tamis/group.hpp"

namespace tamis::linear {

inline constexpr Index kMostBlocks = 1024;

/// How many blocks rows with so many stored values and columns get; a power of 2. A function of the
/// data alone: a block has enough values that to add up its sums is little work next to making
/// them. 1: the problem is small.
Index num_blocks(Index values, Index cols);

/// The blocks [begin, end) of a rank.
struct BlockRange {
  Index begin = 0;
  Index end = 0;
};
BlockRange blocks_of_rank(Index blocks, int rank, int ranks);
int owner_of_block(Index block, Index blocks, int ranks);

class BlockSums {
 public:
  /// Adds what the points [begin, end) contribute to `sums`, which holds zeros at first.
  using Body = std::function<void(Index begin, Index end, double* sums)>;

  /// Block k of this rank is the points [begins[k], begins[k + 1]): none for blocks of other ranks.
  BlockSums(std::vector<Index> begins, Group& group);

  Index blocks() const { return static_cast<Index>(begins_.size()) - 1; }
  Index block_begin(Index block) const { return begins_[static_cast<std::size_t>(block)]; }
  /// The block that begins with this point.
  Index block_at(Index begin) const;
  Group& group() const { return group_; }

  /// On every rank, the sums over the points of all. `work` is about the number of multiplications
  /// that the points of this rank take: threads are of use for many only.
  std::vector<double> sum(std::size_t length, const Body& body, double work = 1e18) const;

 private:
  /// The blocks [index * size, (index + 1) * size), with a power of 2 as the size.
  struct Node {
    Index size = 1;
    Index index = 0;
  };
  void sum_of_block(Index block, const Body& body, double* sums) const;
  std::vector<double> sum_of_node(const Node& node, std::size_t length, const Body& body) const;
  std::vector<double> sum_at_once(const Node& node, std::size_t length, const Body& body,
                                  bool on_threads) const;
  std::vector<Node> nodes_of_rank(int rank) const;
  std::vector<double> combine(const std::vector<std::vector<double>>& own,
                              std::size_t length) const;

  std::vector<Index> begins_;
  Group& group_;
};

}  // namespace tamis::linear
