// What coordinate descent keeps of a point, and small things that it works with.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "base/random.hpp"
#include "linear/rows.hpp"

namespace tamis::linear {

/// All that one step needs to know about a coefficient, in one cache line. Classification is
/// written over alpha = t b >= 0, so that one sign convention serves shrinking and stopping.
struct alignas(64) Point {
  double alpha = 0;  ///< sign * b
  double lower = 0;
  double upper = 0;
  double slope = 0;      ///< linear term of the dual: 1, or the target
  double ridge = 0;      ///< squared losses
  double curvature = 0;  ///< |x|^2 + B^2 + ridge
  Place place;           ///< of the row's values
  float sign = 1;
  bool rests = false;
};

/// Directions in which the dual falls, seen from one coefficient.
struct Slopes {
  double up;    ///< derivative when alpha grows
  double down;  ///< derivative when alpha falls, from the left
};

/// Derivative along the coefficient where it may move that way, else 0.
inline double projected(const Point& point, const Slopes& slopes) {
  if (slopes.up < 0 && point.alpha < point.upper) return slopes.up;
  if (slopes.down > 0 && point.alpha > point.lower) return slopes.down;
  return 0;
}

/// The minimum along one coefficient. With a tube, the dual has a kink at 0.
template <bool kTube>
double best_alpha(const Point& point, const Slopes& slopes, double tube) {
  double alpha = point.alpha - slopes.up / point.curvature;
  if constexpr (kTube) {
    const double at_kink = point.curvature * point.alpha;
    // Slopes as they are on either side of the kink.
    const double above = slopes.up + (point.alpha >= 0 ? 0 : 2 * tube);
    const double below = above - 2 * tube;
    alpha = above < at_kink   ? point.alpha - above / point.curvature
            : below > at_kink ? point.alpha - below / point.curvature
                              : 0;
  }
  return std::clamp(alpha, point.lower, point.upper);
}

struct Range {
  double high = 0;  ///< largest projected gradient, >= 0
  double low = 0;   ///< smallest, <= 0
  double width() const { return high - low; }
  void include(double gradient) {
    high = std::max(high, gradient);
    low = std::min(low, gradient);
  }
};

// Every order equally likely up to 2^-32. Quicker than Random::shuffle, which shows here.
inline void shuffle(Random& random, std::span<Index> order) {
  for (std::size_t i = order.size(); i > 1; --i) {
    const std::uint64_t pick = i <= UINT32_MAX ? (random.next_u32() * std::uint64_t{i}) >> 32
                                               : usize(random.below(static_cast<Index>(i)));
    std::swap(order[i - 1], order[pick]);
  }
}

/// What goes from rank to rank in an epoch, in addition to the weights.
struct Token {
  Range range;
  Index active = 0;  ///< points that do not rest
  double offset = 0;
  bool moved = false;
  bool interrupted = false;
};

/// Part `part` of `parts` of a block.
struct Piece {
  Index block = 0;
  Index part = 0;
  Index parts = 1;
};

inline constexpr Index kPieces = 64;  // of all blocks, about

/// Parts of a block, or several blocks in a row, that are visited one after the other.
inline std::vector<Piece> pieces_in_random_order(Index blocks, Random& random) {
  if (blocks == 1) return {Piece{}};
  const Index parts = std::max<Index>(1, kPieces / blocks);
  const Index together = std::max<Index>(1, blocks / kPieces);
  std::vector<Index> order(usize(blocks / together * parts));
  std::iota(order.begin(), order.end(), 0);
  shuffle(random, order);
  std::vector<Piece> pieces;
  for (const Index k : order) {
    for (Index block = k / parts * together; block < (k / parts + 1) * together; ++block)
      pieces.push_back({block, k % parts, parts});
  }
  return pieces;
}

}  // namespace tamis::linear
