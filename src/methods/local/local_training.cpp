#include "methods/local/local_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <numeric>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "methods/common/binary_settings.hpp"
#include "methods/common/report_stats.hpp"
#include "methods/common/stopgap.hpp"
#include "methods/local/local_selection.hpp"
#include "methods/local/local_tuning.hpp"
#include "svm/row_order.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

// More have too many pairs for a stopgap that the caller waits for.
constexpr Index kMostStopgapClasses = 100;

// Models below this are not worth asking for.
constexpr Index kNotAskedFor = Index{16} << 20;

// What an SVM of a neighborhood takes until the model is put together, and in the model: of many
// classes there are many pairs.
Index bytes_of(const LocalMachine& machine) {
  constexpr std::size_t kAllocation = 16;  // what the heap adds to each of two pieces
  std::size_t bytes = machine.pairs.capacity() * sizeof(LocalPair);
  for (const LocalPair& pair : machine.pairs) {
    bytes += pair.machine.rows.capacity() * sizeof(Index) +
             pair.machine.coefficients.capacity() * sizeof(double) + 2 * kAllocation;
  }
  return static_cast<Index>(bytes + 2 * bytes / 3);
}

RowVector<double> scaled(RowVector<double> cost, double factor) {
  for (double& c : cost) c *= factor;
  return cost;
}

}  // namespace

LocalTraining::LocalTraining(const TrainingSet& data, const LocalSettings& settings,
                             const TrainContext& context)
    : data_(data),
      settings_(settings),
      context_(context),
      cost_(scaled(data.cost, settings.cost_factor)),
      hashes_(hash_rows(data.features)),
      rows_{data.features, data.codes, data.targets, cost_, hashes_} {
  const Index threads = resolve_threads(context.control.threads);
  const Index work = binary_work_bytes(data.features, settings.k) +
                     (settings.tunes ? tuning_bytes(settings.k) : 0);
  const Index in_use = resident_memory_bytes();
  budget_ = resolve_memory_budget(context.control.memory_bytes);
  bytes_ = in_use - kNotAskedFor;
  const Index needed = in_use + threads * work;
  require_memory(fmt::format("local SVMs of {}", counted(settings.k, "row")), needed, budget_);
  const Index left = (budget_ - needed) / 10 * 9;
  cache_bytes_ = std::min(context.options.cache_bytes.value_or(left), left) / threads;
}

LocalResult LocalTraining::train_on(std::vector<Index> rows, BinarySettings settings,
                                    const RunControl& control, double* gamma) const {
  std::sort(rows.begin(), rows.end());
  if (settings_.percentile >= 0)
    settings.kernel.gamma =
        local_gamma(settings.kernel.type, data_.features, rows, settings_.percentile);
  *gamma = settings.kernel.gamma;
  return isolated([&] { return train_local(rows_, rows, settings, control); });
}

// A neighborhood with costs of its own is a training set of its own.
LocalResult LocalTraining::train_tuned(std::vector<Index> rows, const BinarySettings& settings,
                                       double* gamma) const {
  return isolated([&] {
    const LocalChoice choice = tune_neighborhood(data_.select(rows), settings_.k_prime, context_);
    if (choice == LocalChoice{1, data_.kernel.gamma})
      return train_on(std::move(rows), settings, context_.control, gamma);
    tuned_.fetch_add(1, std::memory_order_relaxed);
    std::sort(rows.begin(), rows.end());
    const TrainingSet own = data_.select(rows);
    const RowVector<double> cost = scaled(own.cost, choice.cost_factor);
    BinarySettings chosen = settings;
    chosen.kernel.gamma = *gamma = choice.gamma;
    std::vector<Index> places(rows.size());
    std::iota(places.begin(), places.end(), 0);
    LocalResult result = train_local({own.features, own.codes, own.targets, cost, {}}, places,
                                     chosen, context_.control);
    for (LocalPair& pair : result.machine.pairs) {
      for (Index& row : pair.machine.rows) row = rows[usize(row)];
    }
    return result;
  });
}

bool LocalTraining::is_trained(std::size_t centre) const {
  const LocalResult& one = results_[centre];
  return (one.machine.only_class >= 0 || !one.machine.pairs.empty()) &&
         one.stats.stop_reason < StopReason::time_limit;
}

// Each task takes the next center, whichever thread it runs on: when time is up, the first ones,
// which are spread over the data, are done.
void LocalTraining::train(const Neighborhoods& parts) {
  const auto before = static_cast<Index>(results_.size());
  results_.resize(usize(parts.size()));
  gammas_.resize(usize(parts.size()));
  // A cancelled run still makes a model.
  ProgressMeter meter(unstopped(context_.control), "train", parts.size() - before);
  std::atomic<Index> next = before;
  parallel_each(parts.size() - before, [&](Index) {
    if (context_.must_stop() != StopReason::converged) return;
    const Index c = next.fetch_add(1, std::memory_order_relaxed);
    const auto own = parts.rows_of(c);
    const BinarySettings settings = binary_settings(data_, context_, cache_bytes_);
    std::vector<Index> rows(own.begin(), own.end());
    double* const gamma = &gammas_[usize(c)];
    results_[usize(c)] = settings_.tunes
                             ? train_tuned(std::move(rows), settings, gamma)
                             : train_on(std::move(rows), settings, context_.control, gamma);
    const Index bytes = bytes_of(results_[usize(c)].machine);
    require_memory("local SVMs of many classes or support vectors",
                   bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes, budget_);
    meter.add(1);
  });
}

LocalMachine LocalTraining::constant() const {
  LocalMachine machine;
  if (!data_.is_regression()) {
    std::vector<Index> rows(usize(data_.rows()));
    std::iota(rows.begin(), rows.end(), 0);
    machine.only_class = majority_class(rows_, rows);
    return machine;
  }
  const double sum = std::inner_product(cost_.begin(), cost_.end(), data_.targets.begin(), 0.0);
  machine.pairs.emplace_back().machine.offset =
      sum / std::accumulate(cost_.begin(), cost_.end(), 0.0);
  return machine;
}

void LocalTraining::add_stopgap(StopReason stop, TrainedLocally* result,
                                TrainReport* report) const {
  result->stopgap = static_cast<std::int32_t>(result->machines.size());
  LocalResult trained;
  double gamma = data_.kernel.gamma;
  const bool has_many_classes = !data_.is_regression() && data_.num_classes > kMostStopgapClasses;
  if (has_many_classes || (stop == StopReason::interrupted && result->machines.empty())) {
    trained.machine = constant();
  } else {
    const TrainOptions options = stopgap_options(context_.options);
    const TrainContext unlimited{options, context_.control, {}};
    result->stopgap_rows = stopgap_rows(data_, options);
    trained = train_on(result->stopgap_rows, binary_settings(data_, unlimited, cache_bytes_),
                       unstopped(context_.control), &gamma);
  }
  trained.stats.stop_reason = stop;
  add_stats(trained.stats, report);
  report->machines += static_cast<Index>(trained.machine.pairs.size());
  result->gammas.push_back(gamma);
  result->machines.push_back(std::move(trained.machine));
}

TrainedLocally LocalTraining::finish(const Neighborhoods& parts, TrainReport* report) {
  TrainedLocally result;
  report->machines = 0;
  Index constants = 0;
  bool is_complete = parts.size() > 0 && static_cast<Index>(results_.size()) == parts.size() &&
                     std::find(parts.centre_of_row.begin(), parts.centre_of_row.end(), -1) ==
                         parts.centre_of_row.end();
  for (std::size_t c = 0; c < results_.size(); ++c) {
    LocalResult& trained = results_[c];
    const bool counts = is_trained(c);
    is_complete = is_complete && counts;
    result.machine_of_centre.push_back(counts ? static_cast<std::int32_t>(result.machines.size())
                                              : -1);
    if (!counts) continue;
    report->machines += static_cast<Index>(trained.machine.pairs.size());
    constants += trained.machine.only_class >= 0 ? 1 : 0;
    add_stats(trained.stats, report);
    result.machines.push_back(std::move(trained.machine));
    result.gammas.push_back(gammas_[c]);
  }
  const auto trained = static_cast<Index>(result.machines.size());
  if (!is_complete) {
    const StopReason stop = context_.must_stop();
    add_stopgap(stop == StopReason::converged ? StopReason::time_limit : stop, &result, report);
    std::replace(result.machine_of_centre.begin(), result.machine_of_centre.end(), -1,
                 result.stopgap);
    result.machine_of_centre.resize(usize(parts.size()), result.stopgap);
    report->details.emplace_back("centres_trained", static_cast<double>(trained));
  }
  if (settings_.percentile < 0 && !settings_.tunes) result.gammas.clear();
  report->details.emplace_back("centres", static_cast<double>(parts.size()));
  report->details.emplace_back("k", static_cast<double>(settings_.k));
  report->details.emplace_back("k_prime", static_cast<double>(settings_.k_prime));
  if (settings_.tunes)
    report->details.emplace_back("centres_tuned", static_cast<double>(tuned_.load()));
  report->details.emplace_back(
      "one_class_fraction",
      static_cast<double>(constants) / static_cast<double>(std::max<Index>(1, trained)));
  return result;
}

}  // namespace tamis
