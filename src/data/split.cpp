#include "tamis/split.hpp"

#include <fmt/format.h>

#include <cmath>

#include "data/folds.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

constexpr std::uint64_t kSplitStream = 0x5917;

}  // namespace

Split split_dataset(const Dataset& data, double test_share, Task task, std::uint64_t seed) {
  if (!(test_share > 0 && test_share < 1)) {
    throw InvalidArgument(
        fmt::format("the share of test rows is {}: it must be between 0 and 1", test_share));
  }
  const Strata strata = row_strata(data, task == Task::regression);
  Index rows = 0;
  for (const std::vector<Index>& stratum : strata) rows += static_cast<Index>(stratum.size());
  Random random(seed, kSplitStream);
  // The training rows are drawn, because every class must be among them.
  const auto wanted =
      static_cast<Index>(std::llround((1 - test_share) * static_cast<double>(rows)));
  const std::vector<Index> train = draw_rows(strata, wanted, random);
  std::vector<Index> test = all_but(train, data.rows());
  std::erase_if(test, [&](Index i) { return data.weight(i) == 0; });
  if (train.empty() || test.empty())
    throw DataError(fmt::format("{} too few to part into {} % for testing",
                                counted(rows, "row is", "rows are"), 100 * test_share));
  return {data.select(train), data.select(test)};
}

}  // namespace tamis
