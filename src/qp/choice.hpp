// The members of a long list that satisfy a condition, found in parallel. The lists made of them
// have their size from the start, because they may lie on disk, and the order of the whole one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "base/row_vector.hpp"
#include "tamis/dataset.hpp"

namespace tamis::qp {

class Choice {
 public:
  /// Of 0 .. count - 1, those for which holds(k). Lists lie in `store`.
  template <typename Holds>
  Choice(Index count, const RowStore& store, const Holds& holds)
      : is_chosen_(usize(count), store), chosen_before_(usize(chunks() + 1), 0) {
    parallel_each(chunks(), [&](Index c) {
      Index chosen = 0;
      for (Index k = c * kChunk; k < end_of(c); ++k) {
        is_chosen_[usize(k)] = holds(k) ? 1 : 0;
        chosen += is_chosen_[usize(k)];
      }
      chosen_before_[usize(c + 1)] = chosen;
    });
    std::partial_sum(chosen_before_.begin(), chosen_before_.end(), chosen_before_.begin());
  }

  /// make(k) for each that was chosen, and for each that was not.
  template <typename Make>
  auto chosen(const Make& make) const {
    return list(1, chosen_before_.back(), make);
  }
  template <typename Make>
  auto others(const Make& make) const {
    return list(0, count() - chosen_before_.back(), make);
  }

 private:
  static constexpr Index kChunk = 8192;

  Index count() const { return std::ssize(is_chosen_); }
  Index chunks() const { return (count() + kChunk - 1) / kChunk; }
  Index end_of(Index chunk) const { return std::min((chunk + 1) * kChunk, count()); }

  template <typename Make>
  auto list(std::uint8_t kind, Index size, const Make& make) const {
    RowVector<std::remove_cvref_t<decltype(make(Index{0}))>> result(usize(size),
                                                                    is_chosen_.get_allocator());
    parallel_each(chunks(), [&](Index c) {
      const Index before = chosen_before_[usize(c)];
      auto place = usize(kind == 1 ? before : c * kChunk - before);
      for (Index k = c * kChunk; k < end_of(c); ++k) {
        if (is_chosen_[usize(k)] == kind) result[place++] = make(k);
      }
    });
    return result;
  }

  RowVector<std::uint8_t> is_chosen_;
  std::vector<Index> chosen_before_;  // each chunk, and the end
};

}  // namespace tamis::qp
