#include "methods/local/falk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/checked.hpp"
#include "base/deadline.hpp"
#include "base/progress.hpp"
#include "data/copy_rows.hpp"
#include "methods/local/cell_training.hpp"
#include "methods/local/local_selection.hpp"
#include "methods/local/local_training.hpp"
#include "methods/local/neighborhoods.hpp"
#include "model/local_models.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

enum class Anchors { rows, centres };

// Parts of the time that is left, under a time limit.
constexpr double kSelectionShare = 0.3;
constexpr double kCoverShare = 0.4;

// Seconds since it was last asked, by name.
class Phases {
 public:
  explicit Phases(TrainReport* report) : report_(report) {}
  void end(std::string name) {
    report_->phase_seconds.emplace_back(std::move(name), watch_.restart());
  }
  /// Two phases that took turns.
  void end(std::string first, double first_seconds, std::string second) {
    report_->phase_seconds.emplace_back(std::move(first), first_seconds);
    report_->phase_seconds.emplace_back(std::move(second), watch_.restart() - first_seconds);
  }

 private:
  TrainReport* report_;
  Stopwatch watch_;
};

// Keeps only the rows that centres or terms name, and numbers them anew, in the same order. Returns
// the old numbers.
std::vector<Index> drop_unused_rows(const Matrix& features, std::vector<Index>& centres,
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
  return kept;
}

std::vector<Index> all_rows_below(Index count) {
  std::vector<Index> rows(usize(count));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

double euclidean_distance(const Matrix& features, Index a, Index b) {
  std::vector<float> x(usize(features.cols()));
  std::vector<float> z(usize(features.cols()));
  features.copy_row(a, x);
  features.copy_row(b, z);
  double sum = 0;
  for (std::size_t j = 0; j < x.size(); ++j) {
    const double difference = static_cast<double>(x[j]) - static_cast<double>(z[j]);
    sum += difference * difference;
  }
  return std::sqrt(sum);
}

// Which rows are asked, and the machine of each.
struct AnchorList {
  std::vector<Index> rows;
  std::vector<std::int32_t> machines;

  void add(Index row, std::int32_t machine) {
    rows.push_back(row);
    machines.push_back(machine);
  }
};

// Of a search that was stopped: rows, or centers, with a machine of their own, and rows of the
// sample that have none. A model grows with what was trained, not with the data.
AnchorList anchors_when_stopped(const Neighborhoods& found, const TrainedLocally& trained,
                                Anchors anchors) {
  AnchorList list;
  if (trained.machines.size() == 1) {
    list.add(0, trained.stopgap);
    return list;
  }
  const auto machine_of = [&](Index row) {
    const std::int32_t centre = found.centre_of_row[usize(row)];
    return centre < 0 ? trained.stopgap : trained.machine_of_centre[usize(centre)];
  };
  if (anchors == Anchors::rows) {
    for (Index row = 0; row < std::ssize(found.centre_of_row); ++row) {
      if (machine_of(row) != trained.stopgap) list.add(row, machine_of(row));
    }
  } else {
    for (std::size_t c = 0; c < found.centres.size(); ++c) {
      if (trained.machine_of_centre[c] != trained.stopgap)
        list.add(found.centres[c], trained.machine_of_centre[c]);
    }
  }
  for (const Index row : trained.stopgap_rows) {
    const bool is_own = row < std::ssize(found.centre_of_row);
    if (is_own && machine_of(row) == trained.stopgap) list.add(row, trained.stopgap);
  }
  return list;
}

// Returns the rows of the data that are in the parts; empty: all of them.
std::vector<Index> set_anchors(const TrainingSet& data, const Neighborhoods& found, Anchors anchors,
                               const RunControl& control, TrainedLocally* trained,
                               LocalParts* parts) {
  const bool is_complete = trained->stopgap < 0;
  const auto own = static_cast<Index>(found.centre_of_row.size());
  if (is_complete && anchors == Anchors::rows && own == data.rows()) {
    parts->rows = unmapped_rows(data.features, control);
    parts->machine_of_anchor = found.centre_of_row;
    return {};
  }
  AnchorList list;
  if (!is_complete) {
    list = anchors_when_stopped(found, *trained, anchors);
  } else if (anchors == Anchors::centres) {
    list.rows = found.centres;
  } else {
    list.rows = all_rows_below(own);
    list.machines = found.centre_of_row;
  }
  std::vector<Index> kept = drop_unused_rows(data.features, list.rows, trained->machines, parts);
  parts->anchors = std::move(list.rows);
  parts->machine_of_anchor = std::move(list.machines);
  return kept;
}

// The share of the centers whose neighborhood may lack rows that are in no halo of the cell.
Index inexact_centres(const CellRows& cell, const Neighborhoods& found) {
  if (cell.box == nullptr) return 0;
  // Boxes say nothing of distances in other feature spaces.
  const KernelType kernel = cell.set.kernel.type;
  if (kernel == KernelType::polynomial || kernel == KernelType::sigmoid) return found.size();
  Index count = 0;
  const Matrix& features = cell.set.features;
  for (Index c = 0; c < found.size(); ++c) {
    const Index centre = found.centres[usize(c)];
    const double distance = euclidean_distance(features, centre, found.rows_of(c).back());
    count += distance <= cell.box->safe_distance(features, centre) ? 0 : 1;
  }
  return count;
}

// k': what was asked for, or half of k. A neighbourhood of all rows covers them all.
Index cover_size(Index k, std::optional<Index> asked, Index rows) {
  if (k == rows) return k;
  return asked ? std::min(*asked, k) : std::max<Index>(1, k / 2);
}

// k, C and kernel width, within a part of the time that is left.
LocalParameters select_parameters(const TrainingSet& data, const NeighborIndex& index,
                                  const TrainContext& context, TrainReport* report) {
  const Deadline deadline(context.control, kSelectionShare * context.seconds_left());
  return select_local_parameters(data, index, {context.options, deadline.control(), context.watch},
                                 report);
}

// Under a time limit, the search for centers pauses to have machines trained for those it has.
// Without one, it runs to its end first.
void cover_and_train(CoverSearch* search, LocalTraining* training, const TrainContext& context,
                     double* cover_seconds) {
  while (context.must_stop() == StopReason::converged) {
    const Stopwatch watch;
    const double seconds = kCoverShare * context.seconds_left();
    search->advance([&] { return watch.seconds() > seconds; });
    *cover_seconds += watch.seconds();
    training->train(search->found());
    if (search->is_complete()) break;
  }
}

CellResult train_with(const CellRows& cell, const TrainContext& context, Anchors anchors,
                      bool select) {
  const TrainingSet& data = cell.set;
  if (data.kernel.type == KernelType::precomputed)
    throw InvalidArgument("local SVMs need features: a precomputed kernel has none");
  CellResult result;
  Phases phases(&result.report);
  const LocalOptions& options = context.options.local;
  LocalSettings settings;
  settings.k = std::min(options.k.value_or(kDefaultNeighbors), data.rows());
  settings.tunes = options.local_tuning;
  std::unique_ptr<NeighborIndex> index;
  std::optional<CoverSearch> search;
  StopReason selection_stop = StopReason::converged;
  try {
    index = make_neighbor_index(data.features, neighbor_metric(data.kernel),
                                parse_structure(options.index), quiet(context.control), settings.k);
    phases.end("index");
    if (select) {
      const LocalParameters chosen = select_parameters(data, *index, context, &result.report);
      settings = {chosen.k, 0, chosen.cost_factor, chosen.percentile};
      selection_stop = chosen.cut_short ? StopReason::time_limit : StopReason::converged;
      phases.end("selection");
    }
    settings.k_prime = cover_size(settings.k, select ? std::nullopt : options.k_prime, data.rows());
    search.emplace(*index, data.features, settings.k, settings.k_prime, context.control, cell.own);
  } catch (const Cancelled&) {  // then there are no neighborhoods
  }
  LocalTraining training(data, settings, context);
  double cover_seconds = 0;
  if (search) cover_and_train(&*search, &training, context, &cover_seconds);
  const Neighborhoods none;
  const Neighborhoods& found = search ? search->found() : none;
  TrainedLocally trained = training.finish(found, &result.report);
  result.report.stop_reason = std::max(result.report.stop_reason, selection_stop);
  phases.end("centres", cover_seconds, "local_training");
  LocalParts& parts = result.parts;
  parts.kernel = data.kernel;
  parts.num_classes = data.num_classes;
  result.kept = set_anchors(data, found, anchors, unstopped(context.control), &trained, &parts);
  parts.gammas = std::move(trained.gammas);
  LocalModelsBuilder builder;
  for (const LocalMachine& machine : trained.machines) builder.add(machine);
  builder.finish(&parts);
  result.inexact = inexact_centres(cell, found);
  return result;
}

// All rows at once.
MethodResult train_whole(const TrainingSet& data, const TrainContext& context, Anchors anchors,
                         bool select) {
  CellResult trained = train_with({data, data.rows()}, context, anchors, select);
  return {std::make_shared<const LocalModels>(std::move(trained.parts)), std::move(trained.report)};
}

CellResult train_falk_cell(const CellRows& cell, const TrainContext& context) {
  return train_with(cell, context, Anchors::rows, false);
}

CellResult train_falk_c_cell(const CellRows& cell, const TrainContext& context) {
  return train_with(cell, context, Anchors::centres, false);
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

MethodResult train_falk(const TrainingSet& data, const TrainContext& context) {
  return train_whole(data, context, Anchors::rows, false);
}

MethodResult train_falk_c(const TrainingSet& data, const TrainContext& context) {
  return train_whole(data, context, Anchors::centres, false);
}

MethodResult train_falk_l(const TrainingSet& data, const TrainContext& context) {
  return train_whole(data, context, Anchors::rows, true);
}

Method falk_method() {
  return {
      .info = {.name = "falk",
               .summary =
                   "local SVMs that cover the data; the one of the nearest training row answers",
               .kind = MethodKind::local,
               .needs_features = true,
               .trains_together = true,
               .options = {"k", "k-prime", "index", "local-tuning", "cell-rows"}},
      .train = train_falk,
      .train_cell = train_falk_cell,
      .tuning = {.on_neighborhoods = true},
      .growth = {1, 1.5},
      .worth_a_trial = [](const DataFacts& facts, const TrainOptions& options) {
        // Neighbors mean little among hundreds of features, and small data need no parts.
        return options.kernel_or_default() == KernelType::rbf && facts.rows > 5000 &&
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
           .trains_together = true,
           .options = {"k", "k-prime", "index", "local-tuning", "cell-rows"}},
      .train = train_falk_c,
      .train_cell = train_falk_c_cell,
      .tuning = {.on_neighborhoods = true},
      .growth = {1, 1.5}};
}

Method falk_l_method() {
  return {.info = {.name = "falk-l",
                   .summary = "falk with k, C and the kernel width chosen on some neighborhoods",
                   .kind = MethodKind::local,
                   .does_regression = false,
                   .needs_features = true,
                   .options = {"index", "selection-rule", "selection-centres", "selection-folds",
                               "k-grid", "cost-grid", "percentiles"},
                   .unused = {"cost"}},
          .train = train_falk_l,
          .tuning = {.chooses_itself = true},
          .growth = {1, 1.5}};
}

}  // namespace tamis
