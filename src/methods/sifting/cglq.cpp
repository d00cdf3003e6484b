#include "methods/sifting/cglq.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "methods/sifting/sifting.hpp"
#include "neighbors/neighbor_index.hpp"

namespace tamis {
namespace {

// The rows themselves and the k nearest others of each, none of them held out.
std::vector<Index> nearest_in_pool(const NeighborIndex& index, const Matrix& features,
                                   const HoldOut& split, std::vector<Index> rows, Index k,
                                   const RunControl& control) {
  std::vector<Index> found;
  // The index knows all rows, as a copy of the pool would take the memory of the data again. So
  // held-out rows are found too and dropped; a row that is left with too few asks for more.
  for (Index asked = k + 1 + (k + 1) / 2; !rows.empty(); asked *= 2) {
    const Neighbors near = index.nearest(features, rows, asked, control);
    std::vector<Index> again;
    for (Index q = 0; q < static_cast<Index>(rows.size()); ++q) {
      const std::size_t before = found.size();
      for (const Index row : near.rows_of(q)) {
        if (found.size() - before > usize(k)) break;
        if (!std::binary_search(split.held.begin(), split.held.end(), row)) found.push_back(row);
      }
      if (found.size() - before <= usize(k) && near.per_query == asked)
        again.push_back(rows[usize(q)]);
    }
    rows = std::move(again);
  }
  return found;
}

}  // namespace

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
                  rows = nearest_in_pool(*index, data.features, split, std::move(rows),
                                         options.neighbors, context.control);
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
