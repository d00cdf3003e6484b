#include "methods/ensemble/binary_ensemble.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "calibration/calibration_fit.hpp"
#include "methods/common/kernel_machine.hpp"

namespace tamis {
namespace {

constexpr std::uint64_t kMemberStream = 0x5AB5E7;
constexpr std::uint64_t kScoreRows = 1;
constexpr std::uint64_t kSearch = 2;
constexpr std::uint64_t kMembers = 3;
constexpr Index kAutomaticTrials = 64;
constexpr Index kAtOnce = 16;        // candidates trained before any of them is chosen
constexpr double kSearchWidth = 16;  // of the search's ranges, on either side of the members'
constexpr double kRoughEps = 0.1;    // of the weights while the ensemble grows, as LIBLINEAR's
constexpr double kFinalEps = 0.05;
constexpr std::int64_t kMostEpochs = 1000;

RowVector<std::int32_t> classes_of(const BinaryTask& task) {
  RowVector<std::int32_t> classes(task.rows.get_allocator());
  classes.reserve(task.targets.size());
  for (const double target : task.targets) classes.push_back(target > 0 ? 0 : 1);
  return classes;
}

template <typename T>
std::vector<T> select(std::span<const T> values, std::span<const Index> positions) {
  std::vector<T> chosen;
  chosen.reserve(positions.size());
  for (const Index p : positions) chosen.push_back(values[usize(p)]);
  return chosen;
}

RowVector<double> row_weights(const TrainingSet& data, double cost, std::span<const Index> rows,
                              const RowStore& store = {}) {
  RowVector<double> weights(store);
  weights.reserve(rows.size());
  for (const Index row : rows) weights.push_back(data.cost[usize(row)] / cost);
  return weights;
}

}  // namespace

BinaryEnsembleTrainer::BinaryEnsembleTrainer(const AllRows& rows, CandidateJobs& jobs,
                                             const BinaryTask& task, const TrainContext& context)
    : data_(rows.facts()),
      jobs_(jobs),
      task_(task),
      context_(context),
      options_(context.options.ensemble),
      random_(Random(context.options.seed, kMemberStream)
                  .split(static_cast<std::uint64_t>(task.index))),
      class_of_row_(classes_of(task)),
      score_rows_(draw_score_rows(options_.score_rows, static_cast<Index>(task.rows.size()),
                                  random_.split(kScoreRows))),
      score_targets_(select(std::span(task.targets), std::span(score_rows_))),
      score_weights_(on_heap(row_weights(data_, context.options.cost_or_default(),
                                         select(std::span(task.rows), std::span(score_rows_))))),
      drawer_(class_of_row_, 2,
              resolve_subset_rows(options_.subset_rows, static_cast<Index>(task.rows.size())),
              data_.kernel, random_.split(kMembers)),
      weights_(options_.combine, options_.combine_cost, score_targets_, score_weights_,
               context.options.seed) {
  record_.score_rows = static_cast<Index>(score_rows_.size());
  record_.subset_rows = drawer_.size();
  set_up_drawer();
  jobs_.set_score_rows(task.index, select(std::span(task.rows), std::span(score_rows_)));
}

BinaryEnsembleTrainer::~BinaryEnsembleTrainer() { jobs_.forget_score_rows(task_.index); }

void BinaryEnsembleTrainer::set_up_drawer() {
  if (options_.mixed_kernels) drawer_.mix_kernels();
  if (options_.subset_sampling == SubsetSampling::uniform) return;
  if (draws_by_weight()) {
    drawer_.weigh_rows(row_weights(data_, context_.options.cost_or_default(), task_.rows,
                                   task_.rows.get_allocator().store()));
    return;
  }
  std::vector<double> rows_of_class(2, 0.0);
  for (const std::int32_t c : class_of_row_) ++rows_of_class[usize(c)];
  RowVector<double> weights(task_.rows.get_allocator());
  weights.reserve(class_of_row_.size());
  for (const std::int32_t c : class_of_row_) weights.push_back(1 / rows_of_class[usize(c)]);
  drawer_.weigh_rows(std::move(weights));
}

Index BinaryEnsembleTrainer::search_trials() const {
  const bool neither_is_set = !context_.options.cost && !context_.options.gamma;
  return options_.search_trials.value_or(neither_is_set ? kAutomaticTrials : 0);
}

void BinaryEnsembleTrainer::run(ProgressMeter& meter) {
  const ParameterRanges ranges = find_ranges();
  const Index each = options_.candidates;
  const Index rounds = std::max<Index>(1, kAtOnce / (each * options_.parameter_draws));
  for (Index done = 0; done < options_.members;) {
    const Index count = std::min(rounds, options_.members - done);
    std::vector<Candidate> candidates =
        train_candidates(drawer_, done * each, count * each, ranges, options_.parameter_draws);
    score(candidates);
    candidates = best_of_each_subset(std::move(candidates));
    for (Index r = 0; r < count; ++r) {
      if (!take_best(std::span(candidates).subspan(usize(r * each), usize(each)))) break;
      meter.add(1);
    }
    done += count;
    const StopReason stop = jobs_.must_stop();
    if (stop == StopReason::converged) continue;
    if (static_cast<Index>(members_.size()) < options_.members)
      record_.work.stop_reason = std::max(record_.work.stop_reason, stop);
    break;
  }
  combine(kFinalEps);
}

// The ranges of the options, around the best of the machines tried first.
ParameterRanges BinaryEnsembleTrainer::find_ranges() {
  const ParameterRanges ranges(options_);
  const Index trials = search_trials();
  if (trials == 0) return ranges;
  const MemberDrawer drawer(class_of_row_, 2, drawer_.size(), data_.kernel, random_.split(kSearch));
  double least = std::numeric_limits<double>::infinity();
  ParameterRanges best = ranges;
  for (Index first = 0; first < trials; first += kAtOnce) {
    const Index count = std::min(kAtOnce, trials - first);
    std::vector<Candidate> tried =
        train_candidates(drawer, first, count, ranges.widened(kSearchWidth), 1);
    score(tried);
    for (const Candidate& candidate : tried) {
      if (!candidate.finished) continue;
      const double error = error_on_unseen(candidate.said);
      const double gamma_factor = candidate.draw.kernel.gamma / data_.kernel.gamma;
      if (is_listed()) {
        record_.search.push_back({context_.options.cost_or_default() * candidate.draw.cost_factor,
                                  candidate.draw.kernel.gamma, error});
      }
      if (error >= least) continue;
      least = error;
      best =
          ranges.moved(candidate.draw.cost_factor / std::sqrt(ranges.cost_low * ranges.cost_high),
                       gamma_factor / std::sqrt(ranges.gamma_low * ranges.gamma_high));
    }
    if (jobs_.must_stop() != StopReason::converged) break;
  }
  return best;
}

std::vector<BinaryEnsembleTrainer::Candidate> BinaryEnsembleTrainer::train_candidates(
    const MemberDrawer& drawer, Index first, Index count, const ParameterRanges& ranges,
    Index each) {
  const Stopwatch watch;
  std::vector<Candidate> candidates(usize(count * each));
  std::vector<CandidateJob> work(candidates.size());
  parallel_each(count * each, [&](Index k) {
    Candidate& candidate = candidates[usize(k)];
    candidate.draw = drawer.draw(first + k / each, ranges, k % each);
    work[usize(k)] = job_of(candidate.draw);
  });
  // Somebody must decide, even when there is no time.
  work[0].is_needed = members_.empty();
  std::vector<TrainedCandidate> trained = jobs_.run(task_.index, work);
  double train_seconds = 0;
  double score_seconds = 0;
  for (std::size_t k = 0; k < candidates.size(); ++k) {
    TrainedCandidate& one = candidates[k].trained = std::move(trained[k]);
    for (Index& row : one.machine.rows) row = work[k].rows[usize(row)];
    if (one.is_trained) {
      record_.work.add(one.stats);
      record_.iterations.push_back(one.stats.iterations);
    }
    train_seconds += one.train_seconds;
    score_seconds += one.score_seconds;
  }
  const double share = score_seconds / std::max(1e-9, train_seconds + score_seconds);
  record_.member_seconds += (1 - share) * watch.seconds();
  record_.scoring_seconds += share * watch.seconds();
  return candidates;
}

// Of the SVMs on one subset, the one with the fewest errors. Of those that were not scored, the
// first.
std::vector<BinaryEnsembleTrainer::Candidate> BinaryEnsembleTrainer::best_of_each_subset(
    std::vector<Candidate> candidates) const {
  const std::size_t each = usize(options_.parameter_draws);
  if (each == 1) return candidates;
  std::vector<Candidate> kept;
  for (std::size_t first = 0; first < candidates.size(); first += each) {
    std::size_t best = first;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t k = first; k < first + each; ++k) {
      if (!candidates[k].finished) continue;
      const double error = error_on_unseen(candidates[k].said);
      if (error >= least) continue;
      least = error;
      best = k;
    }
    kept.push_back(std::move(candidates[best]));
  }
  return kept;
}

CandidateJob BinaryEnsembleTrainer::job_of(const MemberDraw& draw) const {
  CandidateJob job;
  job.rows = select(std::span(task_.rows), std::span<const Index>(draw.positions));
  job.targets = select(std::span(task_.targets), std::span<const Index>(draw.positions));
  job.kernel = draw.kernel;
  job.cost.reserve(job.rows.size());
  for (const Index row : job.rows) {
    const double of_row =
        draws_by_weight() ? context_.options.cost_or_default() : data_.cost[usize(row)];
    job.cost.push_back(of_row * draw.cost_factor);
  }
  return job;
}

void BinaryEnsembleTrainer::score(std::span<Candidate> candidates) {
  const Stopwatch watch;
  parallel_each(static_cast<Index>(candidates.size()), [&](Index k) {
    Candidate& candidate = candidates[usize(k)];
    if (!candidate.trained.values.empty()) score_one(candidate);
  });
  for (const Candidate& candidate : candidates) {
    if (candidate.finished) {
      record_.work.kernel_evaluations +=
          record_.score_rows * std::ssize(candidate.trained.machine.rows);
    }
  }
  record_.scoring_seconds += watch.seconds();
}

void BinaryEnsembleTrainer::score_one(Candidate& candidate) const {
  const std::vector<double> values = std::move(candidate.trained.values);
  for (const Index position : candidate.draw.positions) {
    const auto found = std::lower_bound(score_rows_.begin(), score_rows_.end(), position);
    if (found != score_rows_.end() && *found == position)
      candidate.said.seen.push_back(found - score_rows_.begin());
  }
  if (options_.member_value == MemberValue::probability)
    fit_probability(candidate, values);
  else
    divide_by_scale(candidate, values);
  candidate.finished = true;
}

void BinaryEnsembleTrainer::divide_by_scale(Candidate& candidate,
                                            std::span<const double> values) const {
  const double squares = std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
  const double scale = std::sqrt(squares / static_cast<double>(values.size()));
  if (std::isfinite(scale) && scale > 0) candidate.scale = scale;
  candidate.said.values.reserve(values.size());
  for (const double value : values)
    candidate.said.values.push_back(static_cast<float>(value / candidate.scale));
}

// By the rows it was not trained on; by all when there are no others.
void BinaryEnsembleTrainer::fit_probability(Candidate& candidate,
                                            std::span<const double> values) const {
  const std::vector<Index>& seen = candidate.said.seen;
  const bool skip_seen = seen.size() < values.size();
  std::vector<ScoredRow> rows;
  rows.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (skip_seen && std::binary_search(seen.begin(), seen.end(), static_cast<Index>(i))) continue;
    rows.push_back({values[i], score_targets_[i] > 0, score_weights_[i]});
  }
  const Calibrator fitted = fit_sigmoid(rows);
  candidate.sigmoid = {fitted.slope, fitted.intercept};
  candidate.said.values.reserve(values.size());
  for (const double value : values)
    candidate.said.values.push_back(static_cast<float>(candidate.sigmoid(value)));
}

double BinaryEnsembleTrainer::error_on_unseen(const MemberValues& said) const {
  double wrong = 0;
  double whole = 0;
  std::size_t next_seen = 0;
  for (std::size_t i = 0; i < said.values.size(); ++i) {
    if (next_seen < said.seen.size() && said.seen[next_seen] == static_cast<Index>(i)) {
      ++next_seen;
      continue;
    }
    whole += score_weights_[i];
    if ((said.values[i] > 0) != (score_targets_[i] > 0)) wrong += score_weights_[i];
  }
  return whole > 0 ? wrong / whole : 1;
}

// False when there is none to take.
bool BinaryEnsembleTrainer::take_best(std::span<Candidate> candidates) {
  const Stopwatch watch;
  std::vector<MemberValues> said;
  std::vector<std::size_t> which;
  for (std::size_t k = 0; k < candidates.size(); ++k) {
    if (!candidates[k].finished) continue;
    said.push_back(std::move(candidates[k].said));
    which.push_back(k);
  }
  if (said.empty()) {
    // Stopped before anything was scored: the first machine decides alone.
    if (members_.empty() && candidates[0].trained.is_trained) keep(candidates[0]);
    return false;
  }
  const std::size_t best = weights_.choose(said);
  Candidate& candidate = candidates[which[best]];
  weights_.add(std::move(said[best]));
  keep(candidate);
  record_.scoring_seconds += watch.seconds();
  if (weights_.wants_solving()) combine(kRoughEps);
  if (!is_listed()) return true;
  record_.members.push_back({static_cast<double>(members_.size()),
                             context_.options.cost_or_default() * candidate.draw.cost_factor,
                             candidate.draw.kernel.gamma,
                             static_cast<double>(candidate.support_vectors), weights_.accuracy(),
                             weights_.training_accuracy()});
  return true;
}

void BinaryEnsembleTrainer::keep(Candidate& candidate) {
  candidate.support_vectors = std::ssize(candidate.trained.machine.rows);
  members_.push_back(
      {std::move(candidate.trained.machine), candidate.draw.kernel, 1, candidate.sigmoid});
  scales_.push_back(candidate.scale);
}

void BinaryEnsembleTrainer::combine(double eps) {
  const Stopwatch watch;
  qp::Limits limits{eps, kMostEpochs, 0};
  if (context_.options.max_seconds > 0) limits.max_seconds = context_.seconds_left();
  const StopReason stop = weights_.solve(limits, context_.control);
  // Weights after the last epoch that is allowed are good enough; those that were cut short are
  // not.
  if (stop >= StopReason::time_limit)
    record_.work.stop_reason = std::max(record_.work.stop_reason, stop);
  record_.combining_epochs = weights_.epochs();
  record_.combining_seconds += watch.seconds();
}

std::vector<EnsembleMember> BinaryEnsembleTrainer::members() const {
  std::vector<double> weights = weights_.member_weights();
  weights.resize(members_.size(), 1);  // one that was never scored
  std::vector<EnsembleMember> kept;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    if (weights[m] == 0) continue;
    kept.push_back(members_[m]);
    kept.back().weight = weights[m] / scales_[m];
  }
  return kept;
}

}  // namespace tamis
