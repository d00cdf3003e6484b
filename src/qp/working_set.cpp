#include "qp/working_set.hpp"

#include <algorithm>
#include <functional>

#include "base/checked.hpp"
#include "base/parallel.hpp"

namespace tamis::qp {
namespace {

constexpr Index kChunk = 8192;

// A place with its urgency; sorts the most urgent first, the lower place among equals.
struct Candidate {
  double urgency = 0;
  Index place = 0;
  bool operator<(const Candidate& other) const {
    return urgency != other.urgency ? urgency > other.urgency : place < other.place;
  }
};

void keep_first(std::vector<Candidate>* candidates, Index count) {
  if (static_cast<Index>(candidates->size()) <= count) return;
  std::nth_element(candidates->begin(), candidates->begin() + count, candidates->end());
  candidates->resize(usize(count));
}

// The places whose urgency exceeds `floor`, in order.
template <typename Urgency>
std::vector<Candidate> more_urgent_than(double floor, Index size, const Urgency& urgency) {
  const Index chunks = (size + kChunk - 1) / kChunk;
  std::vector<std::vector<Candidate>> parts(usize(chunks));
  parallel_each(chunks, [&](Index c) {
    for (Index p = c * kChunk; p < std::min((c + 1) * kChunk, size); ++p) {
      const double value = urgency(p);
      if (value > floor) parts[usize(c)].push_back({value, p});
    }
  });
  std::vector<Candidate> all;
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

// The `count` places with the largest urgency(place) > 0, most urgent first.
template <typename Urgency>
std::vector<Candidate> most_urgent(Index size, Index count, const Urgency& urgency) {
  const double floor = likely_floor(size, count, urgency);
  std::vector<Candidate> all = more_urgent_than(floor, size, urgency);
  if (floor > 0 && static_cast<Index>(all.size()) < count) all = more_urgent_than(0, size, urgency);
  keep_first(&all, count);
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

std::vector<Index> WorkingSetChooser::choose(const ActiveSet& active, const Problem& problem,
                                             const Violation& violation) {
  const Index fresh = std::max<Index>(2, block_size_ / 2);
  const auto group = [&](Index place) { return problem.group_at(active.points()[usize(place)]); };
  std::vector<Candidate> rising;
  std::vector<Candidate> falling;
  parallel_each(2, [&](Index side) {
    if (side == 0) {
      rising = most_urgent(active.size(), fresh, [&](Index p) {
        return active.up_score(p) - violation.min_down[group(p)];
      });
    } else {
      falling = most_urgent(active.size(), fresh, [&](Index p) {
        return violation.max_up[group(p)] - active.down_score(p);
      });
    }
  });

  // Alternately from both ends, so that the block has partners on either side, until `fresh` points
  // are in.
  std::vector<Index> chosen;
  std::vector<char> taken(usize(active.size()), 0);
  const auto take = [&](Index place) {
    if (taken[usize(place)] || static_cast<Index>(chosen.size()) >= fresh) return;
    taken[usize(place)] = 1;
    chosen.push_back(active.points()[usize(place)]);
  };
  for (std::size_t k = 0; k < std::max(rising.size(), falling.size()); ++k) {
    if (k < rising.size()) take(rising[k].place);
    if (k < falling.size()) take(falling[k].place);
  }
  std::vector<Index> block = chosen;
  for (const Index point : newest_) {
    const Index place = active.place_of(point);
    if (place < 0 || taken[usize(place)] || static_cast<Index>(block.size()) >= block_size_)
      continue;
    taken[usize(place)] = 1;
    block.push_back(point);
  }
  newest_ = std::move(chosen);
  return block;
}

}  // namespace tamis::qp
