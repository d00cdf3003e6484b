#include "methods/leader/leader_stream.hpp"

#include <numeric>

#include "base/checked.hpp"
#include "neighbors/separated_rows.hpp"

namespace tamis {

LeaderStream::LeaderStream(const Metric& metric, double threshold)
    : metric_(metric), squared_threshold_(threshold * threshold), leaders_(metric) {}

std::vector<Index> LeaderStream::add(const Matrix& block, std::vector<Index> rows,
                                     const RunControl& control) {
  const std::vector<std::uint8_t> led =
      leaders_.any_within(block, rows, squared_threshold_, control);
  std::size_t left = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (led[i] == 0) rows[left++] = rows[i];
  }
  rows.resize(left);
  if (rows.empty()) return rows;
  const Matrix candidates = block.select(rows);
  const auto index = make_neighbor_index(candidates, metric_, Structure::automatic, control);
  std::vector<Index> order(rows.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::vector<Index> taken = separated_rows(*index, order, squared_threshold_, control);
  leaders_.insert(candidates.select(taken), control);
  for (Index& position : taken) position = rows[usize(position)];
  return taken;
}

ClusterSizes::ClusterSizes(const Metric& metric, const Matrix& leaders, const RunControl& control)
    : index_(make_neighbor_index(leaders, metric, Structure::automatic, control)),
      rows_(usize(leaders.rows()), 0) {}

void ClusterSizes::add(const Matrix& block, std::span<const Index> rows,
                       const RunControl& control) {
  if (rows.empty()) return;
  for (const auto leader : index_->nearest(block, rows, 1, control).rows) ++rows_[usize(leader)];
}

}  // namespace tamis
