#include "model/anchor_search.hpp"

#include <gtest/gtest.h>

#include "neighbors/neighbor_index.hpp"
#include "support/random_data.hpp"

namespace tamis::testing {
namespace {

// In parts of a few anchors, the answer of one index over all.
TEST(AnchorSearch, PartsDoNotShow) {
  for (const Index cols : {1, 2, 7}) {
    Matrix rows = random_matrix(3000, cols, 1);
    // Copies, far away from each other: the first one is the answer.
    std::vector<Index> numbers = iota_rows(3000);
    for (Index i = 0; i < 500; ++i) numbers[usize(2500 + i)] = i;
    rows = rows.select(numbers);
    const Matrix queries = random_matrix(700, cols, 2);
    const Kernel kernel{KernelType::rbf, 50, 0, 3};
    const auto expected =
        make_neighbor_index(rows, Metric{}, Structure::brute_force)->nearest(queries, 1).rows;
    EXPECT_EQ(AnchorSearch(rows, {}, kernel).nearest(queries, {}), expected);
    EXPECT_EQ(AnchorSearch(rows, {}, kernel, 100, 170).nearest(queries, {}), expected);
    EXPECT_EQ(AnchorSearch(rows, {}, kernel, 100, 170).nearest(rows, {}),
              make_neighbor_index(rows, Metric{}, Structure::brute_force)->nearest(rows, 1).rows);
    std::vector<Index> anchors;
    for (Index i = 0; i < 3000; i += 3) anchors.push_back((i * 7) % 3000);
    const auto of_anchors =
        make_neighbor_index(rows.select(anchors), Metric{}, Structure::brute_force)
            ->nearest(queries, 1)
            .rows;
    EXPECT_EQ(AnchorSearch(rows, anchors, kernel, 100, 90).nearest(queries, {}), of_anchors);
    // Without memory for more than one part.
    RunControl tight;
    tight.memory_bytes = 1;
    EXPECT_EQ(AnchorSearch(rows, {}, kernel, 100, 170).nearest(queries, tight), expected);
  }
}

}  // namespace
}  // namespace tamis::testing
