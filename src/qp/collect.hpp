// What the owners of some points know of them, put together on every rank.
#pragma once

#include <span>
#include <vector>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "qp/problem.hpp"

namespace tamis::qp {

/// fact(p) for each of the named points, in their order; p is the number at its owner, who is the
/// only one to be asked.
template <typename Fact>
auto collect(Group& group, std::span<const PointName> names, const Fact& fact) {
  std::vector<decltype(fact(Index{0}))> mine;
  mine.reserve(names.size());
  for (const PointName& name : names) {
    if (name.owner == group.rank()) mine.push_back(fact(name.point));
  }
  if (group.size() == 1) return mine;
  const auto lists = gather_lists(group, mine);
  std::vector<std::size_t> next(lists.size(), 0);
  mine.clear();
  for (const PointName& name : names) {
    const auto owner = usize(name.owner);
    mine.push_back(lists[owner][next[owner]++]);
  }
  return mine;
}

}  // namespace tamis::qp
