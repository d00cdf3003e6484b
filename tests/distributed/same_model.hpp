// One model, however many ranks train it.
#pragma once

#include <gtest/gtest.h>

#include <mutex>
#include <string>

#include "base/thread_group.hpp"
#include "distributed/part_of.hpp"
#include "tamis/io.hpp"
#include "tamis/train.hpp"

namespace tamis::testing {

struct Trained {
  std::string bytes;
  TrainReport report;
};

inline Trained train_on(int ranks, const Dataset& data, const TrainOptions& options) {
  Trained result;
  std::mutex mutex;
  run_as_group(ranks, [&](Group& group) {
    RunControl control;
    control.threads = 1;
    control.group = &group;
    const TrainResult trained = train(part_of(data, group), options, control);
    const std::string bytes = model_to_bytes(trained.model);
    const std::lock_guard lock(mutex);
    if (result.bytes.empty())
      result = {bytes, trained.report};
    else
      EXPECT_EQ(bytes, result.bytes) << "rank " << group.rank();
  });
  return result;
}

inline void expect_same_model(const Dataset& data, const TrainOptions& options,
                              std::initializer_list<int> ranks = {2, 3, 7}) {
  RunControl control;
  control.threads = 1;
  const TrainResult alone = train(data, options, control);
  const std::string bytes = model_to_bytes(alone.model);
  for (const int count : ranks) {
    const Trained together = train_on(count, data, options);
    EXPECT_EQ(together.bytes, bytes) << count << " ranks";
    EXPECT_EQ(together.report.rows, alone.report.rows);
    EXPECT_EQ(together.report.iterations, alone.report.iterations);
    EXPECT_EQ(together.report.objective, alone.report.objective);
    EXPECT_EQ(together.report.gap, alone.report.gap);
    EXPECT_EQ(together.report.violation, alone.report.violation);
    EXPECT_EQ(together.report.support_rows, alone.report.support_rows);
    EXPECT_EQ(together.report.chosen_rows, alone.report.chosen_rows);
    EXPECT_EQ(together.report.bounded_support_vectors, alone.report.bounded_support_vectors);
    EXPECT_EQ(together.report.stop_reason, alone.report.stop_reason);
  }
}

}  // namespace tamis::testing
