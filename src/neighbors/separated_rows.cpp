#include "neighbors/separated_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/checked.hpp"
#include "neighbors/distances.hpp"
#include "neighbors/structures.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr Index kHeldRows = Index{1} << 22;  // rows of all balls held at once, about
constexpr Index kMostBalls = 4096;
constexpr Index kFewRows = 4096;  // not worth another index
constexpr int kMostLevels = 64;

}  // namespace

Sieve::Sieve(const NeighborIndex& index, std::vector<Index> rows, float limit,
             const RunControl& control)
    : index_(index),
      control_(control),
      limit_(limit),
      rows_(std::move(rows)),
      struck_(usize(index.num_points()), 1),
      ball_size_(index.num_points()) {
  for (const Index row : rows_) {
    if (row < 0 || row >= index.num_points()) {
      throw InvalidArgument(
          fmt::format("row {}: the index has the rows 0 to {}", row, index.num_points() - 1));
    }
    left_ += struck_[usize(row)];
    struck_[usize(row)] = 0;
  }
  drop_struck_rows();
}

Sieve::~Sieve() = default;

Index Sieve::affordable_balls() const {
  return std::clamp<Index>(kHeldRows / std::max<Index>(1, ball_size_), 1, kMostBalls);
}

std::vector<std::vector<std::uint32_t>> Sieve::balls_around(std::span<const Index> points) {
  const NeighborIndex& index = subset_index_ ? *subset_index_ : index_;
  auto balls = index.unsorted_balls(index_.space().points(), points, limit_, control_);
  Index total = 0;
  for (auto& ball : balls) {
    total += static_cast<Index>(ball.size());
    if (!subset_index_) continue;
    for (std::uint32_t& place : ball) place = static_cast<std::uint32_t>(subset_[place]);
  }
  ball_size_ = total / std::max<Index>(1, static_cast<Index>(balls.size()));
  return balls;
}

void Sieve::strike(std::span<const std::uint32_t> ball) {
  for (const std::uint32_t point : ball) {
    left_ -= struck_[point] ^ 1;
    struck_[point] = 1;
  }
}

void Sieve::drop_struck_rows() {
  const Index held = subset_index_ ? static_cast<Index>(subset_.size()) : index_.num_points();
  if (index_.structure() != Structure::brute_force || held < kFewRows || left_ > held / 2) return;
  subset_.clear();
  for (std::size_t i = cursor_; i < rows_.size(); ++i) {
    if (struck_[usize(rows_[i])] == 0) subset_.push_back(rows_[i]);
  }
  subset_index_ =
      make_structure(index_.space().of_points(subset_), Structure::brute_force, control_);
}

void Sieve::strike_around(std::span<const Index> points) {
  while (!points.empty()) {
    const auto count = std::min(points.size(), usize(affordable_balls()));
    for (const auto& ball : balls_around(points.first(count))) strike(ball);
    points = points.subspan(count);
    drop_struck_rows();
  }
}

std::vector<Index> Sieve::take() {
  std::vector<Index> candidates;
  for (; cursor_ < rows_.size() && static_cast<Index>(candidates.size()) < batch_; ++cursor_) {
    if (struck_[usize(rows_[cursor_])] == 0) candidates.push_back(rows_[cursor_]);
  }
  std::vector<Index> taken;
  if (candidates.empty()) return taken;
  const auto balls = balls_around(candidates);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto row = static_cast<std::uint32_t>(candidates[i]);
    if (struck_[row] != 0) continue;
    taken.push_back(candidates[i]);
    strike(balls[i]);
    strike({&row, 1});
  }
  drop_struck_rows();
  batch_ = 2 * taken.size() >= candidates.size() ? 2 * batch_ : std::max<Index>(4, batch_ / 2);
  batch_ = std::min(batch_, affordable_balls());
  return taken;
}

std::vector<Index> separated_rows(const NeighborIndex& index, std::span<const Index> order,
                                  double squared_radius, const RunControl& control) {
  Sieve sieve(index, {order.begin(), order.end()}, index.space().internal_limit(squared_radius),
              control);
  std::vector<Index> result;
  for (auto taken = sieve.take(); !taken.empty(); taken = sieve.take())
    result.insert(result.end(), taken.begin(), taken.end());
  return result;
}

CoarseToFine::CoarseToFine(const NeighborIndex& index, Index most_separated,
                           const RunControl& control)
    : index_(index),
      control_(control),
      most_separated_(most_separated > 0 ? most_separated : index.num_points() / 8),
      given_(usize(index.num_points()), 0) {
  if (index.num_points() == 0) return;
  const std::vector<float> distances = distances_from(index.space(), 0, control);
  limit_ = std::min(*std::max_element(distances.begin(), distances.end()),
                    std::numeric_limits<float>::max());
}

CoarseToFine::~CoarseToFine() = default;

std::vector<Index> CoarseToFine::rows_left() const {
  std::vector<Index> rows;
  for (std::size_t i = 0; i < given_.size(); ++i) {
    if (given_[i] == 0) rows.push_back(static_cast<Index>(i));
  }
  return rows;
}

void CoarseToFine::start_level() {
  ++level_;
  limit_ /= 2;
  before_level_ = separated_.size();
  sieve_.emplace(index_, rows_left(), limit_, control_);
  sieve_->strike_around(separated_);
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
      if (separated_.size() > before_level_) continue;
      // Nothing new: perhaps the rest are copies of rows given, which no level separates.
      Sieve copies(index_, rows_left(), 0.0F, control_);
      copies.strike_around(separated_);
      if (copies.take().empty()) break;
    }
  }
  if (rows.empty()) {
    done_ = true;
    level_ = -1;
    return rows_left();
  }
  separated_.insert(separated_.end(), rows.begin(), rows.end());
  for (const Index row : rows) given_[usize(row)] = 1;
  return rows;
}

}  // namespace tamis
