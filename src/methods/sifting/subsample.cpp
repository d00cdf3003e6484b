#include "methods/sifting/subsample.hpp"

#include "methods/sifting/sifting.hpp"

namespace tamis {

MethodResult train_subsample(const TrainingSet& data, const TrainContext& context) {
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
               .options = {"multiclass", "delta"}},
      .train = train_subsample};
}

}  // namespace tamis
