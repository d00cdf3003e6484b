// Cells: the space cut into boxes with about as many rows each, for local SVMs on more rows than
// are trained at once. A cell has its own rows, among which centers are chosen, and a halo: rows of
// other cells near its box, so that the nearest rows of a center are found inside the cell.
#pragma once

#include <span>
#include <vector>

#include "tamis/control.hpp"
#include "tamis/dataset.hpp"

namespace tamis {

/// Where a cell is: a box, and how far its halo reaches.
struct CellBox {
  /// Values of one column in the box: lower <= value < upper.
  struct Face {
    Index column = 0;
    float lower = 0;
    float upper = 0;
  };
  std::vector<Face> faces;
  /// Rows up to this far from the box are in the halo; Euclidean. Negative: there is none.
  double width = 0;

  /// Of a row from the box.
  double squared_distance(const Matrix& features, Index row) const;
  /// All rows this close to the given one, which is in the box, are the cell's own or in its halo.
  ///
  /// A row z outside the halo has coordinates beyond faces of the box by v_j, with sum v_j^2 >
  /// width^2. The row x inside is at least m away from each face, so |x_j - z_j| >= m + v_j there:
  /// |x - z| > width + m.
  double safe_distance(const Matrix& features, Index row) const;
};

class CellPlan {
 public:
  /// One cell, without halo.
  CellPlan();
  /// Halves the sample at the column that varies most, again and again, in proportion to the cells
  /// on both sides: at most `cells`, fewer where rows cannot be told apart. `rows` is the number
  /// of rows that the sample was drawn from, `k` that of a neighborhood. Depends on the arguments
  /// alone, not on threads. Throws Cancelled.
  CellPlan(const Matrix& sample, Index rows, Index cells, Index k, const RunControl& control);

  Index size() const { return static_cast<Index>(cells_.size()); }
  Index cell_of(const Matrix& features, Index row) const;
  /// Appends the other cells that have the row in their halo.
  void append_halos(const Matrix& features, Index row, Index own, std::vector<Index>* cells) const;

  const CellBox& box(Index cell) const { return cells_[static_cast<std::size_t>(cell)]; }

 private:
  struct Node {
    Index column = -1;  // -1: a cell
    float threshold = 0;
    Index right = 0;  // the left child is the next node
    Index cell = -1;
    double width = 0;  // the largest below
  };

  void split(const Matrix& sample, std::span<Index> rows, Index cells,
             std::vector<CellBox::Face> faces);
  void set_widths(const Matrix& sample, Index rows, Index k, const RunControl& control);

  std::vector<Node> nodes_;
  std::vector<CellBox> cells_;
  std::vector<std::vector<Index>> sample_rows_;  // of each cell, while the plan is made
};

/// How many rows such a plan is made from: enough for every cell, within 256 MiB.
Index cell_sample_rows(Index rows, Index cols, Index cells);

}  // namespace tamis
