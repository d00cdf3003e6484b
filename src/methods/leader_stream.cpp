#include "methods/leader_stream.hpp"

#include <numeric>

#include "base/checked.hpp"
#include "data/stack_rows.hpp"
#include "neighbors/separated_rows.hpp"

namespace tamis {

LeaderStream::LeaderStream(const Metric& metric, double threshold)
    : metric_(metric), squared_threshold_(threshold * threshold) {}

LeaderStream::~LeaderStream() = default;
LeaderStream::LeaderStream(LeaderStream&&) noexcept = default;

std::vector<Index> LeaderStream::add(const Matrix& block, std::vector<Index> rows,
                                     const RunControl& control) {
  for (const Part& part : parts_) {
    const std::vector<std::uint8_t> led =
        part.index->any_within(block, rows, squared_threshold_, control);
    std::size_t left = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (led[i] == 0) rows[left++] = rows[i];
    }
    rows.resize(left);
  }
  if (rows.empty()) return rows;
  const Matrix candidates = block.select(rows);
  const auto index = make_neighbor_index(candidates, metric_, Structure::automatic, control);
  std::vector<Index> order(rows.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::vector<Index> taken = separated_rows(*index, order, squared_threshold_, control);
  keep(candidates.select(taken), control);
  for (Index& position : taken) position = rows[usize(position)];
  return taken;
}

void LeaderStream::keep(Matrix leaders, const RunControl& control) {
  size_ += leaders.rows();
  while (!parts_.empty() && parts_.back().leaders.rows() <= leaders.rows()) {
    leaders = stack_rows(std::vector<Matrix>{parts_.back().leaders, leaders});
    parts_.pop_back();
  }
  Part part;
  part.index = make_neighbor_index(leaders, metric_, Structure::automatic, control);
  part.leaders = std::move(leaders);
  parts_.push_back(std::move(part));
}

}  // namespace tamis
