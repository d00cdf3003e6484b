#pragma once

#include <memory>
#include <vector>

#include "neighbors/cover_tree.hpp"

namespace tamis {

/// Fills the arrays of a cover tree.
class CoverTree::Builder {
 public:
  static constexpr Index kMostChildren = 32;

  Builder(CoverTree& tree, const RunControl& control);
  void run();

 private:
  struct Cell {
    std::uint32_t centre = 0;
    Index begin = 0;
    Index end = 0;
    float squared_radius = 0;  // largest computed distance of centre and rows
    bool whole = false;        // not to be divided
    std::vector<Cell> children;

    Index size() const { return end - begin; }
  };
  struct Farthest {
    float squared_distance = -1;
    std::uint32_t row = 0;
  };

  void divide(Cell& cell);
  Farthest take_centre(const Cell& cell, const Distances& packed, std::uint32_t row, Index number);
  void sort_by_owner(Cell& cell, std::span<const std::uint32_t> centres);
  void lay_out(const Cell& root);
  bool rows_equal(const Cell& cell) const;
  void poll() const;

  CoverTree& tree_;
  const Space& space_;
  const RunControl& control_;
  std::vector<std::uint32_t> rows_;
  std::vector<float> distances_;      // of each place's row to the centre that owns it
  std::vector<std::uint8_t> owners_;  // number of that centre in the cell being divided
  std::vector<std::uint32_t> moved_rows_;
  std::vector<float> moved_distances_;
};

}  // namespace tamis
