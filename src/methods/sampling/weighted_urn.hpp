// Points with weights 2^e, drawn one after the other without putting them back.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "base/row_vector.hpp"
#include "tamis/dataset.hpp"

namespace tamis {

/// Weights begin at 1 and are only ever doubled. They are kept as exponents, so that thousands of
/// doublings neither overflow nor lose anything: points of equal weight share a bucket, a draw
/// first chooses a bucket and then one of its points.
class WeightedUrn {
 public:
  explicit WeightedUrn(Index points, const RowStore& store = {});

  Index size() const { return static_cast<Index>(exponent_.size()); }
  int exponent(Index point) const { return exponent_[static_cast<std::size_t>(point)]; }
  void double_weight(Index point);
  /// Weight of these points over the weight of all.
  double share(std::span<const Index> points) const;

  /// Puts every point back. To be called before the first next() after a change of weights.
  void refill();
  /// Takes out a point, each with a probability proportional to its weight among those left; -1
  /// when none is.
  Index next(Random& random);

 private:
  double relative_weight(std::size_t exponent) const;

  RowVector<std::int32_t> exponent_;
  RowVector<Index> place_;                 // of each point in its bucket
  std::vector<RowVector<Index>> buckets_;  // by exponent
  std::vector<std::size_t> left_;          // points of each bucket still in the urn: the first ones
};

}  // namespace tamis
