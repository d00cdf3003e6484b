#include "selection/search_rows.hpp"

#include <utility>

#include "data/folds.hpp"

namespace tamis {
namespace {

constexpr std::uint64_t kRowsStream = 0x7E5E;
constexpr std::uint64_t kFoldsStream = kRowsStream + 1;
constexpr std::uint64_t kPointsStream = kRowsStream + 2;

}  // namespace

Dataset draw_search_rows(const Dataset& data, Index rows, const TrainOptions& base) {
  Strata strata = row_strata(data, base.task == Task::regression);
  Random random(base.seed, kRowsStream);
  return data.select(draw_rows(std::move(strata), rows, random));
}

std::vector<std::vector<Index>> deal_search_folds(const Dataset& data, Index folds,
                                                  const TrainOptions& base) {
  Random random(base.seed, kFoldsStream);
  return deal_rows(row_strata(data, base.task == Task::regression), folds, random);
}

Random search_points_random(const TrainOptions& base) { return Random(base.seed, kPointsStream); }

}  // namespace tamis
