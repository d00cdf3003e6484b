#include <gtest/gtest.h>

#include "base/exact_sum.hpp"
#include "base/fixed_sum.hpp"
#include "support/random_data.hpp"

namespace tamis::testing {
namespace {

double exact(const std::vector<double>& terms) {
  ExactSum sum;
  for (const double term : terms) sum.add(term);
  return sum.value();
}

TEST(ExactSum, KnownSums) {
  EXPECT_EQ(exact({}), 0);
  EXPECT_EQ(exact({1e300, 1, -1e300}), 1);
  EXPECT_EQ(exact({1e-320, 1, -1}), 1e-320);
  EXPECT_EQ(exact({-1e-320, -1, 1}), -1e-320);
  EXPECT_EQ(exact({0.1, 0.2, 0.3}), 0.6);
  EXPECT_EQ(exact({1, 0x1p-53, 0x1p-53}), 1 + 0x1p-52);
  EXPECT_EQ(exact({-1, -0x1p-53, -0x1p-53}), -1 - 0x1p-52);
  EXPECT_EQ(exact({1.7e308, -1.7e308, 1.7e308}), 1.7e308);
  EXPECT_TRUE(std::isinf(exact({1, std::numeric_limits<double>::infinity()})));
  EXPECT_TRUE(std::isnan(exact({1, std::nan("")})));
}

// Next to long double where that is exact, in any order and in any parts.
TEST(ExactSum, AnyOrderAnySplit) {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> terms;
    const Index count = 1 + random.below(300);
    const double spread = round % 2 == 0 ? 8 : 600;
    for (Index k = 0; k < count; ++k)
      terms.push_back(
          std::ldexp(random.normal(), static_cast<int>(random.uniform(-spread, spread))));
    const double whole = exact(terms);
    random.shuffle(terms);
    EXPECT_EQ(exact(terms), whole);
    ExactSum parts[3];
    for (std::size_t k = 0; k < terms.size(); ++k) parts[k % 3].add(terms[k]);
    parts[0].add(parts[1]);
    parts[2].add(parts[0]);
    EXPECT_EQ(parts[2].value(), whole);
    if (spread > 8) continue;
    long double slow = 0;
    for (const double term : terms) slow += static_cast<long double>(term);
    EXPECT_NEAR(whole, static_cast<double>(slow), 1e-15 * std::abs(whole) + 1e-15);
  }
}

TEST(FixedSum, AnyOrderWithinItsUnit) {
  Random random(8);
  std::vector<double> terms;
  double plain = 0;
  for (int k = 0; k < 10000; ++k) {
    terms.push_back(random.uniform(-3, 3));
    plain += terms.back();
  }
  const auto sum = [&] {
    FixedSum fixed(3, std::ssize(terms));
    for (const double term : terms) fixed.add(term);
    return fixed.value();
  };
  const double first = sum();
  random.shuffle(terms);
  EXPECT_EQ(sum(), first);
  EXPECT_NEAR(first, plain, 1e-8);
  FixedSum most(1e30, 1'000'000'000);  // does not overflow
  for (int k = 0; k < 1000; ++k) most.add(1e30);
  EXPECT_NEAR(most.value(), 1e33, 1e24);
}

}  // namespace
}  // namespace tamis::testing
