#include "neighbors/separated_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/checked.hpp"
#include "neighbors/distances.hpp"
#include "neighbors/structures.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr Index kFirstBatch = 64;
constexpr Index kMostBatch = 1024;
constexpr Index kFewToSeparate = 64;  // rows compared with each other, all pairs
constexpr Index kFewRows = 4096;      // not worth another index
constexpr int kMostLevels = 64;

// separated_rows() of a few points of a space, by all their distances.
std::vector<Index> separated_among_few(const Space& space, std::span<const Index> rows,
                                       float limit) {
  const auto count = static_cast<Index>(rows.size());
  const Index stride = round_up(count, kPanel);
  std::vector<float> distances(usize(count * stride));
  const std::vector<float> self = space.self_values(space.points(), rows);
  Distances(space, rows).evaluate(space.points(), rows, self, 0, count, distances.data(), stride);
  std::vector<Index> taken;  // positions
  for (Index i = 0; i < count; ++i) {
    if (std::none_of(taken.begin(), taken.end(),
                     [&](Index j) { return distances[usize(i * stride + j)] <= limit; }))
      taken.push_back(i);
  }
  for (Index& position : taken) position = rows[usize(position)];
  return taken;
}

// The same of more: those of the first half strike out rows of the second.
std::vector<Index> separated_among(const Space& space, std::vector<Index> rows, float limit,
                                   const RunControl& control) {
  if (static_cast<Index>(rows.size()) <= kFewToSeparate)
    return separated_among_few(space, rows, limit);
  const auto half = rows.begin() + static_cast<Index>(rows.size() / 2);
  std::vector<Index> taken = separated_among(space, {rows.begin(), half}, limit, control);
  rows.erase(rows.begin(), half);
  std::vector<std::uint8_t> struck(rows.size(), 0);
  make_structure(space.of_points(rows), Structure::brute_force, control)
      ->mark_within(space.points(), taken, limit, struck, control);
  std::size_t left = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (struck[i] == 0) rows[left++] = rows[i];
  }
  rows.resize(left);
  const std::vector<Index> more = separated_among(space, std::move(rows), limit, control);
  taken.insert(taken.end(), more.begin(), more.end());
  return taken;
}

}  // namespace

Sieve::Sieve(const NeighborIndex& index, std::span<const Index> rows, float limit,
             const RunControl& control)
    : index_(index),
      control_(control),
      limit_(limit),
      rows_(rows),
      struck_(usize(index.num_points()), 1),
      batch_(kFirstBatch) {
  for (const Index row : rows_) {
    if (row < 0 || row >= index.num_points()) {
      throw InvalidArgument(
          fmt::format("row {}: the index has the rows 0 to {}", row, index.num_points() - 1));
    }
    struck_[usize(row)] = 0;
  }
  drop_struck_rows();
}

Sieve::~Sieve() = default;

void Sieve::drop_struck_rows() {
  if (index_.structure() != Structure::brute_force) return;
  const Index held = subset_index_ ? subset_index_->num_points() : index_.num_points();
  if (held < kFewRows || std::count(struck_.begin(), struck_.end(), 0) > held / 2) return;
  subset_.clear();
  for (std::size_t i = cursor_; i < rows_.size(); ++i) {
    if (struck_[usize(rows_[i])] == 0) subset_.push_back(rows_[i]);
  }
  subset_index_ =
      make_structure(index_.space().of_points(subset_), Structure::brute_force, control_);
}

void Sieve::strike_around(std::span<const Index> points) {
  const Matrix& matrix = index_.space().points();
  if (!subset_index_) {
    index_.mark_within(matrix, points, limit_, struck_, control_);
  } else {
    std::vector<std::uint8_t> marks(subset_.size(), 0);
    subset_index_->mark_within(matrix, points, limit_, marks, control_);
    for (std::size_t i = 0; i < marks.size(); ++i) struck_[usize(subset_[i])] |= marks[i];
  }
  drop_struck_rows();
}

std::vector<Index> Sieve::take() {
  std::vector<Index> candidates;
  for (; cursor_ < rows_.size() && static_cast<Index>(candidates.size()) < batch_; ++cursor_) {
    if (struck_[usize(rows_[cursor_])] == 0) candidates.push_back(rows_[cursor_]);
  }
  if (candidates.empty()) return candidates;
  const auto count = static_cast<Index>(candidates.size());
  std::vector<Index> taken =
      separated_among(index_.space(), std::move(candidates), limit_, control_);
  for (const Index row : taken) struck_[usize(row)] = 1;
  strike_around(taken);
  const bool mostly_taken = 2 * static_cast<Index>(taken.size()) >= count;
  batch_ = std::clamp(mostly_taken ? 2 * count : count / 2, kFirstBatch, kMostBatch);
  return taken;
}

std::vector<Index> separated_rows(const NeighborIndex& index, std::span<const Index> order,
                                  double squared_radius, const RunControl& control) {
  Sieve sieve(index, order, index.space().internal_limit(squared_radius), control);
  std::vector<Index> result;
  for (auto taken = sieve.take(); !taken.empty(); taken = sieve.take())
    result.insert(result.end(), taken.begin(), taken.end());
  return result;
}

CoarseToFine::CoarseToFine(const NeighborIndex& index, Index most_separated,
                           const RunControl& control, Index rows)
    : index_(index),
      control_(control),
      most_separated_(most_separated > 0 ? most_separated : index.num_points() / 8),
      given_(usize(index.num_points()), 0),
      left_(usize(rows > 0 ? rows : index.num_points())) {
  std::iota(left_.begin(), left_.end(), Index{0});
  if (left_.empty()) return;
  const std::vector<float> distances = distances_from(index.space(), 0, control);
  limit_ = std::min(*std::max_element(distances.begin(), distances.begin() + std::ssize(left_)),
                    std::numeric_limits<float>::max());
}

CoarseToFine::~CoarseToFine() = default;

void CoarseToFine::start_level() {
  ++level_;
  limit_ /= 2;
  before_level_ = separated_.size();
  std::erase_if(left_, [&](Index row) { return given_[usize(row)] != 0; });
  sieve_.emplace(index_, left_, limit_, control_);
  sieve_->strike_around(separated_);
}

// Copies of rows given, which no level separates.
bool CoarseToFine::only_copies_left() {
  Sieve sieve(index_, left_, 0.0F, control_);
  sieve.strike_around(separated_);
  return sieve.take().empty();
}

std::vector<Index> CoarseToFine::next() {
  if (done_ || given_.empty()) return {};
  std::vector<Index> rows;
  if (separated_.empty()) {
    rows = {0};
  } else {
    while (limit_ > 0 && level_ < kMostLevels &&
           static_cast<Index>(separated_.size()) < most_separated_) {
      if (!sieve_) start_level();
      rows = sieve_->take();
      if (!rows.empty()) break;
      sieve_.reset();
      if (separated_.size() == before_level_ && only_copies_left()) break;
    }
  }
  if (rows.empty()) {
    done_ = true;
    level_ = -1;
    std::erase_if(left_, [&](Index row) { return given_[usize(row)] != 0; });
    return std::move(left_);
  }
  separated_.insert(separated_.end(), rows.begin(), rows.end());
  for (const Index row : rows) given_[usize(row)] = 1;
  return rows;
}

}  // namespace tamis
