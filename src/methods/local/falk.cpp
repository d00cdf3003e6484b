#include "methods/local/falk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "methods/common/binary_settings.hpp"
#include "methods/common/report_stats.hpp"
#include "methods/local/local_selection.hpp"
#include "methods/local/neighborhoods.hpp"
#include "model/local_models.hpp"
#include "svm/row_order.hpp"
#include "svm/train_local.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

enum class Anchors { rows, centres };

struct Settings {
  Index k = 0;
  Index k_prime = 0;
  double cost_factor = 1;
  double percentile = -1;  // -1: all machines have the kernel's own width
};

// Seconds since it was last asked, by name.
class Phases {
 public:
  explicit Phases(TrainReport* report) : report_(report) {}
  void end(std::string name) {
    report_->phase_seconds.emplace_back(std::move(name), watch_.restart());
  }

 private:
  TrainReport* report_;
  Stopwatch watch_;
};

struct TrainedLocally {
  std::vector<LocalMachine> machines;
  std::vector<double> gammas;  // empty: all the kernel's
};

// Each neighbourhood's machine, in parallel. When time is up, what is left becomes constant.
TrainedLocally train_neighbourhoods(const TrainingSet& data, const Neighborhoods& parts,
                                    const Settings& settings, const TrainContext& context,
                                    TrainReport* report) {
  std::vector<double> cost = data.cost;
  for (double& c : cost) c *= settings.cost_factor;
  const std::vector<std::uint64_t> hashes = hash_rows(data.features);
  const LocalRows rows{data.features, data.codes, data.targets, cost, hashes};
  const Index threads = resolve_threads(context.control.threads);
  const Index work = binary_work_bytes(data.features, parts.k);
  const Index budget = resolve_memory_budget(context.control.memory_bytes);
  require_memory(fmt::format("local machines of {}", counted(parts.k, "row")),
                 resident_memory_bytes() + threads * work, budget);
  const Index cache_bytes = (budget - resident_memory_bytes() - threads * work) / 10 * 9 / threads;

  TrainedLocally result;
  std::vector<LocalResult> results(usize(parts.size()));
  if (settings.percentile >= 0) result.gammas.resize(usize(parts.size()));
  // A cancelled run still makes a model.
  ProgressMeter meter(unstopped(context.control), "train", parts.size());
  parallel_each(parts.size(), [&](Index c) {
    std::vector<Index> own(parts.rows_of(c).begin(), parts.rows_of(c).end());
    std::sort(own.begin(), own.end());
    BinarySettings here = binary_settings(data, context, cache_bytes);
    if (settings.percentile >= 0) {
      here.kernel.gamma = local_gamma(data.features, own, settings.percentile);
      result.gammas[usize(c)] = here.kernel.gamma;
    }
    LocalResult& trained = results[usize(c)];
    const StopReason stop = context.must_stop();
    if (stop == StopReason::converged || data.is_regression()) {
      isolated([&] { trained = train_local(rows, own, here, context.control); });
    } else {
      trained.machine.only_class = majority_class(rows, own);
      trained.stats.stop_reason = stop;
    }
    meter.add(1);
  });
  report->machines = 0;
  Index constants = 0;
  for (LocalResult& trained : results) {
    report->machines += static_cast<Index>(trained.machine.pairs.size());
    constants += trained.machine.only_class >= 0 ? 1 : 0;
    add_stats(trained.stats, report);
    result.machines.push_back(std::move(trained.machine));
  }
  report->details.emplace_back("centres", static_cast<double>(parts.size()));
  report->details.emplace_back("k", static_cast<double>(parts.k));
  report->details.emplace_back("k_prime", static_cast<double>(settings.k_prime));
  report->details.emplace_back("one_class_fraction",
                               static_cast<double>(constants) / static_cast<double>(parts.size()));
  return result;
}

// Keeps only the rows that centres or terms name, and numbers them anew.
void drop_unused_rows(const Matrix& features, std::vector<Index>& centres,
                      std::vector<LocalMachine>& machines, LocalParts* parts) {
  std::vector<Index> new_number(usize(features.rows()), -1);
  for (const Index centre : centres) new_number[usize(centre)] = 0;
  for (const LocalMachine& machine : machines) {
    for (const LocalPair& pair : machine.pairs) {
      for (const Index row : pair.machine.rows) new_number[usize(row)] = 0;
    }
  }
  std::vector<Index> kept;
  for (Index row = 0; row < features.rows(); ++row) {
    if (new_number[usize(row)] < 0) continue;
    new_number[usize(row)] = static_cast<Index>(kept.size());
    kept.push_back(row);
  }
  for (Index& centre : centres) centre = new_number[usize(centre)];
  for (LocalMachine& machine : machines) {
    for (LocalPair& pair : machine.pairs) {
      for (Index& row : pair.machine.rows) row = new_number[usize(row)];
    }
  }
  parts->rows = features.select(kept);
}

std::shared_ptr<const Machine> make_machine(const TrainingSet& data, Neighborhoods neighbourhoods,
                                            TrainedLocally trained, Anchors anchors) {
  LocalParts parts;
  parts.kernel = data.kernel;
  parts.num_classes = data.num_classes;
  if (anchors == Anchors::rows) {
    parts.rows = data.features;
    parts.machine_of_anchor = std::move(neighbourhoods.centre_of_row);
  } else {
    drop_unused_rows(data.features, neighbourhoods.centres, trained.machines, &parts);
    parts.anchors = std::move(neighbourhoods.centres);
  }
  parts.gammas = std::move(trained.gammas);
  LocalModelsBuilder builder;
  for (const LocalMachine& machine : trained.machines) builder.add(machine);
  builder.finish(&parts);
  return std::make_shared<const LocalModels>(std::move(parts));
}

// Rows so many that one machine a neighbourhood cannot be trained yet: the whole set as one.
Neighborhoods whole_set(Index rows) {
  Neighborhoods all;
  all.k = rows;
  all.centres = {0};
  all.rows.resize(usize(rows));
  std::iota(all.rows.begin(), all.rows.end(), 0);
  all.centre_of_row.assign(usize(rows), 0);
  return all;
}

// k': what was asked for, or half of k. A neighbourhood of all rows covers them all.
Index cover_size(Index k, std::optional<Index> asked, Index rows) {
  if (k == rows) return k;
  return asked ? std::min(*asked, k) : std::max<Index>(1, k / 2);
}

MethodResult train_with(const TrainingSet& data, const TrainContext& context, Anchors anchors,
                        bool select) {
  if (data.kernel.type == KernelType::precomputed)
    throw InvalidArgument("local machines need features: a precomputed kernel has none");
  MethodResult result;
  Phases phases(&result.report);
  const LocalOptions& options = context.options.local;
  Settings settings;
  settings.k = std::min(options.k.value_or(default_neighbours(data.rows())), data.rows());
  Neighborhoods parts;
  try {
    const auto index =
        make_neighbor_index(data.features, Metric{data.kernel}, parse_structure(options.index),
                            quiet(context.control), settings.k);
    phases.end("index");
    if (select) {
      const LocalParameters chosen = select_local_parameters(data, *index, context, &result.report);
      settings.k = chosen.k;
      settings.cost_factor = chosen.cost_factor;
      settings.percentile = chosen.percentile;
      phases.end("selection");
    }
    settings.k_prime = cover_size(settings.k, select ? std::nullopt : options.k_prime, data.rows());
    parts = cover_rows(*index, data.features, settings.k, settings.k_prime, context.control);
    phases.end("centres");
  } catch (const Cancelled&) {
    parts = whole_set(data.rows());
  }
  TrainedLocally trained = train_neighbourhoods(data, parts, settings, context, &result.report);
  phases.end("local_training");
  result.machine = make_machine(data, std::move(parts), std::move(trained), anchors);
  return result;
}

}  // namespace

Structure parse_structure(std::string_view name) {
  if (name == "auto") return Structure::automatic;
  if (name == "brute-force") return Structure::brute_force;
  if (name == "kd-tree") return Structure::kd_tree;
  if (name == "cover-tree") return Structure::cover_tree;
  throw InvalidArgument(
      fmt::format("index is '{}': one of auto, brute-force, kd-tree, cover-tree", name));
}

Index default_neighbours(Index rows) {
  if (rows <= 1'000'000) return 500;
  return rows <= 10'000'000 ? 1000 : 2000;
}

MethodResult train_falk(const TrainingSet& data, const TrainContext& context) {
  return train_with(data, context, Anchors::rows, false);
}

MethodResult train_falk_c(const TrainingSet& data, const TrainContext& context) {
  return train_with(data, context, Anchors::centres, false);
}

MethodResult train_falk_l(const TrainingSet& data, const TrainContext& context) {
  return train_with(data, context, Anchors::rows, true);
}

Method falk_method() {
  return {
      .info = {.name = "falk",
               .summary =
                   "local SVMs that cover the data; the one of the nearest training row answers",
               .kind = MethodKind::local,
               .needs_features = true,
               .options = {"k", "k-prime", "index"}},
      .train = train_falk,
      .tuning = {.on_neighborhoods = true},
      .growth = {1, 1.5},
      .worth_a_trial = [](const DataFacts& facts, const TrainOptions& options) {
        // Neighbors mean little among hundreds of features, and small data need no parts.
        return options.kernel == KernelType::rbf && facts.rows > 5000 &&
               facts.stored_per_row <= 300;
      }};
}

Method falk_c_method() {
  return {
      .info =
          {.name = "falk-c",
           .summary =
               "local SVMs; the one of the nearest center answers: smaller and faster than falk",
           .kind = MethodKind::local,
           .needs_features = true,
           .options = {"k", "k-prime", "index"}},
      .train = train_falk_c,
      .tuning = {.on_neighborhoods = true},
      .growth = {1, 1.5}};
}

Method falk_l_method() {
  return {.info = {.name = "falk-l",
                   .summary = "falk with k, C and the kernel width chosen on some neighborhoods",
                   .kind = MethodKind::local,
                   .does_regression = false,
                   .needs_features = true,
                   .options = {"index", "selection-centres", "selection-folds", "k-grid",
                               "cost-grid", "percentiles"}},
          .train = train_falk_l,
          .tuning = {.chooses_itself = true},
          .growth = {1, 1.5}};
}

}  // namespace tamis
