// The SIMD steps of the pair solver against their scalar twins.
#include "qp/pair_steps.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "support/naive_qp.hpp"
#include "support/targets.hpp"

namespace tamis::testing {
namespace {

template <typename Real>
struct Arrays {
  std::vector<Real> sums, up, down, diagonal;
  std::vector<float> row_i, row_j;
  qp::PairArrays<Real> view() { return {sums.data(), up.data(), down.data(), diagonal.data()}; }
};

// Coarse values, so that ties happen; some coordinates at a bound.
template <typename Real>
Arrays<Real> random_arrays(Index size, Random& random) {
  Arrays<Real> a;
  const auto coarse = [&] { return static_cast<Real>(random.below(41) - 20) / 4; };
  for (Index k = 0; k < size; ++k) {
    a.sums.push_back(coarse());
    a.up.push_back(random.below(4) == 0 ? -std::numeric_limits<Real>::infinity() : coarse());
    a.down.push_back(random.below(4) == 0 ? std::numeric_limits<Real>::infinity() : coarse());
    a.diagonal.push_back(1 + static_cast<Real>(random.below(3)));
    a.row_i.push_back(static_cast<float>(random.below(9) - 4) / 8);
    a.row_j.push_back(static_cast<float>(random.below(9) - 4) / 8);
  }
  return a;
}

template <typename Real>
qp::Extremes naive_extremes(const Arrays<Real>& a, Index begin, Index end) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  qp::Extremes e{-kInfinity, -1, kInfinity};
  for (Index k = begin; k < end; ++k) {
    const auto up = static_cast<double>(a.up[usize(k)] - a.sums[usize(k)]);
    const auto down = static_cast<double>(a.down[usize(k)] - a.sums[usize(k)]);
    if (up > e.max_up) {
      e.max_up = up;
      e.argmax_up = k;
    }
    e.min_down = std::min(e.min_down, down);
  }
  return e;
}

template <typename Real>
void check_pair_steps() {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    const Index size = qp::kPairPadding * (1 + random.below(8));
    const Index begin = qp::kPairPadding * random.below(size / qp::kPairPadding);
    Arrays<Real> a = random_arrays<Real>(size, random);
    const auto same = [](const qp::Extremes& got, const qp::Extremes& expected) {
      EXPECT_EQ(got.max_up, expected.max_up);
      EXPECT_EQ(got.argmax_up, expected.argmax_up);
      EXPECT_EQ(got.min_down, expected.min_down);
    };
    same(qp::find_extremes(a.view(), begin, size), naive_extremes(a, begin, size));

    // Multiples of 1/32 throughout: the updated sums are exact in either precision.
    const double step = static_cast<double>(random.below(9) - 4) / 4;
    std::vector<Real> expected = a.sums;
    for (Index k = begin; k < size; ++k)
      expected[usize(k)] +=
          static_cast<Real>(step) * static_cast<Real>(a.row_i[usize(k)] - a.row_j[usize(k)]);
    const qp::Extremes after =
        qp::update_and_find_extremes(a.view(), a.row_i.data(), a.row_j.data(), step, begin, size);
    EXPECT_EQ(a.sums, expected);
    same(after, naive_extremes(a, begin, size));

    const double up_i = static_cast<double>(random.below(41) - 20) / 4;
    const double diagonal_i = 1;
    const Index partner = qp::find_partner(a.view(), a.row_i.data(), up_i, diagonal_i, begin, size);
    double best = 0;
    std::vector<double> gains(usize(size), 0.0);
    for (Index k = begin; k < size; ++k) {
      const double difference = up_i - static_cast<double>(a.down[usize(k)] - a.sums[usize(k)]);
      const double curvature = std::max(diagonal_i + static_cast<double>(a.diagonal[usize(k)]) -
                                            2 * static_cast<double>(a.row_i[usize(k)]),
                                        1e-12);
      if (difference > 0) gains[usize(k)] = difference * difference / curvature;
      best = std::max(best, gains[usize(k)]);
    }
    if (best == 0) {
      EXPECT_EQ(partner, -1);
    } else {
      ASSERT_GE(partner, begin);
      ASSERT_LT(partner, size);
      EXPECT_NEAR(gains[usize(partner)], best, 1e-6 * best);
    }
  }
}

TEST(PairSteps, EqualTheirScalarTwins) {
  on_each_target([] {
    check_pair_steps<float>();
    check_pair_steps<double>();
  });
}

}  // namespace
}  // namespace tamis::testing
