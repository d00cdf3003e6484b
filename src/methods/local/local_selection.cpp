#include "methods/local/local_selection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "base/random.hpp"
#include "kernels/kernel_blocks.hpp"
#include "model/local_values.hpp"
#include "svm/train_local.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr std::uint64_t kSelectionStream = 0xFA11;

// One neighbourhood with some parameters.
struct Trial {
  Index neighbourhood = 0;
  double cost_factor = 1;
  double percentile = -1;
};

Kernel kernel_of(const Trial& trial, const TrainingSet& data,
                 std::span<const Index> neighbourhood) {
  Kernel kernel = data.kernel;
  if (trial.percentile >= 0)
    kernel.gamma = local_gamma(kernel.type, data.features, neighbourhood, trial.percentile);
  return kernel;
}

// Errors of predicting each of the innermost rows by a machine that has not seen it.
Index internal_errors(const TrainingSet& data, std::span<const Index> neighbourhood, Index internal,
                      Index asked_folds, const Kernel& kernel, double cost_factor,
                      const TrainContext& context) {
  const Index folds = std::min(asked_folds, internal);
  RowVector<double> cost = data.cost;
  for (const Index row : neighbourhood) cost[usize(row)] *= cost_factor;
  const LocalRows rows{data.features, data.codes, data.targets, cost, {}};
  BinarySettings settings;
  settings.kernel = kernel;
  settings.loss = context.options.loss;
  settings.limits.eps = context.options.eps;
  // Folds are runs of rows as the data has them: where rows that follow one another are much alike
  // - moments of one measurement, say - a machine must not have seen the neighbour of its question.
  std::vector<Index> innermost(neighbourhood.begin(), neighbourhood.begin() + internal);
  std::sort(innermost.begin(), innermost.end());
  Index errors = 0;
  for (Index fold = 0; fold < folds; ++fold) {
    const std::vector<Index> asked(innermost.begin() + fold * internal / folds,
                                   innermost.begin() + (fold + 1) * internal / folds);
    std::vector<Index> kept(neighbourhood.begin() + internal, neighbourhood.end());
    std::set_difference(innermost.begin(), innermost.end(), asked.begin(), asked.end(),
                        std::back_inserter(kept));
    std::sort(kept.begin(), kept.end());
    const LocalMachine machine = train_local(rows, kept, settings, context.control).machine;
    std::vector<std::int32_t> decided(asked.size());
    local_classes(view_of(machine), settings.kernel, data.features, data.num_classes, data.features,
                  asked, decided);
    for (std::size_t a = 0; a < asked.size(); ++a)
      errors += decided[a] != data.codes[usize(asked[a])] ? 1 : 0;
  }
  return errors;
}

// A choice of parameters and the wrong answers it gave in each neighbourhood.
struct Candidate {
  LocalParameters parameters;
  std::vector<Index> errors;
  double mean = std::numeric_limits<double>::infinity();
};

// Whether `other` gave more wrong answers than `best` by more than chance explains: two standard
// errors of the mean difference. Neighborhoods are what varies; rows of one are much alike.
bool clearly_worse(const Candidate& other, const Candidate& best) {
  const auto count = static_cast<double>(best.errors.size());
  double squares = 0;
  for (std::size_t c = 0; c < best.errors.size(); ++c) {
    const auto more = static_cast<double>(other.errors[c] - best.errors[c]);
    squares += (more - (other.mean - best.mean)) * (more - (other.mean - best.mean));
  }
  return (other.mean - best.mean) * count > 2 * std::sqrt(squares);
}

// Smaller cost, then wider kernel.
bool is_smoother(const LocalParameters& a, const LocalParameters& b) {
  return a.cost_factor < b.cost_factor ||
         (a.cost_factor == b.cost_factor && a.percentile > b.percentile);
}

// Definition 5: the fewest errors; of equals the smoothest.
const Candidate& lowest_error(std::span<const Candidate> candidates) {
  return *std::min_element(
      candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
        return a.mean < b.mean || (a.mean == b.mean && is_smoother(a.parameters, b.parameters));
      });
}

// Of the candidates that are not clearly worse than the best one the smoothest.
const Candidate& smoothest_good(std::span<const Candidate> candidates) {
  const Candidate& best = lowest_error(candidates);
  const Candidate* chosen = &best;
  for (const Candidate& one : candidates) {
    if (is_smoother(one.parameters, chosen->parameters) && !clearly_worse(one, best)) chosen = &one;
  }
  return *chosen;
}

const Candidate& choose(std::span<const Candidate> candidates, SelectionRule rule) {
  return rule == SelectionRule::smoothest ? smoothest_good(candidates) : lowest_error(candidates);
}

// Whether what a larger k gave is worth its time.
bool is_gain(const Candidate& larger, const Candidate& best, SelectionRule rule) {
  return rule == SelectionRule::smoothest ? clearly_worse(best, larger) : larger.mean < best.mean;
}

// Rows of each neighborhood that are asked for: half of the smallest k.
Index internal_rows(const TrainingSet& data, const LocalOptions& options) {
  const double smallest = *std::min_element(options.k_grid.begin(), options.k_grid.end());
  return std::max<Index>(1, std::min(static_cast<Index>(smallest), data.rows()) / 2);
}

struct Tried {
  std::vector<Candidate> candidates;  // those tried on every neighborhood
  bool is_cut_short = false;          // there are others
};

std::vector<Trial> trials_of(const TrainingSet& data, Index centres, const TrainContext& context) {
  const LocalOptions& options = context.options.local;
  std::vector<double> percentiles{-1};
  if (data.kernel.type == KernelType::rbf || data.kernel.type == KernelType::laplacian)
    percentiles = options.percentiles;
  std::vector<Trial> trials;
  for (const double cost : options.cost_grid) {
    for (const double percentile : percentiles) {
      for (Index c = 0; c < centres; ++c)
        trials.push_back({c, cost / context.options.cost_or_default(), percentile});
    }
  }
  return trials;
}

// Every cost and width on the neighborhoods of k rows around the chosen rows.
Tried try_parameters(const TrainingSet& data, const NeighborIndex& index,
                     std::span<const Index> chosen, Index k, const TrainContext& context) {
  constexpr Index kNotTried = -1;
  const LocalOptions& options = context.options.local;
  const auto centres = static_cast<Index>(chosen.size());
  const std::vector<Trial> trials = trials_of(data, centres, context);
  std::vector<Index> errors(trials.size(), kNotTried);
  try {
    const Neighbors neighbors = index.nearest(data.features, chosen, k, quiet(context.control));
    parallel_each(static_cast<Index>(trials.size()), [&](Index t) {
      if (context.must_stop() != StopReason::converged) return;
      const Trial& trial = trials[usize(t)];
      const auto rows = neighbors.rows_of(trial.neighbourhood);
      const Index found =
          internal_errors(data, rows, internal_rows(data, options), options.selection_folds,
                          kernel_of(trial, data, rows), trial.cost_factor, context);
      // Machines that were cut short say nothing of their parameters.
      if (context.must_stop() == StopReason::converged) errors[usize(t)] = found;
    });
  } catch (const Cancelled&) {
    return {{}, true};
  }
  Tried tried;
  for (std::size_t t = 0; t < trials.size(); t += usize(centres)) {
    const auto first = errors.begin() + static_cast<std::ptrdiff_t>(t);
    if (std::find(first, first + centres, kNotTried) != first + centres) {
      tried.is_cut_short = true;
      continue;
    }
    Candidate& one = tried.candidates.emplace_back();
    one.parameters = {k, trials[t].cost_factor, trials[t].percentile};
    one.errors.assign(first, first + centres);
    one.mean = static_cast<double>(std::accumulate(first, first + centres, Index{0})) /
               static_cast<double>(centres);
  }
  return tried;
}

// Stopped before anything was tried: the smallest k, and C and kernel as the options have them.
LocalParameters untried_parameters(const TrainingSet& data, const TrainContext& context) {
  const std::vector<double>& grid = context.options.local.k_grid;
  const auto k = static_cast<Index>(*std::min_element(grid.begin(), grid.end()));
  return {std::min(k, data.rows()), 1, -1};
}

}  // namespace

double local_gamma(KernelType kernel, const Matrix& features, std::span<const Index> rows,
                   double percentile) {
  // Some rows against all: a percentile needs no more.
  constexpr std::size_t kSample = 64;
  const Matrix own = features.select(rows);
  const KernelBlocks blocks = KernelBlocks::unfinished(kernel, own);
  const Index stride = round_up(own.rows(), kPanel);
  std::vector<float> block(usize(stride));
  std::vector<float> distances;
  const std::size_t step = std::max<std::size_t>(1, rows.size() / kSample);
  for (std::size_t r = 0; r < rows.size(); r += step) {
    blocks.evaluate(own, std::vector<Index>{static_cast<Index>(r)}, 0, own.rows(), block.data(),
                    stride);
    std::copy_if(block.begin(), block.begin() + own.rows(), std::back_inserter(distances),
                 [](float d) { return d > 0; });
  }
  if (distances.empty()) return 1;
  const auto at =
      std::min(distances.size() - 1,
               static_cast<std::size_t>(percentile / 100 * static_cast<double>(distances.size())));
  std::nth_element(distances.begin(), distances.begin() + static_cast<std::ptrdiff_t>(at),
                   distances.end());
  return 1 / static_cast<double>(distances[at]);
}

std::vector<std::vector<double>> internal_cross_validation(const TrainingSet& data,
                                                           std::span<const LocalPoint> points,
                                                           Index centres, Index folds,
                                                           const TrainContext& context,
                                                           const std::function<void()>& on_centre) {
  if (data.is_regression())
    throw InvalidArgument("k'-internal cross-validation is for classes, not for a regression");
  Random random(context.options.seed, kSelectionStream);
  const Index count = std::min(centres, data.rows());
  const std::vector<Index> chosen = sample_without_replacement(data.rows(), count, random);
  const auto size_of = [&](const LocalPoint& point) { return std::min(point.k, data.rows()); };
  Index smallest = data.rows();
  Index largest = 1;
  for (const LocalPoint& point : points) {
    smallest = std::min(smallest, size_of(point));
    largest = std::max(largest, size_of(point));
  }
  const Index internal = std::max<Index>(1, smallest / 2);
  const RunControl silent = quiet(context.control);
  const auto index = make_neighbor_index(data.features, neighbor_metric(data.kernel),
                                         Structure::automatic, silent, largest);
  const Neighbors neighbors = index->nearest(data.features, chosen, largest, silent);
  std::vector<std::vector<double>> shares(points.size(),
                                          std::vector<double>(usize(count), std::nan("")));
  parallel_each(static_cast<Index>(points.size()) * count, [&](Index task) {
    if (context.must_stop() != StopReason::converged) return;
    const std::size_t p = usize(task / count);
    const auto rows = neighbors.rows_of(task % count).first(usize(size_of(points[p])));
    Kernel kernel = data.kernel;
    kernel.gamma = points[p].gamma;
    const Index errors =
        internal_errors(data, rows, internal, folds, kernel, points[p].cost_factor, context);
    shares[p][usize(task % count)] = static_cast<double>(errors) / static_cast<double>(internal);
    on_centre();
  });
  return shares;
}

LocalParameters select_local_parameters(const TrainingSet& data, const NeighborIndex& index,
                                        const TrainContext& context, TrainReport* report) {
  const LocalOptions& options = context.options.local;
  Random random(context.options.seed, kSelectionStream);
  const Index centres = std::min<Index>(options.selection_centres, data.rows());
  const std::vector<Index> chosen = sample_without_replacement(data.rows(), centres, random);

  Candidate best;
  bool is_cut_short = false;
  ReportTable table{"selection", {"k", "cost", "percentile", "error"}, {}};
  for (const double wanted : options.k_grid) {
    const Index k = std::min(static_cast<Index>(wanted), data.rows());
    if (k == best.parameters.k) break;  // all rows were tried already
    const Tried tried = try_parameters(data, index, chosen, k, context);
    is_cut_short = tried.is_cut_short;
    if (tried.candidates.empty() || (tried.is_cut_short && best.parameters.k > 0)) break;
    for (const Candidate& one : tried.candidates) {
      const LocalParameters& parameters = one.parameters;
      table.rows.push_back(
          {static_cast<double>(k), parameters.cost_factor * context.options.cost_or_default(),
           parameters.percentile, one.mean / static_cast<double>(internal_rows(data, options))});
    }
    const Candidate& candidate = choose(tried.candidates, options.selection_rule);
    if (best.parameters.k > 0 && !is_gain(candidate, best, options.selection_rule)) break;
    best = candidate;
    if (tried.is_cut_short) break;
  }
  if (best.parameters.k == 0) best.parameters = untried_parameters(data, context);
  best.parameters.cut_short = is_cut_short;
  report->tables.push_back(std::move(table));
  report->details.emplace_back("selected_k", static_cast<double>(best.parameters.k));
  report->details.emplace_back("selected_cost",
                               best.parameters.cost_factor * context.options.cost_or_default());
  if (best.parameters.percentile >= 0)
    report->details.emplace_back("selected_percentile", best.parameters.percentile);
  return best.parameters;
}

}  // namespace tamis
