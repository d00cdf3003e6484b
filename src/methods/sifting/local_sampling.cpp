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
// With fewer rows drawn, balls around too few support vectors miss parts of the boundary
// (docs/local-sampling.md has the figures). Their number counts, not their share.
constexpr double kRowsDrawn = 20'000;
constexpr double kLeastDelta = 0.1;
constexpr double kMostDelta = 0.4;
constexpr double kBetaStep = 0.1;
constexpr int kMostSkipped = 10;
// Rows drawn by a round of the search over those of the round before, at least: with fewer more,
// chance decides which of the two has the smaller validation error.
constexpr double kLeastGrowth = 1.25;

double default_delta(Index rows) {
  return std::clamp(kRowsDrawn / static_cast<double>(rows), kLeastDelta, kMostDelta);
}

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

// Rounds of growing beta on the same support vectors: which rows each of them trains on.
class BallRounds {
 public:
  BallRounds(const TrainingSet& data, const TrainContext& context, std::vector<Index> support,
             std::vector<Index> drawable)
      : data_(data),
        context_(context),
        options_(context.options.local_sampling),
        support_(std::move(support)),
        drawable_(std::move(drawable)),
        weighted_(data) {}

  const std::vector<Index>& support() const { return support_; }
  /// The data with the costs of the latest round.
  const TrainingSet& weighted() const { return weighted_; }

  /// The support vectors and the rows drawn; none after the only round with a given beta, and when
  /// larger balls add too few.
  std::vector<Index> next() {
    if (options_.beta && betas_.size() > 1) return {};
    if (!balls_) balls_.emplace(data_, context_, support_, drawable_);
    const std::optional<BallDraw::Drawn> drawn = draw();
    if (!drawn) return {};
    const BallDraw::Drawn& found = *drawn;
    if (options_.weights == DrawWeights::inverse) {
      weighted_.cost = data_.cost;
      for (std::size_t i = 0; i < found.rows.size(); ++i)
        weighted_.cost[usize(found.rows[i])] /= found.probability[i];
    }
    std::vector<Index> rows;
    std::merge(found.rows.begin(), found.rows.end(), support_.begin(), support_.end(),
               std::back_inserter(rows));
    return rows;
  }

  void tell(TrainReport& report) const {
    ReportTable& rounds = report.tables.front();
    rounds.columns.emplace_back("beta");
    for (std::size_t i = 0; i < rounds.rows.size(); ++i) rounds.rows[i].push_back(betas_[i]);
    report_detail(report, "sv_initial") = static_cast<double>(support_.size());
    const auto best = static_cast<Index>(report_detail(report, "best_round"));
    report_detail(report, "beta") = betas_[usize(best - 1)];
    if (balls_)
      report_detail(report, "radius") = report_detail(report, "beta") * balls_->median_distance();
  }

 private:
  double next_beta() const {
    if (options_.beta) return *options_.beta;
    if (betas_.size() == 1) return options_.beta_start.value_or(kBetaStep);
    return betas_.back() + kBetaStep;
  }

  std::optional<BallDraw::Drawn> draw() {
    const bool skips =
        !options_.beta && !options_.beta_start && options_.intensity != Intensity::literal;
    const double wanted = std::max(static_cast<double>(support_.size()),
                                   kLeastGrowth * static_cast<double>(num_drawn_));
    double beta = next_beta();
    BallDraw::Drawn found = balls_->draw(beta);
    const auto too_few = [&] { return skips && static_cast<double>(found.rows.size()) < wanted; };
    for (int left = kMostSkipped; left > 0 && too_few(); --left) {
      beta += kBetaStep;
      found = balls_->draw(beta);
    }
    if (too_few() && num_drawn_ > 0) return {};
    betas_.push_back(beta);
    num_drawn_ = found.rows.size();
    return found;
  }

  const TrainingSet& data_;
  const TrainContext& context_;
  const LocalSamplingOptions& options_;
  std::vector<Index> support_;
  std::vector<Index> drawable_;
  TrainingSet weighted_;
  std::optional<BallDraw> balls_;  // made when a second round is wanted
  std::vector<double> betas_{0};   // of each round: the first has the support vectors alone
  std::size_t num_drawn_ = 0;      // by the latest round
};

void require_density(const TrainingSet& data, const TrainContext& context) {
  if (context.options.local_sampling.intensity == Intensity::density &&
      data.kernel.type == KernelType::precomputed) {
    throw InvalidArgument(
        "intensity is 'density': it needs the number of features, which a precomputed kernel does "
        "not tell; take budget, literal or all");
  }
}

}  // namespace

MethodResult train_local_sampling(const TrainingSet& data, const TrainContext& context) {
  const LocalSamplingOptions& options = context.options.local_sampling;
  require_density(data, context);
  const bool search = !options.beta;
  HoldOut split;
  if (search)
    split = hold_out(data, context);
  else
    split.pool = all_rows(data);
  if (search && split.held.empty())
    return sift(data, context, {}, split.pool, [](const auto&) { return std::vector<Index>(); });

  const Stopwatch watch;
  const std::vector<Index> drawn =
      draw_rows(data, split.pool, delta_or(context, default_delta(data.rows())), kLeastOfAClass,
                sift_random(context, 1));
  auto classes = rows_by_class(data, drawn);
  const Index parts = num_subsamples(classes, options.subsamples);
  TrainReport work;
  std::vector<Index> support = support_of_all(
      data, context, share_out(std::move(classes), parts, sift_random(context, 2)), &work);
  if (support.empty()) support = drawn;
  const double subsamples_seconds = watch.seconds();

  BallRounds rounds(data, context, std::move(support), split.pool_without(drawn));
  // The model has rows from the balls in any case: support vectors of small subsamples alone can
  // have the smallest error on the held-out rows and yet do no better than the largest class.
  MethodResult result = sift(
      rounds.weighted(), context, split.held, rounds.support(),
      [&](const KernelMachine&) { return rounds.next(); }, FirstRound::starts);
  TrainReport& report = result.report;
  report.iterations += work.iterations;
  report.kernel_evaluations += work.kernel_evaluations;
  report.cached_evaluations += work.cached_evaluations;
  report.phase_seconds.insert(report.phase_seconds.begin(), {"subsamples", subsamples_seconds});
  rounds.tell(report);
  report_detail(report, "subsamples") = static_cast<double>(parts);
  report_detail(report, "subsample_rows") = static_cast<double>(drawn.size());
  return result;
}

Method local_sampling_method() {
  return {.info = {.name = "local-sampling",
                   .summary = "rows drawn around the support vectors of small subsamples",
                   .kind = MethodKind::part_of_rows,
                   .options = {"multiclass", "delta", "subsamples", "beta", "beta-start",
                               "intensity", "budget", "draw-weights", "validation-fraction",
                               "patience", "improvement", "max-rounds"}},
          .train = train_local_sampling};
}

}  // namespace tamis
