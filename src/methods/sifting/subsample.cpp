#include "methods/sifting/subsample.hpp"

#include "base/checked.hpp"
#include "base/group.hpp"
#include "methods/exact/exact_together.hpp"
#include "methods/sifting/sifting.hpp"

namespace tamis {
namespace {

// The rows drawn stay where they are, and are trained on as `exact` trains on all.
MethodResult train_together(const TrainingSet& mine, const TrainContext& context, Group& group) {
  const std::vector<Index> own = draw_own_rows(mine, delta_or(context, kDelta), kLeastOfAClass,
                                               sift_random(context, 0), group);
  const Index first = sum_of_earlier(group, mine.rows());
  std::vector<Index> drawn;
  drawn.reserve(own.size());
  for (const Index row : own) drawn.push_back(first + row);
  drawn = gather_all(group, std::move(drawn));
  MethodResult result = train_exact_together(mine.select(own), context);
  TrainReport& report = result.report;
  for (Index& row : report.support_rows) row = drawn[usize(row)];
  const auto support = static_cast<double>(report.support_rows.size());
  const auto rows = static_cast<double>(drawn.size());
  report.chosen_rows = drawn;
  report.details = {{"sv_initial", support},
                    {"sv_final", support},
                    {"rows_used", rows},
                    {"rows_seen", rows},
                    {"best_round", 1}};
  return result;
}

}  // namespace

MethodResult train_subsample(const TrainingSet& data, const TrainContext& context) {
  Group& group = group_of(context.control);
  if (group.size() > 1) return train_together(data, context, group);
  const std::vector<Index> rows = draw_rows(data, all_rows(data), delta_or(context, kDelta),
                                            kLeastOfAClass, sift_random(context, 0));
  return sift(data, context, {}, rows, [](const KernelMachine&) { return std::vector<Index>(); });
}

Method subsample_method() {
  return {
      .info = {.name = "subsample",
               .summary =
                   "one model on a random sample of the rows: the baseline of the methods below",
               .kind = MethodKind::part_of_rows,
               .trains_together = true,
               .options = {"multiclass", "delta"}},
      .train = train_subsample};
}

}  // namespace tamis
