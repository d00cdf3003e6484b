// The leader pass over rows that are spread over several ranks: the leaders of one rank with all
// rows.
//
// Some rows that no leader has struck out yet, the next ones in the order of the pass, travel to
// the first rank, which finds the leaders among them. These go to all ranks, and strike out the
// rows within the threshold wherever they are.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "methods/common/all_rows.hpp"
#include "neighbors/neighbor_index.hpp"

namespace tamis {

class LeaderSpread {
 public:
  /// Every rank makes one. `context` has no group; both must outlive it.
  LeaderSpread(const AllRows& rows, const Metric& metric, const TrainContext& context);

  /// find_leaders(), find_more_leaders() and cluster_costs() of the rows of one class. On the first
  /// rank.
  std::vector<Index> find_leaders(Index class_number, std::span<const Index> order,
                                  double threshold);
  std::vector<Index> find_more_leaders(Index class_number, std::span<const Index> order,
                                       std::span<const Index> leaders,
                                       std::span<const Index> around, double old_threshold,
                                       double threshold);
  std::vector<double> cluster_costs(Index class_number, std::span<const Index> order,
                                    std::span<const Index> leaders);
  /// False: passes end early, with what they found so far.
  bool may_go_on() const;

 private:
  void find_own(Index class_number);
  void begin();
  Group::Message near_some(std::span<const std::byte> request);
  std::vector<Index> find_among(std::span<const Index> order, double threshold);
  Group::Message strike(std::span<const std::byte> request);
  Group::Message nearest(std::span<const std::byte> request);

  const AllRows& rows_;
  Metric metric_;  // with the storage that the rows of the class call for
  const TrainContext& context_;
  int begin_class_ = 0;
  int begin_rows_ = 0;
  int near_some_ = 0;
  int strike_ = 0;
  int nearest_ = 0;
  // This rank's rows among those looked at, an index over them, which of them are struck.
  std::vector<Index> own_;
  std::unique_ptr<NeighborIndex> index_;
  std::vector<std::uint8_t> struck_;
};

}  // namespace tamis
