#include "qp/solver_state.hpp"

#include <cstring>
#include <span>
#include <type_traits>

#include "tamis/error.hpp"

namespace tamis::qp {
namespace {

constexpr std::string_view kMagic = "tamis solver 2\n";

template <typename T>
void append(std::span<const T> values, std::string* bytes) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto count = static_cast<std::uint64_t>(values.size());
  bytes->append(reinterpret_cast<const char*>(&count), sizeof count);
  bytes->append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

template <typename T>
std::vector<T> take(std::string_view* bytes) {
  std::uint64_t count = 0;
  if (bytes->size() < sizeof count) throw DataError("the state of a solver is cut off");
  std::memcpy(&count, bytes->data(), sizeof count);
  bytes->remove_prefix(sizeof count);
  if (count > bytes->size() / sizeof(T)) throw DataError("the state of a solver is cut off");
  std::vector<T> values(static_cast<std::size_t>(count));
  if (count > 0) std::memcpy(values.data(), bytes->data(), values.size() * sizeof(T));
  bytes->remove_prefix(values.size() * sizeof(T));
  return values;
}

}  // namespace

std::string to_bytes(const SolverState& state) {
  std::string bytes(kMagic);
  append(std::span(&state.progress, 1), &bytes);
  append(std::span(state.newest), &bytes);
  append(std::span(state.points), &bytes);
  append(std::span(state.remembered), &bytes);
  return bytes;
}

SolverState state_from_bytes(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) throw DataError("this is not the state of a solver");
  bytes.remove_prefix(kMagic.size());
  SolverState state;
  const auto progress = take<SolverState::Progress>(&bytes);
  if (progress.size() != 1) throw DataError("this is not the state of a solver");
  state.progress = progress[0];
  state.newest = take<std::uint64_t>(&bytes);
  state.points = take<SolverState::Point>(&bytes);
  state.remembered = take<SolverState::Remembered>(&bytes);
  const std::int64_t rests = state.progress.num_rests;
  bool fits = bytes.empty() && rests >= 0;
  for (const auto& point : state.points) fits = fits && point.rest >= 0 && point.rest <= rests;
  for (const auto& one : state.remembered) fits = fits && one.rest >= 0 && one.rest < rests;
  if (!fits) throw DataError("the state of a solver is damaged");
  return state;
}

}  // namespace tamis::qp
