#include "model/local_learner.hpp"

#include <algorithm>
#include <map>

#include "base/checked.hpp"
#include "model/row_order.hpp"

namespace tamis {
namespace {

void add_stats(const MachineStats& part, MachineStats* whole) {
  whole->objective += part.objective;
  whole->gap += part.gap;
  whole->violation = std::max(whole->violation, part.violation);
  whole->iterations += part.iterations;
  whole->kernel_evaluations += part.kernel_evaluations;
  whole->cached_evaluations += part.cached_evaluations;
  whole->bounded_support_vectors += part.bounded_support_vectors;
  whole->stop_reason = std::max(whole->stop_reason, part.stop_reason);
}

LocalPair train_pair(const LocalRows& data, const BinaryTask& task, const BinarySettings& settings,
                     const RunControl& control, MachineStats* stats) {
  const BinaryTask ordered = data.hashes.empty()
                                 ? ordered_by_content(data.features, data.cost, task)
                                 : ordered_by_content(data.hashes, data.cost, task);
  BinaryResult result =
      train_binary(data.features, data.cost, ordered, nullptr, settings, control, nullptr);
  add_stats(result.stats, stats);
  LocalPair pair;
  pair.machine = std::move(result.machine);
  return pair;
}

}  // namespace

LocalMachine train_local(const LocalRows& data, std::span<const Index> rows,
                         const BinarySettings& settings, const RunControl& control) {
  LocalMachine local;
  if (data.codes.empty()) {
    BinaryTask task;
    task.rows.assign(rows.begin(), rows.end());
    for (const Index row : rows) task.targets.push_back(data.targets[usize(row)]);
    local.pairs.push_back(train_pair(data, task, settings, control, &local.stats));
    return local;
  }
  std::vector<std::int32_t> classes;
  for (const Index row : rows) classes.push_back(data.codes[usize(row)]);
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  if (classes.size() == 1) {
    local.only_class = classes[0];
    return local;
  }
  for (std::size_t a = 0; a < classes.size(); ++a) {
    for (std::size_t b = a + 1; b < classes.size(); ++b) {
      BinaryTask task;
      for (const Index row : rows) {
        const std::int32_t code = data.codes[usize(row)];
        if (code != classes[a] && code != classes[b]) continue;
        task.rows.push_back(row);
        task.targets.push_back(code == classes[a] ? 1.0 : -1.0);
      }
      local.pairs.push_back(train_pair(data, task, settings, control, &local.stats));
      local.pairs.back().first = classes[a];
      local.pairs.back().second = classes[b];
    }
  }
  return local;
}

std::int32_t majority_class(const LocalRows& data, std::span<const Index> rows) {
  std::map<std::int32_t, double> weight;
  for (const Index row : rows) weight[data.codes[usize(row)]] += data.cost[usize(row)];
  std::int32_t best = -1;
  for (const auto& [code, sum] : weight) {
    if (best < 0 || sum > weight[best]) best = code;
  }
  return best;
}

}  // namespace tamis
