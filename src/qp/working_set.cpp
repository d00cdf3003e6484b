#include "qp/working_set.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "base/parallel.hpp"
#include "qp/collect.hpp"
#include "qp/top.hpp"

namespace tamis::qp {
namespace {

constexpr Index kChunk = 8192;

// Which points are in the block; those of this rank are looked up by their place.
class Taken {
 public:
  explicit Taken(const ActiveSet& active) : active_(active), own_(usize(active.size()), 0) {}

  /// False: it was there.
  bool insert(const PointName& name) {
    if (name.owner != active_.group().rank()) return others_.emplace(name.owner, name.point).second;
    char& taken = own_[usize(active_.place_of(name.point))];
    return std::exchange(taken, 1) == 0;
  }

 private:
  const ActiveSet& active_;
  std::vector<char> own_;
  std::set<std::pair<std::int32_t, Index>> others_;
};

void keep_first(std::vector<Ranked>* candidates, Index count) {
  if (static_cast<Index>(candidates->size()) <= count) return;
  std::nth_element(candidates->begin(), candidates->begin() + count, candidates->end());
  candidates->resize(usize(count));
}

// The places whose urgency exceeds `floor`, in order.
template <typename Urgency>
std::vector<Ranked> more_urgent_than(double floor, const ActiveSet& active,
                                     const Urgency& urgency) {
  const Index size = active.size();
  const Index chunks = (size + kChunk - 1) / kChunk;
  std::vector<std::vector<Ranked>> parts(usize(chunks));
  parallel_each(chunks, [&](Index c) {
    for (Index p = c * kChunk; p < std::min((c + 1) * kChunk, size); ++p) {
      const double value = urgency(p);
      if (value > floor) parts[usize(c)].push_back({value, active.key_at(p), p});
    }
  });
  std::vector<Ranked> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// An urgency that probably twice `count` places exceed, from every 16th of them.
template <typename Urgency>
double likely_floor(Index size, Index count, const Urgency& urgency) {
  constexpr Index kEvery = 16;
  std::vector<double> sample;
  for (Index p = 0; p < size; p += kEvery) sample.push_back(urgency(p));
  const Index rank = 2 * count / kEvery;
  if (rank >= static_cast<Index>(sample.size())) return 0;
  const auto place = sample.begin() + rank;
  std::nth_element(sample.begin(), place, sample.end(), std::greater<>());
  return std::max(0.0, *place);
}

// Of this rank, the `count` places with the largest urgency(place) > 0, in order.
template <typename Urgency>
std::vector<Ranked> most_urgent(const ActiveSet& active, Index count, const Urgency& urgency) {
  const double floor = likely_floor(active.size(), count, urgency);
  std::vector<Ranked> all = more_urgent_than(floor, active, urgency);
  if (floor > 0 && static_cast<Index>(all.size()) < count)
    all = more_urgent_than(0, active, urgency);
  keep_first(&all, count);
  std::sort(all.begin(), all.end());
  return all;
}

// A candidate as the other ranks see it.
struct Candidate {
  Ranked ranked;
  PointName name;
  bool operator<(const Candidate& other) const { return ranked < other.ranked; }
};

// Of all ranks, the `count` most urgent, in order.
std::vector<PointName> merged(const ActiveSet& active, const std::vector<Ranked>& mine,
                              Index count) {
  const auto name = [&](const Ranked& one) {
    return active.name_of(active.points()[usize(one.index)]);
  };
  std::vector<PointName> names;
  names.reserve(mine.size());
  if (active.group().size() == 1) {
    for (const Ranked& one : mine) names.push_back(name(one));
    return names;
  }
  std::vector<Candidate> candidates;
  candidates.reserve(mine.size());
  for (const Ranked& one : mine) candidates.push_back({one, name(one)});
  candidates = gather_all(active.group(), std::move(candidates));
  std::sort(candidates.begin(), candidates.end());
  candidates.resize(std::min(candidates.size(), usize(count)));
  for (const Candidate& one : candidates) names.push_back(one.name);
  return names;
}

}  // namespace

std::vector<PointName> WorkingSetChooser::choose(const ActiveSet& active, const Problem& problem,
                                                 const Violation& violation) {
  const Index fresh = std::max<Index>(2, block_size_ / 2);
  const auto group = [&](Index place) { return problem.group_at(active.points()[usize(place)]); };
  std::vector<Ranked> own_rising;
  std::vector<Ranked> own_falling;
  parallel_each(2, [&](Index side) {
    if (side == 0) {
      own_rising = most_urgent(active, fresh, [&](Index p) {
        return active.up_score(p) - violation.min_down[group(p)];
      });
    } else {
      own_falling = most_urgent(active, fresh, [&](Index p) {
        return violation.max_up[group(p)] - active.down_score(p);
      });
    }
  });
  const std::vector<PointName> rising = merged(active, own_rising, fresh);
  const std::vector<PointName> falling = merged(active, own_falling, fresh);

  // Alternately from both ends, so that the block has partners on either side, until `fresh` points
  // are in.
  std::vector<PointName> chosen;
  Taken taken(active);
  const auto take = [&](const PointName& name) {
    if (static_cast<Index>(chosen.size()) < fresh && taken.insert(name)) chosen.push_back(name);
  };
  for (std::size_t k = 0; k < std::max(rising.size(), falling.size()); ++k) {
    if (k < rising.size()) take(rising[k]);
    if (k < falling.size()) take(falling[k]);
  }
  std::vector<PointName> block = chosen;
  const std::vector<char> still_active = collect(
      active.group(), newest_, [&](Index i) -> char { return active.place_of(i) >= 0 ? 1 : 0; });
  for (std::size_t k = 0; k < newest_.size(); ++k) {
    if (static_cast<Index>(block.size()) >= block_size_) break;
    if (still_active[k] != 0 && taken.insert(newest_[k])) block.push_back(newest_[k]);
  }
  newest_ = std::move(chosen);
  return block;
}

std::vector<std::uint64_t> WorkingSetChooser::newest(const ActiveSet& active,
                                                     const Problem& problem) const {
  return collect(active.group(), newest_, [&](Index i) { return problem.key_at(i); });
}

void WorkingSetChooser::set_newest(std::span<const std::uint64_t> keys, const ActiveSet& active,
                                   const Problem& problem) {
  struct Found {
    std::int64_t number;
    PointName name;
  };
  std::vector<std::pair<std::uint64_t, std::size_t>> sorted;
  for (std::size_t k = 0; k < keys.size(); ++k) sorted.emplace_back(keys[k], k);
  std::sort(sorted.begin(), sorted.end());
  std::vector<Found> found;
  for (Index i = 0; i < problem.size(); ++i) {
    const auto at = std::lower_bound(sorted.begin(), sorted.end(),
                                     std::pair{problem.key_at(i), std::size_t{0}});
    if (at != sorted.end() && at->first == problem.key_at(i))
      found.push_back({static_cast<std::int64_t>(at->second), active.name_of(i)});
  }
  found = gather_all(active.group(), std::move(found));
  std::sort(found.begin(), found.end(),
            [](const Found& a, const Found& b) { return a.number < b.number; });
  newest_.clear();
  for (const Found& one : found) newest_.push_back(one.name);
}

}  // namespace tamis::qp
