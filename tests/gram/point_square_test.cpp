// The square of kernel values among some points, computed by one rank or by several.
#include "gram/point_square.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "base/thread_group.hpp"
#include "support/random_data.hpp"

namespace tamis::testing {
namespace {

constexpr Index kSize = 150;
constexpr Index kStride = 160;

PointSquare some_square(const Matrix& data) {
  std::vector<Index> rows;
  for (Index i = 0; i < kSize; ++i) rows.push_back((7 * i + 3) % data.rows());
  const Kernel kernel{.gamma = 0.2};
  const auto distance_by = data.cols() == 20 ? DistanceBy::products : DistanceBy::differences;
  std::vector<float> norms = row_norms(kernel, data, rows, distance_by);
  return {kernel, data, std::move(rows), std::move(norms), distance_by};
}

// A block in which nothing but the values among the last `known` points is in its place.
std::vector<float> with_known(const std::vector<float>& whole, Index known) {
  std::vector<float> block(whole.size(), -7.0F);
  for (Index r = kSize - known; r < kSize; ++r) {
    const Index first = r * kStride + kSize - known;
    std::copy_n(whole.begin() + first, known, block.begin() + first);
  }
  return block;
}

// More ranks than strips too: some then have nothing to do.
TEST(PointSquare, RanksTogetherGiveTheSameBits) {
  for (const Matrix& data : {random_matrix(300, 3, 1), random_matrix(300, 20, 2),
                             random_matrix(300, 60, 3, 0.2).to_sparse()}) {
    std::vector<float> whole(usize(kSize * kStride));
    const Index computed = some_square(data).compute(0, whole.data(), kStride);
    for (const int ranks : {1, 2, 3, 9}) {
      for (const Index known : {0, 1, 64, 100, 150}) {
        SCOPED_TRACE(data.cols());
        run_as_group(ranks, [&](Group& group) {
          std::vector<float> block = with_known(whole, group.rank() == 0 ? known : 0);
          const Index mine =
              some_square(data).compute_together(group, known, block.data(), kStride);
          EXPECT_EQ(sum_of_all(group, mine),
                    data.cols() < 8 ? computed : computed - known * (known + 1) / 2);
          for (Index r = 0; r < kSize && group.rank() == 0; ++r) {
            ASSERT_EQ(
                std::memcmp(block.data() + r * kStride, whole.data() + r * kStride, kSize * 4), 0)
                << ranks << " ranks, " << known << " known, row " << r;
          }
        });
      }
    }
  }
}

}  // namespace
}  // namespace tamis::testing
