// Which problems the multi-class wrappers hand out, seen by a trainer that only takes notes.
#include "multiclass/multiclass.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

#include "base/parallel.hpp"
#include "support/random_data.hpp"

namespace tamis::testing {
namespace {

std::vector<std::int32_t> random_classes(Index rows, Index classes, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::int32_t> result;
  for (Index i = 0; i < rows; ++i)
    result.push_back(static_cast<std::int32_t>(i < classes ? i : random.below(classes)));
  return result;
}

// Signs its answer with the task's index; keeps the tasks.
struct Notes {
  std::mutex mutex;
  std::vector<BinaryTask> tasks;

  BinaryTrainer trainer() {
    return [this](const BinaryTask& task) {
      const std::lock_guard<std::mutex> lock(mutex);
      tasks.push_back(task);
      BinaryResult result;
      result.machine.offset = static_cast<double>(task.index);
      result.stats.iterations = static_cast<std::int64_t>(task.rows.size());
      return result;
    };
  }
  const BinaryTask& task(Index index) const {
    for (const BinaryTask& t : tasks) {
      if (t.index == index) return t;
    }
    throw std::out_of_range("no such task");
  }
};

TEST(OneVsOne, OneMachineAPair) {
  for (const Index classes : {2, 3, 5, 9}) {
    const auto codes = random_classes(120, classes, static_cast<std::uint64_t>(classes));
    for (const int threads : {1, 2, 5}) {
      Notes notes;
      const auto results =
          with_threads(threads, [&] { return train_one_vs_one(codes, classes, notes.trainer()); });
      ASSERT_EQ(static_cast<Index>(results.size()), classes * (classes - 1) / 2);
      ASSERT_EQ(notes.tasks.size(), results.size()) << "each is trained once";
      Index m = 0;
      for (std::int32_t a = 0; a < classes; ++a) {
        for (std::int32_t b = a + 1; b < classes; ++b, ++m) {
          EXPECT_EQ(results[usize(m)].machine.offset, static_cast<double>(m)) << "in pair order";
          const BinaryTask& task = notes.task(m);
          std::vector<Index> rows;
          std::vector<double> targets;
          for (Index i = 0; i < 120; ++i) {
            if (codes[usize(i)] != a && codes[usize(i)] != b) continue;
            rows.push_back(i);
            targets.push_back(codes[usize(i)] == a ? 1 : -1);
          }
          EXPECT_EQ(on_heap(task.rows), rows);
          EXPECT_EQ(on_heap(task.targets), targets);
        }
      }
    }
  }
}

TEST(OneVsRest, OneMachineAClass) {
  for (const Index classes : {3, 4, 7}) {
    const auto codes = random_classes(90, classes, 3);
    Notes notes;
    const auto results = train_one_vs_rest(codes, classes, notes.trainer());
    ASSERT_EQ(static_cast<Index>(results.size()), classes);
    ASSERT_EQ(notes.tasks.size(), results.size());
    for (Index m = 0; m < classes; ++m) {
      EXPECT_EQ(results[usize(m)].machine.offset, static_cast<double>(m));
      const BinaryTask& task = notes.task(m);
      EXPECT_EQ(on_heap(task.rows), iota_rows(90));
      for (Index i = 0; i < 90; ++i)
        EXPECT_EQ(task.targets[usize(i)], codes[usize(i)] == m ? 1 : -1);
    }
  }
}

TEST(OneVsOne, ATrainersErrorReachesTheCaller) {
  const auto codes = random_classes(30, 4, 5);
  EXPECT_THROW(train_one_vs_one(codes, 4,
                                [](const BinaryTask& task) -> BinaryResult {
                                  if (task.index == 3) throw std::runtime_error("no");
                                  return {};
                                }),
               std::runtime_error);
}

// A trainer may use threads inside; the machines must then not be started within each other.
TEST(OneVsOne, NestedParallelTrainersDoNotPileUp) {
  const auto codes = random_classes(60, 6, 6);
  std::atomic<bool> piled = false;
  with_threads(2, [&] {
    return train_one_vs_one(codes, 6, [&](const BinaryTask&) {
      thread_local int depth = 0;
      if (++depth > 1) piled = true;
      std::atomic<Index> sum = 0;
      parallel_ranges(10000, 10, [&](Index begin, Index end) { sum += end - begin; });
      EXPECT_EQ(sum, 10000);
      --depth;
      return BinaryResult{};
    });
  });
  EXPECT_FALSE(piled);
}

}  // namespace
}  // namespace tamis::testing
