#include "svm/train_local.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "base/checked.hpp"
#include "svm/row_order.hpp"

namespace tamis {
namespace {

// For the kernel rows of an SVM that is trained for a query, where k is large.
constexpr Index kQueryCacheBytes = Index{64} << 20;

// Most pair updates of an SVM that is trained for a query on this number of rows, whatever the
// model file says: a hundred times what hard problems of a thousand rows take.
std::int64_t most_query_iterations(std::size_t rows) {
  return static_cast<std::int64_t>(std::min<std::size_t>(1'000'000, 10'000 * rows));
}

LocalPair train_pair(const LocalRows& data, const BinaryTask& task, const BinarySettings& settings,
                     const RunControl& control, MachineStats* stats) {
  const BinaryTask ordered = data.hashes.empty()
                                 ? ordered_by_content(data.features, data.cost, task)
                                 : ordered_by_content(data.hashes, data.cost, task);
  BinaryResult result =
      train_binary(data.features, data.cost, ordered, nullptr, settings, control, nullptr);
  stats->add(result.stats);
  LocalPair pair;
  pair.machine = std::move(result.machine);
  return pair;
}

}  // namespace

LocalResult train_local(const LocalRows& data, std::span<const Index> rows,
                        const BinarySettings& settings, const RunControl& control) {
  LocalResult result;
  LocalMachine& local = result.machine;
  if (data.codes.empty()) {
    BinaryTask task;
    task.rows.assign(rows.begin(), rows.end());
    for (const Index row : rows) task.targets.push_back(data.targets[usize(row)]);
    local.pairs.push_back(train_pair(data, task, settings, control, &result.stats));
    return result;
  }
  std::map<std::int32_t, std::vector<std::size_t>> places;  // among `rows`, of each class
  for (std::size_t i = 0; i < rows.size(); ++i) places[data.codes[usize(rows[i])]].push_back(i);
  if (places.size() == 1) {
    local.only_class = places.begin()->first;
    return result;
  }
  for (auto first = places.begin(); first != places.end(); ++first) {
    for (auto second = std::next(first); second != places.end(); ++second) {
      std::vector<std::size_t> both;  // in the order of `rows`
      std::merge(first->second.begin(), first->second.end(), second->second.begin(),
                 second->second.end(), std::back_inserter(both));
      BinaryTask task;
      for (const std::size_t i : both) {
        task.rows.push_back(rows[i]);
        task.targets.push_back(data.codes[usize(rows[i])] == first->first ? 1.0 : -1.0);
      }
      local.pairs.push_back(train_pair(data, task, settings, control, &result.stats));
      local.pairs.back().first = first->first;
      local.pairs.back().second = second->first;
    }
  }
  return result;
}

LocalMachine train_for_query(const LocalRows& data, std::span<const Index> rows,
                             const Kernel& kernel, const LazySettings& settings,
                             const RunControl& control) {
  BinarySettings binary;
  binary.kernel = kernel;
  binary.task = data.codes.empty() ? Task::regression : Task::classification;
  binary.loss = settings.loss;
  binary.tube = settings.tube;
  binary.seed = settings.seed;
  binary.cache_bytes = kQueryCacheBytes;
  binary.limits.eps = settings.eps;
  const std::int64_t most = most_query_iterations(rows.size());
  binary.limits.max_iterations =
      settings.max_iterations > 0 ? std::min(settings.max_iterations, most) : most;
  return train_local(data, rows, binary, control).machine;
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
