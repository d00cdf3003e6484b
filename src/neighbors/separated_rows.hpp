// Rows that keep a distance from each other.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "neighbors/neighbor_index.hpp"

namespace tamis {

/// Goes through rows in a given order and takes each one that lies within the radius of none taken
/// before. Instead of asking every row for the rows taken so far, each row taken strikes out the
/// rows around it: the answer of the naive scan, with a ball query a row taken and nothing for the
/// others. Rows not struck out yet are taken some at a time: first it is found which of them
/// remain among themselves, then these strike together, on all threads.
class Sieve {
 public:
  /// `rows` are points of `index`; both must outlive the sieve. `limit` is the squared radius as
  /// Space::internal_limit() gives it.
  Sieve(const NeighborIndex& index, std::span<const Index> rows, float limit,
        const RunControl& control);
  ~Sieve();
  Sieve(const Sieve&) = delete;
  Sieve& operator=(const Sieve&) = delete;

  /// Strikes out what lies within the radius of these points.
  void strike_around(std::span<const Index> points);
  /// The next rows taken, in order; empty when there are no more.
  std::vector<Index> take();

 private:
  void drop_struck_rows();

  const NeighborIndex& index_;
  RunControl control_;
  float limit_;
  std::span<const Index> rows_;
  std::size_t cursor_ = 0;
  std::vector<std::uint8_t> struck_;  // by point; also set for points that are not among the rows
  Index batch_;                       // rows looked at next
  // Brute force looks at fewer points once many are struck out: an index over `subset_`.
  std::vector<Index> subset_;
  std::unique_ptr<NeighborIndex> subset_index_;
};

/// The rows of `order`, points of `index`, that have no row of the result before them within the
/// radius.
std::vector<Index> separated_rows(const NeighborIndex& index, std::span<const Index> order,
                                  double squared_radius, const RunControl& control = {});

/// All points from coarse to fine: an order in which every prefix is spread over the data. Row 0 is
/// level 0. Level j + 1 adds, in order of their numbers, the rows farther than r_{j+1} from every
/// row so far, where r_0 is the distance of the row farthest from row 0 and r_{j+1} = r_j / sqrt 2:
/// the nested maximal separated sets S_j of FaLK-SVM (Segata and Blanzieri 2010, eq. 10 and 11),
/// which the levels of a cover tree approximate. Depends on the distances alone, not on the
/// structure of the index.
class CoarseToFine {
 public:
  /// After `most_separated` rows (0: an eighth of them) or 64 levels, the rest follows in order of
  /// row numbers. `rows` > 0: goes through the first so many points only, and measures these alone.
  /// `index` must outlive this.
  explicit CoarseToFine(const NeighborIndex& index, Index most_separated = 0,
                        const RunControl& control = {}, Index rows = 0);
  ~CoarseToFine();
  CoarseToFine(const CoarseToFine&) = delete;
  CoarseToFine& operator=(const CoarseToFine&) = delete;

  /// The next rows of the order, some at a time as they are found; empty when all were given.
  std::vector<Index> next();
  /// The level of the rows last given; -1 for the rest.
  int level() const { return level_; }

 private:
  void start_level();
  bool only_copies_left();

  const NeighborIndex& index_;
  RunControl control_;
  Index most_separated_;
  int level_ = 0;
  float limit_ = 0;
  std::vector<Index> separated_;
  std::size_t before_level_ = 0;  // rows separated when the level began
  std::vector<std::uint8_t> given_;
  std::vector<Index> left_;  // rows not given when the level began
  std::optional<Sieve> sieve_;
  bool done_ = false;
};

}  // namespace tamis
