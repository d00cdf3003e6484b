#include "svm/deal_rows.hpp"

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "base/mix.hpp"
#include "data/row_messages.hpp"
#include "svm/row_order.hpp"

namespace tamis {
namespace {

// All that a TrainingSet knows of a row apart from its values.
struct RowFacts {
  Index position = 0;
  double cost = 0;
  double target = 0;
  std::int64_t code = 0;
};

std::vector<RowFacts> facts_of(const DealtRows& from, std::span<const Index> rows) {
  std::vector<RowFacts> facts;
  facts.reserve(rows.size());
  for (const Index row : rows) {
    RowFacts fact{from.positions[usize(row)], from.set.cost[usize(row)]};
    if (from.set.is_regression())
      fact.target = from.set.targets[usize(row)];
    else
      fact.code = from.set.codes[usize(row)];
    facts.push_back(fact);
  }
  return facts;
}

// Puts together what the ranks sent, in the order of the positions. Each part is in that order.
DealtRows put_together(const TrainingSet& like, std::span<const Group::Message> row_messages,
                       std::span<const std::vector<RowFacts>> facts) {
  struct Place {
    Index position;
    std::int32_t part;
    std::size_t number;
  };
  std::vector<Place> order;
  std::vector<Matrix> parts;
  for (std::size_t p = 0; p < facts.size(); ++p) {
    parts.push_back(unpack_rows(row_messages[p], like.features));
    for (std::size_t k = 0; k < facts[p].size(); ++k)
      order.push_back({facts[p][k].position, static_cast<std::int32_t>(p), k});
  }
  std::sort(order.begin(), order.end(),
            [](const Place& a, const Place& b) { return a.position < b.position; });
  DealtRows result;
  result.set.num_classes = like.num_classes;
  result.set.classes = like.classes;
  result.set.kernel = like.kernel;
  std::vector<std::int32_t> part_of_row;
  part_of_row.reserve(order.size());
  for (const Place& place : order) {
    part_of_row.push_back(place.part);
    const RowFacts& fact = facts[usize(place.part)][place.number];
    result.positions.push_back(fact.position);
    result.set.cost.push_back(fact.cost);
    if (like.is_regression())
      result.set.targets.push_back(fact.target);
    else
      result.set.codes.push_back(static_cast<std::int32_t>(fact.code));
  }
  result.set.features = interleave_rows(parts, part_of_row);
  return result;
}

DealtRows exchange_rows(const DealtRows& from, const std::vector<std::vector<Index>>& rows_for,
                        Group& group) {
  std::vector<Group::Message> rows;
  std::vector<Group::Message> facts;
  for (const std::vector<Index>& some : rows_for) {
    rows.push_back(pack_rows(from.set.features, some));
    const std::vector<RowFacts> known = facts_of(from, some);
    const auto bytes = as_message(std::span<const RowFacts>(known));
    facts.emplace_back(bytes.begin(), bytes.end());
  }
  rows = group.exchange(std::move(rows));
  std::vector<std::vector<RowFacts>> got;
  for (const Group::Message& message : group.exchange(std::move(facts)))
    got.push_back(from_message<RowFacts>(message));
  return put_together(from.set, rows, got);
}

}  // namespace

DealtRows deal_by_content(const TrainingSet& mine, Group& group) {
  DealtRows whole{mine, std::vector<Index>(usize(mine.rows()))};
  const std::vector<Index> counts = gather_values(group, mine.rows());
  std::iota(whole.positions.begin(), whole.positions.end(),
            std::accumulate(counts.begin(), counts.begin() + group.rank(), Index{0}));
  std::vector<std::vector<Index>> rows_for(usize(group.size()));
  const std::vector<std::uint64_t> hashes = hash_rows(mine.features);
  for (Index i = 0; i < mine.rows(); ++i) {
    const std::uint64_t share = mix(hashes[usize(i)]) >> 32;
    rows_for[usize(static_cast<Index>(share * static_cast<std::uint64_t>(group.size()) >> 32))]
        .push_back(i);
  }
  return exchange_rows(whole, rows_for, group);
}

DealtRows gather_rows(const DealtRows& from, std::span<const Index> rows, Group& group, int root) {
  std::vector<std::vector<Index>> rows_for(usize(group.size()));
  rows_for[usize(root)].assign(rows.begin(), rows.end());
  return exchange_rows(from, rows_for, group);
}

DealtRows gather_rows(const DealtRows& from, std::span<const Index> rows, Group& group) {
  return put_together(from.set, group.all_gather(pack_rows(from.set.features, rows)),
                      gather_lists(group, facts_of(from, rows)));
}

}  // namespace tamis
