#include <gtest/gtest.h>

#include <numeric>

#include "base/group.hpp"
#include "base/thread_group.hpp"
#include "qp/top.hpp"
#include "support/random_data.hpp"

namespace tamis::testing {
namespace {

TEST(Group, MessagesArriveByRank) {
  run_as_group(5, [](Group& group) {
    const int me = group.rank();
    for (int round = 0; round < 50; ++round) {
      // As many values as the rank's number: lengths differ, and one is empty.
      const std::vector<int> mine(usize(me), 100 * round + me);
      const auto lists = gather_lists(group, mine);
      ASSERT_EQ(lists.size(), 5U);
      for (int r = 0; r < 5; ++r)
        ASSERT_EQ(lists[usize(r)], std::vector<int>(usize(r), 100 * round + r));
      ASSERT_EQ(sum_of_all<Index>(group, me), 10);
      ASSERT_EQ(largest_of_all(group, -me), 0);
      ASSERT_EQ(broadcast_list(group, std::vector<int>{me}, round % 5),
                std::vector<int>{round % 5});
      std::vector<Group::Message> to_each;
      for (int r = 0; r < 5; ++r) to_each.emplace_back(usize(r), static_cast<std::byte>(me));
      const auto from_each = group.exchange(std::move(to_each));
      for (int r = 0; r < 5; ++r)
        ASSERT_EQ(from_each[usize(r)], Group::Message(usize(me), static_cast<std::byte>(r)));
    }
    EXPECT_GT(group.num_calls(), 0);
    EXPECT_GT(group.bytes_sent(), 0);
  });
}

TEST(Group, AFailingRankEndsTheOthers) {
  EXPECT_THROW(run_as_group(3,
                            [](Group& group) {
                              if (group.rank() == 1) throw DataError("bad row");
                              while (true) sum_of_all<Index>(group, 1);
                            }),
               DataError);
}

// The naive twin: all of them in one list, sorted.
TEST(Group, TheTopOfAllRanks) {
  Random random(3);
  for (int round = 0; round < 30; ++round) {
    const int ranks = static_cast<int>(1 + random.below(5));
    std::vector<std::vector<qp::Ranked>> lists(usize(ranks));
    std::vector<qp::Ranked> all;
    const Index count = random.below(200);
    for (Index k = 0; k < count; ++k) {
      // Few different values, so that keys decide.
      const qp::Ranked one{1 + static_cast<double>(random.below(round % 2 == 0 ? 3 : 100000)),
                           random.next_u64(), k};
      lists[usize(random.below(ranks))].push_back(one);
      all.push_back(one);
    }
    const Index top = random.below(count + 10);
    std::sort(all.begin(), all.end());
    std::vector<Index> expected;
    for (std::size_t k = 0; k < std::min(all.size(), usize(top)); ++k)
      expected.push_back(all[k].index);
    std::sort(expected.begin(), expected.end());
    run_as_group(ranks, [&](Group& group) {
      const std::vector<qp::Ranked>& given = lists[usize(group.rank())];
      RowVector<qp::Ranked> mine(given.begin(), given.end());
      const std::size_t before = mine.size();
      const auto dropped = qp::drop_all_but_top(group, top, &mine);
      ASSERT_EQ(mine.size() + dropped.size(), before);
      std::vector<Index> kept;
      for (const qp::Ranked& one : mine) kept.push_back(one.index);
      kept = gather_all(group, std::move(kept));
      std::sort(kept.begin(), kept.end());
      ASSERT_EQ(kept, expected);
    });
  }
}

}  // namespace
}  // namespace tamis::testing
