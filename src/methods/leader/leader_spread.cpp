#include "methods/leader/leader_spread.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "base/message.hpp"
#include "data/row_messages.hpp"
#include "methods/leader/leader_pass.hpp"
#include "neighbors/distances.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

// Rows that travel at a time: few at first, when each leader strikes out many.
constexpr std::size_t kFirstBlock = 64;
constexpr std::size_t kMostBlock = 2048;

std::vector<Index> positions(Index count) {
  std::vector<Index> result(usize(count));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

Group::Message list_message(const std::vector<Index>& list) {
  const auto bytes = as_message(std::span<const Index>(list));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

LeaderSpread::LeaderSpread(const AllRows& rows, const Metric& metric, const TrainContext& context)
    : rows_(rows), metric_(metric), context_(context) {
  Coordinator& coordinator = rows.coordinator();
  begin_class_ = coordinator.add([this](std::span<const std::byte> request) {
    find_own(MessageReader(request).get<Index>());
    begin();
    return Group::Message();
  });
  begin_rows_ = coordinator.add([this](std::span<const std::byte> request) {
    own_ = rows_.own(from_message<Index>(request));
    begin();
    return Group::Message();
  });
  near_some_ =
      coordinator.add([this](std::span<const std::byte> request) { return near_some(request); });
  strike_ = coordinator.add([this](std::span<const std::byte> request) { return strike(request); });
  nearest_ =
      coordinator.add([this](std::span<const std::byte> request) { return nearest(request); });
}

void LeaderSpread::find_own(Index class_number) {
  const TrainingSet& mine = rows_.mine();
  own_.clear();
  for (Index i = 0; i < mine.rows(); ++i) {
    if (mine.codes[usize(i)] == class_number) own_.push_back(i);
  }
}

void LeaderSpread::begin() {
  const TrainingSet& mine = rows_.mine();
  metric_.held_dense.reset();
  if (mine.features.is_sparse()) {  // on one rank, on all
    Index stored = 0;
    for (const Index row : own_) stored += std::ssize(mine.features.sparse_row(row).values);
    // As one rank with all these rows decides.
    Group& group = rows_.coordinator().group();
    stored = sum_of_all(group, stored);
    metric_.held_dense =
        better_dense(stored, sum_of_all(group, std::ssize(own_)), mine.features.cols());
  }
  struck_.assign(own_.size(), 0);
  index_.reset();
  if (!own_.empty())
    index_ = make_neighbor_index(mine.features.select(own_), metric_, Structure::automatic,
                                 context_.control);
}

// The rows struck out by these leaders, by their numbers among all.
Group::Message LeaderSpread::strike(std::span<const std::byte> request) {
  MessageReader reader(request);
  const auto squared_radius = reader.get<double>();
  const Matrix leaders =
      unpack_rows({reader.rest().begin(), reader.rest().end()}, rows_.mine().features);
  if (!index_) return {};
  const std::vector<std::uint8_t> before = struck_;
  index_->mark_within(leaders, positions(leaders.rows()),
                      index_->space().internal_limit(squared_radius), struck_, context_.control);
  std::vector<Index> rows;
  for (std::size_t i = 0; i < own_.size(); ++i) {
    if (struck_[i] != 0 && before[i] == 0) rows.push_back(rows_.first() + own_[i]);
  }
  return list_message(rows);
}

// The rows of the class that are near some of the given ones, by their numbers among all.
Group::Message LeaderSpread::near_some(std::span<const std::byte> request) {
  MessageReader reader(request);
  find_own(reader.get<Index>());
  index_.reset();
  const auto squared_radius = reader.get<double>();
  const Matrix around =
      unpack_rows({reader.rest().begin(), reader.rest().end()}, rows_.mine().features);
  if (own_.empty()) return {};
  // All ranks have all of `around`, and decide by them as one rank does.
  const auto index =
      make_neighbor_index(around, Metric{metric_.kernel}, Structure::automatic, context_.control);
  const std::vector<std::uint8_t> is_near =
      index->any_within(rows_.mine().features, own_, squared_radius, context_.control);
  std::vector<Index> rows;
  for (std::size_t i = 0; i < own_.size(); ++i) {
    if (is_near[i] != 0) rows.push_back(rows_.first() + own_[i]);
  }
  return list_message(rows);
}

// The nearest of the leaders for every row of the class.
Group::Message LeaderSpread::nearest(std::span<const std::byte> request) {
  MessageReader reader(request);
  find_own(reader.get<Index>());
  index_.reset();
  const Matrix leaders =
      unpack_rows({reader.rest().begin(), reader.rest().end()}, rows_.mine().features);
  if (own_.empty()) return {};
  // All ranks have all leaders, and decide by them as one rank does.
  const auto index = make_neighbor_index(leaders, Metric{metric_.kernel}, Structure::automatic,
                                         context_.control, 1);
  return list_message(index->nearest(rows_.mine().features, own_, 1, context_.control).rows);
}

std::vector<Index> LeaderSpread::find_leaders(Index class_number, std::span<const Index> order,
                                              double threshold) {
  if (order.empty()) return {};
  if (!may_go_on()) return {order[0]};
  try {
    MessageWriter first;
    first.put(class_number);
    rows_.coordinator().ask(begin_class_, first.take());
    return find_among(order, threshold);
  } catch (const Cancelled&) {
    return {order[0]};
  }
}

std::vector<Index> LeaderSpread::find_more_leaders(Index class_number, std::span<const Index> order,
                                                   std::span<const Index> leaders,
                                                   std::span<const Index> around,
                                                   double old_threshold, double threshold) {
  MessageWriter request;
  request.put(class_number);
  request.put(old_threshold * old_threshold);
  request.put_rest(pack_rows(rows_.features(around), positions(std::ssize(around))));
  std::vector<std::uint8_t> is_near(usize(rows_.total()), 0);
  for (const Group::Message& answer : rows_.coordinator().ask(near_some_, request.take())) {
    for (const Index row : from_message<Index>(answer)) is_near[usize(row)] = 1;
  }
  std::vector<Index> near;
  std::copy_if(order.begin(), order.end(), std::back_inserter(near),
               [&](Index row) { return is_near[usize(row)] != 0; });
  const std::vector<Index> rows = leaders_first(leaders, near);
  rows_.coordinator().ask(begin_rows_, list_message(rows));
  return leaders_first(leaders, find_among(rows, threshold));  // as on one rank: none is lost
}

bool LeaderSpread::may_go_on() const {
  return std::max(context_.must_stop(), rows_.coordinator().stopped()) == StopReason::converged;
}

// Of the rows that all ranks have begun with; those found so far when it must stop.
std::vector<Index> LeaderSpread::find_among(std::span<const Index> order, double threshold) {
  std::vector<Index> leaders;
  std::vector<std::uint8_t> struck(usize(rows_.total()), 0);
  try {
    std::size_t at = 0;
    std::size_t most = kFirstBlock;
    while (may_go_on()) {
      std::vector<Index> block;
      for (; at < order.size() && block.size() < most; ++at) {
        if (struck[usize(order[at])] == 0) block.push_back(order[at]);
      }
      if (block.empty()) break;
      most = std::min(2 * most, kMostBlock);
      const Matrix here = rows_.features(block);
      const auto index = make_neighbor_index(here, metric_, Structure::automatic, context_.control);
      const std::vector<Index> taken = leaders_of(*index, threshold, context_);
      MessageWriter request;
      request.put(threshold * threshold);
      request.put_rest(pack_rows(here, taken));
      for (const Index place : taken) leaders.push_back(block[usize(place)]);
      for (const Group::Message& answer : rows_.coordinator().ask(strike_, request.take())) {
        for (const Index row : from_message<Index>(answer)) struck[usize(row)] = 1;
      }
    }
  } catch (const Cancelled&) {
  }
  if (leaders.empty()) leaders.push_back(order[0]);
  return leaders;
}

std::vector<double> LeaderSpread::cluster_costs(Index class_number, std::span<const Index> order,
                                                std::span<const Index> leaders) {
  MessageWriter request;
  request.put(class_number);
  request.put_rest(pack_rows(rows_.features(leaders), positions(std::ssize(leaders))));
  const auto answers = rows_.coordinator().ask(nearest_, request.take());
  const TrainingSet& data = rows_.facts();
  std::vector<Index> of_row(usize(data.rows()), -1);
  std::vector<Index> all;
  for (const Group::Message& answer : answers) {
    const auto part = from_message<Index>(answer);
    all.insert(all.end(), part.begin(), part.end());
  }
  std::size_t next = 0;
  for (Index row = 0; row < data.rows(); ++row) {
    if (data.codes[usize(row)] == class_number) of_row[usize(row)] = all[next++];
  }
  // In the order of the pass: sums are rounded as on one rank.
  std::vector<double> costs(leaders.size(), 0.0);
  for (const Index row : order) costs[usize(of_row[usize(row)])] += data.cost[usize(row)];
  return costs;
}

}  // namespace tamis
