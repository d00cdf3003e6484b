// Rows drawn from balls around centres, the more the closer the centres lie to each other: steps
// (iii) and (iv) of Local Sampling.
#pragma once

#include <memory>
#include <vector>

#include "methods/common/method.hpp"
#include "neighbors/neighbor_index.hpp"

namespace tamis {

class BallDraw {
 public:
  /// Centres and the rows that may be drawn are rows of `data`; both ascend. Throws Cancelled.
  BallDraw(const TrainingSet& data, const TrainContext& context, std::vector<Index> centres,
           std::span<const Index> may_be_drawn);

  /// rho: the median over the centres of the distance to the k-th nearest other one, k = ln of
  /// their number.
  double median_distance() const { return median_distance_; }

  struct Drawn {
    std::vector<Index> rows;          ///< ascending, each once
    std::vector<double> probability;  ///< that this row is drawn from some ball
  };
  /// From balls of radius beta * median_distance(); cut short when the context must stop. Throws
  /// Cancelled.
  Drawn draw(double beta) const;

 private:
  void find_shares();
  Index num_from(std::size_t ball, Index in_ball) const;

  const TrainingSet& data_;
  const TrainContext& context_;
  std::vector<Index> centres_;
  std::vector<std::uint8_t> may_be_drawn_;  // by row
  Index num_drawable_;
  std::vector<double> share_;  // eta of each centre
  double median_distance_ = 0;
  std::unique_ptr<NeighborIndex> index_;
};

}  // namespace tamis
