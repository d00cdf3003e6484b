// Counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3", 2011). The i-th number of a stream is a pure function of (seed, stream, i), so parallel
// work that draws from one stream per item gives the same result for any thread count, and on every
// platform: only integer arithmetic, exactly rounded floating-point operations and our own
// logarithm are used.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tamis {

/// Ten rounds of Philox on a 128-bit counter with a 64-bit key.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key);

class Random {
 public:
  /// Streams with different (seed, stream) are independent.
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  /// An independent generator for part `part` of the work, whatever was drawn from this one.
  Random split(std::uint64_t part) const;

  std::uint32_t next_u32();
  std::uint64_t next_u64();
  /// In [0, 1), 53 bits.
  double uniform() { return static_cast<double>(next_u64() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// In [0, bound), without bias; bound > 0.
  std::int64_t below(std::int64_t bound);
  /// Mean 0, variance 1.
  double normal();
  /// Mean 1, above 0.
  double exponential();

  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::int64_t i = static_cast<std::int64_t>(items.size()) - 1; i > 0; --i) {
      std::swap(items[static_cast<std::size_t>(i)], items[static_cast<std::size_t>(below(i + 1))]);
    }
  }

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint64_t block_ = 0;
  std::array<std::uint32_t, 4> buffer_{};
  int left_ = 0;
  double spare_normal_ = 0;
  bool has_spare_normal_ = false;
};

/// `count` different numbers of [0, n) in ascending order, each subset equally likely. Throws
/// InvalidArgument if count > n.
std::vector<std::int64_t> sample_without_replacement(std::int64_t n, std::int64_t count,
                                                     Random& random);

/// `count` different numbers of [0, weights.size()) in ascending order, drawn one after the other
/// with probabilities proportional to the weights (> 0) of those left. Throws InvalidArgument if
/// count is greater than their number.
std::vector<std::int64_t> weighted_sample_without_replacement(std::span<const double> weights,
                                                              std::int64_t count, Random& random);

}  // namespace tamis
