// Values in place of bytes for what a Group does, and the group of one.
#pragma once

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <vector>

#include "tamis/control.hpp"
#include "tamis/group.hpp"

namespace tamis {

/// The group that a call without one works in: this process alone. All its calls return at once.
Group& alone();

/// The group of a call.
inline Group& group_of(const RunControl& control) {
  return control.group == nullptr ? alone() : *control.group;
}

template <typename T>
std::span<const std::byte> as_message(std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  return std::as_bytes(values);
}

template <typename T>
std::vector<T> from_message(std::span<const std::byte> message) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> values(message.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), message.data(), values.size() * sizeof(T));
  return values;
}

/// The values of every rank, by rank.
template <typename T>
std::vector<std::vector<T>> gather_lists(Group& group, const std::vector<T>& mine) {
  if (group.size() == 1) return {mine};
  std::vector<std::vector<T>> lists;
  for (const Group::Message& message : group.all_gather(as_message(std::span<const T>(mine))))
    lists.push_back(from_message<T>(message));
  return lists;
}

/// The values of every rank, one list after the other.
template <typename T>
std::vector<T> gather_all(Group& group, std::vector<T> mine) {
  if (group.size() == 1) return mine;
  std::vector<T> all;
  for (const std::vector<T>& list : gather_lists(group, mine))
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

/// One value of each rank, by rank.
template <typename T>
std::vector<T> gather_values(Group& group, const T& mine) {
  return gather_all(group, std::vector<T>{mine});
}

template <typename T>
std::vector<T> broadcast_list(Group& group, const std::vector<T>& mine, int root) {
  if (group.size() == 1) return mine;
  const auto bytes = as_message(std::span<const T>(mine));
  return from_message<T>(group.broadcast({bytes.begin(), bytes.end()}, root));
}

template <typename T>
T largest_of_all(Group& group, const T& mine) {
  if (group.size() == 1) return mine;
  const std::vector<T> values = gather_values(group, mine);
  return *std::max_element(values.begin(), values.end());
}

/// Of whole numbers only: a sum of rounded numbers would depend on how many ranks there are.
template <typename T>
T sum_of_all(Group& group, T mine) {
  static_assert(std::is_integral_v<T>);
  if (group.size() == 1) return mine;
  T sum = 0;
  for (const T value : gather_values(group, mine)) sum += value;
  return sum;
}

/// The sum over the ranks before this one: where its rows begin among those of all.
inline std::int64_t sum_of_earlier(Group& group, std::int64_t mine) {
  const std::vector<std::int64_t> values = gather_values(group, mine);
  return std::accumulate(values.begin(), values.begin() + group.rank(), std::int64_t{0});
}

inline bool any_of_all(Group& group, bool mine) {
  return largest_of_all<int>(group, mine ? 1 : 0) != 0;
}

}  // namespace tamis
