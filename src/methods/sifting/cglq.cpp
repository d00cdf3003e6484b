#include "methods/sifting/cglq.hpp"

#include "methods/sifting/sifting.hpp"
#include "neighbors/neighbor_index.hpp"

namespace tamis {

MethodResult train_cglq(const TrainingSet& data, const TrainContext& context) {
  const SiftOptions& options = context.options.sift;
  const HoldOut split = hold_out(data, context);
  std::unique_ptr<NeighborIndex> index;
  std::uint64_t round = 0;
  const auto draw = [&] {
    return draw_rows(data, split.pool, delta_or(context, kDelta), kLeastOfAClass,
                     sift_random(context, ++round));
  };
  return sift(data, context, split.held, split.held.empty() ? split.pool : draw(),
              [&](const KernelMachine& latest) {
                if (split.held.empty()) return std::vector<Index>();
                std::vector<Index> rows = latest.support_rows();
                if (options.neighbors > 0) {
                  if (!index)
                    index =
                        make_neighbor_index(data.features, row_metric(data), Structure::automatic,
                                            context.control, options.neighbors + 1);
                  // A support vector is the nearest row of itself.
                  const Neighbors near =
                      index->nearest(data.features, rows, options.neighbors + 1, context.control);
                  rows.insert(rows.end(), near.rows.begin(), near.rows.end());
                }
                const std::vector<Index> fresh = draw();
                rows.insert(rows.end(), fresh.begin(), fresh.end());
                return split.allowed(std::move(rows));
              });
}

Method cglq_method() {
  return {.info = {.name = "cglq",
                   .summary =
                       "rounds on support vectors, their nearest neighbors and fresh random rows",
                   .kind = MethodKind::part_of_rows,
                   .options = {"multiclass", "delta", "neighbors", "validation-fraction",
                               "patience", "improvement", "max-rounds"}},
          .train = train_cglq};
}

}  // namespace tamis
