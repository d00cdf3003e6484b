#include "base/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/check.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

std::uint32_t low32(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high32(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

// Natural logarithm from +, *, / alone: ln(m 2^e) = e ln 2 + 2 atanh((m-1)/(m+1)), m in [sqrt(1/2),
// sqrt(2)). |z| <= 0.172, so twelve terms of the series reach the last bit; the platform's log()
// may differ there.
double portable_log(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2;
    --exponent;
  }
  const double z = (mantissa - 1) / (mantissa + 1);
  const double z2 = z * z;
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * z2 + 1.0 / k;
  return exponent * 0.69314718055994531 + 2 * z * sum;
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = 0xD2511F53ULL * counter[0];
    const std::uint64_t product1 = 0xCD9E8D57ULL * counter[2];
    counter = {high32(product1) ^ counter[1] ^ key[0], low32(product1),
               high32(product0) ^ counter[3] ^ key[1], low32(product0)};
    key[0] += 0x9E3779B9U;
    key[1] += 0xBB67AE85U;
  }
  return counter;
}

Random Random::split(std::uint64_t part) const {
  const auto bits = philox({low32(part), high32(part), low32(stream_), high32(stream_)},
                           {low32(seed_) ^ 0x5851F42DU, high32(seed_) ^ 0x4C957F2DU});
  return Random(seed_, (static_cast<std::uint64_t>(bits[1]) << 32) | bits[0]);
}

std::uint32_t Random::next_u32() {
  if (left_ == 0) {
    buffer_ = philox({low32(block_), high32(block_), low32(stream_), high32(stream_)},
                     {low32(seed_), high32(seed_)});
    ++block_;
    left_ = 4;
  }
  return buffer_[static_cast<std::size_t>(4 - left_--)];
}

std::uint64_t Random::next_u64() {
  const std::uint64_t low = next_u32();
  return (static_cast<std::uint64_t>(next_u32()) << 32) | low;
}

std::int64_t Random::below(std::int64_t bound) {
  TAMIS_CHECK(bound > 0);
  const auto range = static_cast<std::uint64_t>(bound);
  const std::uint64_t unbiased = UINT64_MAX - UINT64_MAX % range;
  std::uint64_t x = next_u64();
  while (x >= unbiased) x = next_u64();
  return static_cast<std::int64_t>(x % range);
}

// Marsaglia's polar method: two at a time, one kept for the next call.
double Random::normal() {
  if (has_spare_normal_) {
    has_spare_normal_ = false;
    return spare_normal_;
  }
  double u = 0;
  double v = 0;
  double s = 0;
  do {
    u = 2 * uniform() - 1;
    v = 2 * uniform() - 1;
    s = u * u + v * v;
  } while (s >= 1 || s == 0);
  const double factor = std::sqrt(-2 * portable_log(s) / s);
  spare_normal_ = v * factor;
  has_spare_normal_ = true;
  return u * factor;
}

// 1 - u is in (0, 1], and 2^-54 stands for a logarithm of 0.
double Random::exponential() { return std::max(0x1p-54, -portable_log(1 - uniform())); }

// Floyd's method when few are drawn, selection sampling otherwise.
std::vector<std::int64_t> sample_without_replacement(std::int64_t n, std::int64_t count,
                                                     Random& random) {
  if (count < 0 || count > n) {
    throw InvalidArgument(
        fmt::format("cannot draw {} out of {}", counted(count, "different row"), n));
  }
  std::vector<std::int64_t> chosen;
  chosen.reserve(static_cast<std::size_t>(count));
  if (count < n / 8) {
    std::unordered_set<std::int64_t> seen;
    for (std::int64_t top = n - count; top < n; ++top) {
      const std::int64_t pick = random.below(top + 1);
      chosen.push_back(seen.insert(pick).second ? pick : top);
      seen.insert(chosen.back());
    }
    std::sort(chosen.begin(), chosen.end());
  } else {
    for (std::int64_t i = 0; i < n && static_cast<std::int64_t>(chosen.size()) < count; ++i) {
      if (random.below(n - i) < count - static_cast<std::int64_t>(chosen.size()))
        chosen.push_back(i);
    }
  }
  return chosen;
}

// P. S. Efraimidis, P. G. Spirakis, "Weighted random sampling with a reservoir", 2006: the smallest
// of exponential numbers divided by the weights.
std::vector<std::int64_t> weighted_sample_without_replacement(std::span<const double> weights,
                                                              std::int64_t count, Random& random) {
  if (count < 0 || count > static_cast<std::int64_t>(weights.size())) {
    throw InvalidArgument(
        fmt::format("cannot draw {} out of {}", counted(count, "different row"), weights.size()));
  }
  std::vector<std::pair<double, std::int64_t>> smallest;  // a heap with the largest first
  smallest.reserve(static_cast<std::size_t>(count) + 1);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    smallest.emplace_back(random.exponential() / weights[i], static_cast<std::int64_t>(i));
    std::push_heap(smallest.begin(), smallest.end());
    if (std::ssize(smallest) <= count) continue;
    std::pop_heap(smallest.begin(), smallest.end());
    smallest.pop_back();
  }
  std::vector<std::int64_t> chosen;
  chosen.reserve(smallest.size());
  for (const auto& [key, position] : smallest) chosen.push_back(position);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace tamis
