#include "neighbors/growing_index.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "neighbors/simd/scan.hpp"
#include "neighbors/structures.hpp"

namespace tamis {
namespace {

constexpr Index kRecent = 256;
constexpr Index kTreeRows = 2048;  // parts from this size on are kd-trees, where rows have boxes
constexpr Index kTreeCols = 15;    // and few features

}  // namespace

GrowingIndex::GrowingIndex(const Matrix& rows, const Metric& metric)
    : space_(std::make_shared<const Space>(metric, rows)) {}

GrowingIndex::~GrowingIndex() = default;

void GrowingIndex::insert(Index row) {
  recent_.push_back(row);
  ++size_;
  const std::size_t in_blocks = recent_blocks_.size() * usize(kPanel);
  const std::vector<Index> others(recent_.begin() + static_cast<Index>(in_blocks), recent_.end());
  if (static_cast<Index>(others.size()) == kPanel) {
    recent_blocks_.emplace_back(*space_, others);
    last_block_.reset();
  } else {
    last_block_ = std::make_unique<Distances>(*space_, others);
  }
  if (static_cast<Index>(recent_.size()) == kRecent) move_recent_to_parts();
}

void GrowingIndex::move_recent_to_parts() {
  std::vector<Index> rows = std::move(recent_);
  recent_.clear();
  recent_blocks_.clear();
  while (!parts_.empty() && parts_.back().rows.size() <= rows.size()) {
    rows.insert(rows.end(), parts_.back().rows.begin(), parts_.back().rows.end());
    parts_.pop_back();
  }
  const bool tree = static_cast<Index>(rows.size()) >= kTreeRows && space_->uses_differences() &&
                    space_->points().cols() <= kTreeCols;
  Part part;
  part.index = make_structure(space_->of_points(rows),
                              tree ? Structure::kd_tree : Structure::brute_force, {});
  part.rows = std::move(rows);
  parts_.push_back(std::move(part));
}

bool GrowingIndex::recent_within(Index row, float limit) const {
  const std::vector<float> self = space_->self_values(space_->points(), {&row, 1});
  alignas(64) float values[kPanel];
  const auto near = [&](const Distances& block, Index count) {
    block.evaluate(space_->points(), {&row, 1}, self, 0, count, values, kPanel);
    return simd::any_at_most(values, count, limit);
  };
  if (last_block_ && near(*last_block_, static_cast<Index>(recent_.size()) % kPanel)) return true;
  return std::any_of(recent_blocks_.begin(), recent_blocks_.end(),
                     [&](const Distances& block) { return near(block, kPanel); });
}

bool GrowingIndex::any_within(Index row, double squared_radius) const {
  const float limit = space_->internal_limit(squared_radius);
  if (limit < 0) return false;
  if (recent_within(row, limit)) return true;
  return std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
    return part.index->any_within(space_->points(), {&row, 1}, squared_radius)[0] != 0;
  });
}

}  // namespace tamis
