#include "neighbors/brute_force.hpp"

#include <algorithm>

#include "neighbors/candidates.hpp"
#include "neighbors/simd/scan.hpp"

namespace tamis {
namespace {

constexpr Index kGroup = 32;
constexpr Index kStrip = 128;  // points; with kGroup rows of results they fill half the L1 cache

}  // namespace

BruteForce::BruteForce(std::shared_ptr<const Space> shared)
    : NeighborIndex(std::move(shared)), distances_(space()) {}

Index BruteForce::group_size() const { return kGroup; }

std::vector<std::uint32_t> BruteForce::visit_order(const QueryBatch& /*batch*/) const { return {}; }

void BruteForce::search(const QueryBatch& batch, std::span<const std::uint32_t> queries,
                        std::span<Candidates> found) const {
  Index rows[kGroup];
  float self[kGroup] = {};
  const std::size_t count = queries.size();
  for (std::size_t i = 0; i < count; ++i) {
    rows[i] = batch.rows[queries[i]];
    if (!batch.self.empty()) self[i] = batch.self[queries[i]];
  }
  alignas(64) float values[kGroup * kStrip];
  for (Index begin = 0; begin < num_points(); begin += kStrip) {
    const Index end = std::min(begin + kStrip, num_points());
    batch.poll();
    distances_.evaluate(batch.matrix, {rows, count}, {self, count}, begin, end, values, kStrip);
    bool wanted = false;
    for (std::size_t i = 0; i < count; ++i) {
      const float* distances = values + static_cast<Index>(i) * kStrip;
      found[i].commit(simd::collect_keys(distances, end - begin, found[i].limit(), nullptr,
                                         static_cast<std::uint32_t>(begin),
                                         found[i].reserve(end - begin)));
      wanted = wanted || found[i].limit() >= 0;
    }
    if (!wanted) return;
  }
}

}  // namespace tamis
