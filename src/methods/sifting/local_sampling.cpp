#include "methods/sifting/local_sampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "methods/sifting/ball_draw.hpp"
#include "methods/sifting/sifting.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

constexpr Index kMostSubsamples = 12;
// With fewer rows drawn, balls around too few support vectors miss parts of the boundary.
constexpr double kLocalDelta = 0.1;
constexpr double kBetaStep = 0.1;
constexpr int kMostSkipped = 10;

// L: every subsample has rows of every class.
Index num_subsamples(const std::vector<std::vector<Index>>& classes, std::optional<Index> wanted) {
  std::size_t least = classes[0].size();
  for (const auto& rows : classes) least = std::min(least, rows.size());
  if (!wanted)
    return std::clamp<Index>(static_cast<Index>(least) / kLeastOfAClass, 1, kMostSubsamples);
  if (*wanted > std::max<Index>(1, static_cast<Index>(least))) {
    throw InvalidArgument(fmt::format(
        "subsamples is {}: of the smallest class {} drawn, and each subsample needs one; "
        "take fewer subsamples or a larger delta",
        *wanted, counted(least, "row is", "rows are")));
  }
  return *wanted;
}

// Shares rows out so that sizes, also those within a class, differ by at most one.
std::vector<std::vector<Index>> share_out(std::vector<std::vector<Index>> classes, Index parts,
                                          Random random) {
  std::vector<std::vector<Index>> shares(usize(parts));
  std::size_t next = 0;
  for (auto& rows : classes) {
    random.shuffle(rows);
    for (const Index row : rows) shares[next++ % shares.size()].push_back(row);
  }
  for (auto& share : shares) std::sort(share.begin(), share.end());
  return shares;
}

// The support vectors of a machine on each subsample.
std::vector<Index> support_of_all(const TrainingSet& data, const TrainContext& context,
                                  const std::vector<std::vector<Index>>& subsamples,
                                  TrainReport* work) {
  // Progress must not be reported from several machines at once.
  const RunControl silent = quiet(context.control);
  const TrainContext inner{context.options, silent, context.watch};
  std::vector<KernelMachine> machines(subsamples.size());
  parallel_each(static_cast<Index>(subsamples.size()), [&](Index i) {
    isolated([&] { machines[usize(i)] = train_kernel_machine(data, subsamples[usize(i)], inner); });
  });
  std::vector<Index> support;
  for (const KernelMachine& machine : machines) {
    const std::vector<Index> rows = machine.support_rows();
    support.insert(support.end(), rows.begin(), rows.end());
    add_run(machine.report, work);
  }
  std::sort(support.begin(), support.end());
  return support;
}

}  // namespace

MethodResult train_local_sampling(const TrainingSet& data, const TrainContext& context) {
  const LocalSamplingOptions& options = context.options.local_sampling;
  const bool search = !options.beta;
  HoldOut split;
  if (search)
    split = hold_out(data, context);
  else
    split.pool = all_rows(data);
  if (search && split.held.empty())
    return sift(data, context, {}, split.pool, [](const auto&) { return std::vector<Index>(); });

  const Stopwatch watch;
  const std::vector<Index> drawn = draw_rows(data, split.pool, delta_or(context, kLocalDelta),
                                             kLeastOfAClass, sift_random(context, 1));
  auto classes = rows_by_class(data, drawn);
  const Index parts = num_subsamples(classes, options.subsamples);
  TrainReport work;
  std::vector<Index> support = support_of_all(
      data, context, share_out(std::move(classes), parts, sift_random(context, 2)), &work);
  if (support.empty()) support = drawn;
  const double subsamples_seconds = watch.seconds();

  TrainingSet weighted = data;
  std::optional<BallDraw> balls;
  // A step of the search that draws less than there is already cannot tell whether to go on.
  const int most_skipped = search && options.intensity == Intensity::budget ? kMostSkipped : 0;
  std::vector<double> betas{0};  // of each round: the first has the support vectors alone
  const auto next = [&](const KernelMachine&) {
    if (!search && betas.size() > 1) return std::vector<Index>();
    if (!balls) balls.emplace(data, context, support, split.pool_without(drawn));
    BallDraw::Drawn found;
    double beta = search ? betas.back() : *options.beta;
    for (int skipped = 0; skipped <= most_skipped; ++skipped) {
      if (search) beta += kBetaStep;
      found = balls->draw(beta);
      if (found.rows.size() >= support.size()) break;
    }
    betas.push_back(beta);
    if (options.weights == DrawWeights::inverse) {
      weighted.cost = data.cost;
      for (std::size_t i = 0; i < found.rows.size(); ++i)
        weighted.cost[usize(found.rows[i])] /= found.probability[i];
    }
    std::vector<Index> rows;
    std::merge(found.rows.begin(), found.rows.end(), support.begin(), support.end(),
               std::back_inserter(rows));
    return rows;
  };
  MethodResult result = sift(weighted, context, split.held, support, next);
  TrainReport& report = result.report;
  report.iterations += work.iterations;
  report.kernel_evaluations += work.kernel_evaluations;
  report.cached_evaluations += work.cached_evaluations;
  report.phase_seconds.insert(report.phase_seconds.begin(), {"subsamples", subsamples_seconds});
  ReportTable& rounds = report.tables.front();
  rounds.columns.emplace_back("beta");
  for (std::size_t i = 0; i < rounds.rows.size(); ++i) rounds.rows[i].push_back(betas[i]);
  report_detail(report, "sv_initial") = static_cast<double>(support.size());
  report_detail(report, "subsamples") = static_cast<double>(parts);
  report_detail(report, "subsample_rows") = static_cast<double>(drawn.size());
  report_detail(report, "beta") =
      betas[usize(static_cast<Index>(report_detail(report, "best_round")) - 1)];
  if (balls)
    report_detail(report, "radius") = report_detail(report, "beta") * balls->median_distance();
  return result;
}

Method local_sampling_method() {
  return {.info = {.name = "local-sampling",
                   .summary = "rows drawn around the support vectors of small subsamples",
                   .kind = MethodKind::part_of_rows,
                   .options = {"multiclass", "delta", "subsamples", "beta", "intensity", "budget",
                               "draw-weights", "validation-fraction", "patience", "improvement",
                               "max-rounds"}},
          .train = train_local_sampling};
}

}  // namespace tamis
