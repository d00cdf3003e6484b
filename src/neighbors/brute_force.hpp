#pragma once

#include "neighbors/distances.hpp"
#include "neighbors/neighbor_index.hpp"

namespace tamis {

/// Every point for every query: strips of points stay in cache while a group of queries passes
/// over them, and only values below a query's bound leave the vector code.
class BruteForce final : public NeighborIndex {
 public:
  explicit BruteForce(std::shared_ptr<const Space> space);

  Structure structure() const override { return Structure::brute_force; }
  Index size_bytes() const override { return distances_.size_bytes(); }

 protected:
  Index group_size() const override;
  std::vector<std::uint32_t> visit_order(const QueryBatch& batch) const override;
  void search(const QueryBatch& batch, std::span<const std::uint32_t> queries,
              std::span<Candidates> found) const override;

 private:
  Distances distances_;
};

}  // namespace tamis
