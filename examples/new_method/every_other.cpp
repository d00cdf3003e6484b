#include "every_other.hpp"

#include "methods/sifting/sifting.hpp"

namespace tamis {
namespace {

MethodResult train_every_other(const TrainingSet& data, const TrainContext& context) {
  std::vector<Index> rows;
  for (const std::vector<Index>& of_class : rows_by_class(data, all_rows(data))) {
    for (std::size_t i = 0; i < of_class.size(); i += 2) rows.push_back(of_class[i]);
  }
  std::sort(rows.begin(), rows.end());
  return sift(data, context, {}, rows, [](const KernelMachine&) { return std::vector<Index>(); });
}

}  // namespace

Method every_other_method() {
  return {.info = {.name = "every-other",
                   .summary = "one model on every other row of each class",
                   .kind = MethodKind::part_of_rows,
                   .options = {"multiclass"}},
          .train = train_every_other};
}

}  // namespace tamis
