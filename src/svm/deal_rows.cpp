#include "svm/deal_rows.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "base/mix.hpp"
#include "data/row_messages.hpp"
#include "gram/near_points.hpp"
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
DealtRows put_together(const TrainingSet& like, std::vector<Group::Message> row_messages,
                       std::span<const std::vector<RowFacts>> facts) {
  struct Place {
    Index position;
    std::int32_t part;
    std::size_t number;
  };
  std::vector<Place> order;
  std::vector<Matrix> parts;
  for (std::size_t p = 0; p < facts.size(); ++p) {
    parts.push_back(unpack_rows(std::move(row_messages[p]), like.features));
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
  return put_together(from.set, std::move(rows), got);
}

// So many rows of all ranks: those with the smallest hashes.
Matrix sample_of_all(const Matrix& features, std::span<const std::uint64_t> hashes, Index count,
                     Group& group) {
  std::vector<Index> rows(usize(features.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  const auto some = rows.begin() + std::min(count, features.rows());
  const auto by_hash = [&](Index a, Index b) {
    return hashes[usize(a)] != hashes[usize(b)] ? hashes[usize(a)] < hashes[usize(b)] : a < b;
  };
  std::partial_sort(rows.begin(), some, rows.end(), by_hash);
  rows.erase(some, rows.end());
  std::vector<std::uint64_t> smallest;
  smallest.reserve(rows.size());
  for (const Index row : rows) smallest.push_back(hashes[usize(row)]);
  smallest = gather_all(group, std::move(smallest));
  std::sort(smallest.begin(), smallest.end());
  if (std::ssize(smallest) > count) {
    const std::uint64_t limit = smallest[usize(count)];
    std::erase_if(rows, [&](Index row) { return hashes[usize(row)] >= limit; });
  }
  return unpack_all(group.all_gather(pack_rows(features, rows)), features);
}

// Halves of halves of a sample of the rows, each cut across the column that varies most.
class Regions {
 public:
  Regions(const Matrix& sample, Index count) {
    std::vector<Index> rows(usize(sample.rows()));
    std::iota(rows.begin(), rows.end(), 0);
    split(sample, rows, std::max<Index>(1, sample.rows() / count));
  }

  Index region_of(const Matrix& features, Index row) const {
    std::size_t at = 0;
    while (nodes_[at].column >= 0) {
      const Node& node = nodes_[at];
      at = features.at(row, node.column) < node.threshold ? at + 1 : node.right;
    }
    return nodes_[at].region;
  }

 private:
  struct Node {
    Index column = -1;  // negative: a region
    float threshold = 0;
    std::size_t right = 0;  // the left one follows its parent
    Index region = 0;
  };

  void split(const Matrix& sample, std::span<Index> rows, Index smallest) {
    const std::size_t own = nodes_.size();
    nodes_.emplace_back();
    const Index column = std::ssize(rows) <= smallest ? -1 : widest_column(sample, rows);
    std::span<Index>::iterator middle;
    if (column >= 0) {
      const auto value = [&](Index row) { return sample.at(row, column); };
      std::sort(rows.begin(), rows.end(), [&](Index a, Index b) { return value(a) < value(b); });
      // The middle value; where half of the rows or more share the smallest, the next one.
      middle = std::partition_point(rows.begin(), rows.end(), [&](Index row) {
        return value(row) < value(rows[rows.size() / 2]);
      });
      if (middle == rows.begin())
        middle = std::upper_bound(rows.begin(), rows.end(), rows[0],
                                  [&](Index a, Index b) { return value(a) < value(b); });
      if (middle != rows.end()) nodes_[own].threshold = value(*middle);
    }
    if (column < 0 || middle == rows.end()) {
      nodes_[own].region = num_regions_++;
      return;
    }
    nodes_[own].column = column;
    const auto left = static_cast<std::size_t>(middle - rows.begin());
    split(sample, rows.first(left), smallest);
    nodes_[own].right = nodes_.size();
    split(sample, rows.subspan(left), smallest);
  }

  std::vector<Node> nodes_;
  Index num_regions_ = 0;
};

constexpr Index kRegionSample = 4096;
constexpr Index kRegionsPerRank = 32;  // enough for even shares of what is left after shrinking

}  // namespace

DealtRows deal_by_content(const TrainingSet& mine, Group& group) {
  DealtRows whole{mine, std::vector<Index>(usize(mine.rows()))};
  std::iota(whole.positions.begin(), whole.positions.end(), sum_of_earlier(group, mine.rows()));
  RowVector<std::uint64_t> hashes = hash_rows(mine.features);
  for (std::uint64_t& hash : hashes) hash = mix(hash);
  const Matrix sample = sample_of_all(mine.features, hashes, kRegionSample, group);
  std::vector<Index> few(usize(std::min(kFarSample, sample.rows())));
  std::iota(few.begin(), few.end(), 0);
  const Index total = sum_of_all(group, mine.rows());
  std::optional<Regions> regions;
  if (has_many_far_pairs(mine.kernel, sample, few, total))
    regions.emplace(sample, kRegionsPerRank * group.size());
  std::vector<std::vector<Index>> rows_for(usize(group.size()));
  for (Index i = 0; i < mine.rows(); ++i) {
    const Index number =
        regions ? regions->region_of(mine.features, i) : static_cast<Index>(hashes[usize(i)] >> 32);
    rows_for[usize(number % group.size())].push_back(i);
  }
  return exchange_rows(whole, rows_for, group);
}

DealtRows deal_rows(const TrainingSet& mine, std::span<const int> rank_of_row, Group& group) {
  DealtRows whole{mine, std::vector<Index>(usize(mine.rows()))};
  std::iota(whole.positions.begin(), whole.positions.end(), sum_of_earlier(group, mine.rows()));
  std::vector<std::vector<Index>> rows_for(usize(group.size()));
  for (Index i = 0; i < mine.rows(); ++i) rows_for[usize(rank_of_row[usize(i)])].push_back(i);
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
