#include "neighbors/growing_index.hpp"

#include "base/checked.hpp"
#include "data/stack_rows.hpp"

namespace tamis {

void GrowingIndex::insert(Matrix rows, const RunControl& control) {
  if (rows.rows() == 0) return;
  size_ += rows.rows();
  while (!parts_.empty() && parts_.back().rows.rows() <= rows.rows()) {
    rows = stack_rows(std::vector<Matrix>{parts_.back().rows, rows});
    parts_.pop_back();
  }
  Part part;
  part.index = make_neighbor_index(rows, metric_, Structure::automatic, control, 1);
  part.rows = std::move(rows);
  parts_.push_back(std::move(part));
}

std::vector<std::uint8_t> GrowingIndex::any_within(const Matrix& queries,
                                                   std::span<const Index> rows,
                                                   double squared_radius,
                                                   const RunControl& control) const {
  std::vector<std::uint8_t> found(rows.size(), 0);
  std::vector<Index> asked(rows.begin(), rows.end());
  std::vector<Index> place(rows.size());  // of those asked
  for (std::size_t i = 0; i < place.size(); ++i) place[i] = static_cast<Index>(i);
  for (const Part& part : parts_) {
    const auto near = part.index->any_within(queries, asked, squared_radius, control);
    std::size_t left = 0;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      found[usize(place[i])] = near[i];
      if (near[i] != 0) continue;
      asked[left] = asked[i];
      place[left++] = place[i];
    }
    asked.resize(left);
    place.resize(left);
  }
  return found;
}

}  // namespace tamis
