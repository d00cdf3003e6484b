#include "qp/working_set.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <unordered_set>
#include <utility>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "base/parallel.hpp"
#include "qp/collect.hpp"
#include "qp/top.hpp"

namespace tamis::qp {
namespace {

constexpr Index kPointsOfTask = 2048;

// Which points are in the block; those of this rank are looked up by their place.
class Taken {
 public:
  Taken(const ActiveSet& active, Index most) : active_(active), own_(usize(active.size()), 0) {
    if (active.group().size() > 1) others_.reserve(usize(most));
  }

  /// False: it was there.
  bool insert(const PointName& name) {
    if (name.owner != active_.group().rank()) return others_.insert(name.as_number()).second;
    char& taken = own_[usize(active_.place_of(name.point))];
    return std::exchange(taken, 1) == 0;
  }

 private:
  const ActiveSet& active_;
  std::vector<char> own_;
  std::unordered_set<std::uint64_t> others_;
};

void keep_first(std::vector<Ranked>* candidates, Index count) {
  if (static_cast<Index>(candidates->size()) <= count) return;
  std::nth_element(candidates->begin(), candidates->begin() + count, candidates->end());
  candidates->resize(usize(count));
}

// What makes a place urgent: how far its up score exceeds the smallest down score of its group, and
// its down score falls short of the largest up score. Infinitely negative at a bound.
class Urgency {
 public:
  Urgency(const ActiveSet& active, const Problem& problem, const Violation& violation)
      : active_(active), problem_(problem), violation_(violation) {}

  using Both = std::array<double, 2>;  // to rise, to fall
  Both operator()(Index place) const {
    const int group =
        problem_.num_groups() == 1 ? 0 : problem_.group_at(active_.points()[usize(place)]);
    return {active_.up_score(place) - violation_.min_down[group],
            violation_.max_up[group] - active_.down_score(place)};
  }

 private:
  const ActiveSet& active_;
  const Problem& problem_;
  const Violation& violation_;
};

// The places more urgent than the floors, at most `most` of each chunk; how many are hopeless.
Candidates more_urgent_than(const Urgency::Both& floors, Index most, const ActiveSet& active,
                            const Urgency& urgency) {
  const Index size = active.size();
  const Index chunks = (size + kPointsOfTask - 1) / kPointsOfTask;
  std::vector<Candidates> parts(usize(chunks));
  parallel_each(chunks, [&](Index c) {
    Candidates& part = parts[usize(c)];
    for (Index p = c * kPointsOfTask; p < std::min((c + 1) * kPointsOfTask, size); ++p) {
      const Urgency::Both value = urgency(p);
      if (value[0] > floors[0]) part.rising.push_back({value[0], active.key_at(p), p});
      if (value[1] > floors[1]) part.falling.push_back({value[1], active.key_at(p), p});
      part.hopeless += is_hopeless(value[0], value[1]) ? 1 : 0;
    }
    keep_first(&part.rising, most);
    keep_first(&part.falling, most);
  });
  Candidates all;
  for (const Candidates& part : parts) {
    all.rising.insert(all.rising.end(), part.rising.begin(), part.rising.end());
    all.falling.insert(all.falling.end(), part.falling.begin(), part.falling.end());
    all.hopeless += part.hopeless;
  }
  return all;
}

// Urgencies that probably twice `count` places exceed, from every 16th of them.
Urgency::Both likely_floors(Index size, Index count, const Urgency& urgency) {
  constexpr Index kEvery = 16;
  const Index rank = 2 * count / kEvery;
  std::vector<double> samples[2];
  for (Index p = 0; p < size; p += kEvery) {
    const Urgency::Both value = urgency(p);
    for (const int side : {0, 1}) {
      if (value[usize(side)] > 0) samples[side].push_back(value[usize(side)]);
    }
  }
  Urgency::Both floors{};
  for (const int side : {0, 1}) {
    if (rank >= std::ssize(samples[side])) continue;
    const auto place = samples[side].begin() + rank;
    std::nth_element(samples[side].begin(), place, samples[side].end(), std::greater<>());
    floors[usize(side)] = *place;
  }
  return floors;
}

struct Urgent {
  std::vector<PointName> rising;
  std::vector<PointName> falling;
};

// What a rank tells the others about one of its most urgent points.
struct Candidate {
  Ranked ranked;           // the index is its number at its owner
  std::int32_t falls = 0;  // 0: it should rise
  std::int32_t more = 0;   // 1: its rank has a next one of the kind, and did not send it
};

// The first `count` of each kind.
std::vector<Candidate> first_of(const ActiveSet& active, const Candidates& mine, Index count) {
  std::vector<Candidate> sent;
  for (const std::int32_t falls : {0, 1}) {
    const std::vector<Ranked>& list = falls == 0 ? mine.rising : mine.falling;
    for (Index k = 0; k < std::min(std::ssize(list), count); ++k) {
      Ranked ranked = list[usize(k)];
      ranked.index = active.points()[usize(ranked.index)];
      sent.push_back({ranked, falls, k + 1 == count && count < std::ssize(list) ? 1 : 0});
    }
  }
  return sent;
}

// Of the candidates of all ranks, those of one kind, `count` at most and in order; each list is in
// order. False: a rank may have others that belong there.
bool merge(const std::vector<std::vector<Candidate>>& lists, std::int32_t falls, Index count,
           std::vector<PointName>* names) {
  using Part = std::span<const Candidate>;
  struct IsLater {
    const std::vector<Part>& parts;
    bool operator()(std::int32_t a, std::int32_t b) const {
      return parts[usize(b)][0].ranked < parts[usize(a)][0].ranked;
    }
  };
  std::vector<Part> parts;  // what is left of each list
  parts.reserve(lists.size());
  for (const std::vector<Candidate>& list : lists) {
    const auto falling = std::partition_point(list.begin(), list.end(),
                                              [](const Candidate& one) { return one.falls == 0; });
    parts.push_back(falls == 0 ? Part(list.begin(), falling) : Part(falling, list.end()));
  }
  std::priority_queue<std::int32_t, std::vector<std::int32_t>, IsLater> owners(IsLater{parts});
  for (std::size_t owner = 0; owner < parts.size(); ++owner) {
    if (!parts[owner].empty()) owners.push(static_cast<std::int32_t>(owner));
  }
  names->clear();
  bool whole = true;
  while (!owners.empty() && std::ssize(*names) < count) {
    const std::int32_t owner = owners.top();
    owners.pop();
    Part& part = parts[usize(owner)];
    names->push_back({owner, 0, part[0].ranked.index});
    whole = whole && part[0].more == 0;
    part = part.subspan(1);
    if (!part.empty()) owners.push(owner);
  }
  return whole;
}

// Of all ranks, the `count` most urgent of each kind, in order. Every rank sends a little more than
// its share first, and all it has only if that was not enough.
Urgent most_urgent(const ActiveSet& active, const Candidates& mine, Index count) {
  constexpr Index kFewest = 32;
  Group& group = active.group();
  Urgent urgent;
  const Index share = std::max(kFewest, 4 * count / group.size());
  for (Index sent = std::min(share, count);; sent = count) {
    const auto lists = gather_lists(group, first_of(active, mine, sent));
    const bool risen = merge(lists, 0, count, &urgent.rising);
    const bool fallen = merge(lists, 1, count, &urgent.falling);
    if (risen && fallen) return urgent;
  }
}

}  // namespace

Candidates WorkingSetChooser::find_candidates(const ActiveSet& active, const Problem& problem,
                                              const Violation& violation) const {
  const Urgency urgency(active, problem, violation);
  const Urgency::Both floors = likely_floors(active.size(), fresh(), urgency);
  Candidates found = more_urgent_than(floors, fresh(), active, urgency);
  if ((floors[0] > 0 && std::ssize(found.rising) < fresh()) ||
      (floors[1] > 0 && std::ssize(found.falling) < fresh()))
    found = more_urgent_than({0, 0}, fresh(), active, urgency);
  parallel_each(2, [&](Index side) {
    std::vector<Ranked>& list = side == 0 ? found.rising : found.falling;
    keep_first(&list, fresh());
    std::sort(list.begin(), list.end());
  });
  return found;
}

std::vector<PointName> WorkingSetChooser::choose(const ActiveSet& active,
                                                 const Candidates& candidates) {
  const auto [rising, falling] = most_urgent(active, candidates, fresh());

  // Alternately from both ends, so that the block has partners on either side, until fresh()
  // points are in.
  std::vector<PointName> chosen;
  Taken taken(active, block_size_);
  const auto take = [&](const PointName& name) {
    if (std::ssize(chosen) < fresh() && taken.insert(name)) chosen.push_back(name);
  };
  for (std::size_t k = 0; k < std::max(rising.size(), falling.size()); ++k) {
    if (k < rising.size()) take(rising[k]);
    if (k < falling.size()) take(falling[k]);
  }
  std::vector<PointName> block = chosen;
  drop_inactive(active);
  for (const PointName& name : newest_) {
    if (static_cast<Index>(block.size()) >= block_size_) break;
    if (taken.insert(name)) block.push_back(name);
  }
  newest_ = std::move(chosen);
  return block;
}

// Of the newest points, those that shrinking set aside since they entered. Only their owners know.
void WorkingSetChooser::drop_inactive(const ActiveSet& active) {
  if (std::exchange(times_rested_, active.times_rested()) == active.times_rested()) return;
  const std::vector<char> still_active = collect(
      active.group(), newest_, [&](Index i) -> char { return active.place_of(i) >= 0 ? 1 : 0; });
  std::size_t kept = 0;
  for (std::size_t k = 0; k < newest_.size(); ++k) {
    if (still_active[k] != 0) newest_[kept++] = newest_[k];
  }
  newest_.resize(kept);
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
