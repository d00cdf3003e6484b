#include "qp/top.hpp"

#include <algorithm>
#include <bit>

#include "base/checked.hpp"
#include "base/group.hpp"

namespace tamis::qp {
namespace {

// The smallest number t of 64 bits for which count_below(t) of all ranks together is at least
// `count`, by bisection; count_below(t) counts what is at most t.
template <typename CountUpTo>
std::uint64_t smallest_holding(Group& group, Index count, const CountUpTo& count_up_to) {
  std::uint64_t low = 0;
  std::uint64_t high = ~std::uint64_t{0};
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (sum_of_all(group, count_up_to(middle)) >= count)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

// Larger values have smaller ranks: the bits of positive doubles are in the order of the doubles.
std::uint64_t rank_of(double value) { return ~std::bit_cast<std::uint64_t>(value); }

}  // namespace

RowVector<Ranked> drop_all_but_top(Group& group, Index count, RowVector<Ranked>* mine) {
  const Index total = sum_of_all(group, static_cast<Index>(mine->size()));
  RowVector<Ranked> dropped(mine->get_allocator());
  if (total <= count) return dropped;
  auto keep = mine->begin() + std::min(count, static_cast<Index>(mine->size()));
  if (group.size() == 1) {
    std::nth_element(mine->begin(), keep, mine->end());
  } else {
    std::sort(mine->begin(), mine->end());
    const auto up_to = [&](std::uint64_t rank) {
      return static_cast<Index>(
          std::partition_point(mine->begin(), mine->end(),
                               [&](const Ranked& r) { return rank_of(r.value) <= rank; }) -
          mine->begin());
    };
    const std::uint64_t last = smallest_holding(group, count, up_to);
    // Of those that share the last value, the smallest keys.
    const auto ties_begin = mine->begin() + (last == 0 ? 0 : up_to(last - 1));
    const auto ties_end = mine->begin() + up_to(last);
    const Index before = sum_of_all(group, static_cast<Index>(ties_begin - mine->begin()));
    const auto ties_up_to = [&](std::uint64_t key) {
      return static_cast<Index>(
          std::partition_point(ties_begin, ties_end,
                               [&](const Ranked& r) { return r.key <= key; }) -
          ties_begin);
    };
    keep = ties_begin + ties_up_to(smallest_holding(group, count - before, ties_up_to));
  }
  dropped.assign(keep, mine->end());
  mine->erase(keep, mine->end());
  return dropped;
}

}  // namespace tamis::qp
