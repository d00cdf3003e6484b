// Rows to cells: every row is written to the file of its cell, and of each cell that has it in its
// halo.
#pragma once

#include <cstdint>
#include <vector>

#include "base/group.hpp"
#include "methods/local/cell_plan.hpp"
#include "svm/training_set.hpp"
#include "tamis/options.hpp"
#include "tamis/scaling.hpp"
#include "training/cell_files.hpp"

namespace tamis {

/// What is known of all rows once they were looked at.
struct LearnedRows {
  Labels classes;  ///< empty for a regression
  Scaling scaling;
  Kernel kernel;
  std::vector<double> class_factor;  ///< on C
  bool makes_dense = false;
  bool has_weights = false;  ///< on any rank

  /// A set without rows.
  TrainingSet empty_set() const;
};

/// Some rows as a method takes them. `data` are unscaled.
TrainingSet training_rows(const Dataset& data, const LearnedRows& learned,
                          const TrainOptions& options, const RunControl& control);

/// Rows of the cells. The own rows of all cells are numbered one cell after the other, and in a
/// cell as they are in the data: these numbers are their positions.
struct CellCounts {
  std::vector<Index> begin;         ///< position of the first own row of each cell; the last: all
  std::vector<Index> halo;          ///< rows in the halo of each cell
  std::vector<std::int64_t> bytes;  ///< of each cell's file
  std::uint64_t content = 0;        ///< a hash of all rows

  Index own(Index cell) const {
    return begin[static_cast<std::size_t>(cell) + 1] - begin[static_cast<std::size_t>(cell)];
  }
};

/// Of all that a model trained in cells depends on.
std::uint64_t fingerprint(const CellCounts& counts, const Labels& classes,
                          const TrainOptions& options);

class CellShuffle {
 public:
  /// `data` are the rows of this rank, all with a weight above 0. Everything must outlive this.
  CellShuffle(const Dataset& data, const LearnedRows& learned, const TrainOptions& options,
              const CellPlan& plan, const RunControl& control);

  /// First pass, on all ranks together.
  const CellCounts& count();
  /// Second pass, on all ranks together: cell c is written by rank c mod ranks. Throws IoError and
  /// Cancelled, and removes what it wrote.
  void write(CellFiles* files);

 private:
  struct Routed;

  Index num_blocks() const;
  Index block_begin(Index block) const;
  Routed route(Index block) const;
  std::vector<std::byte> pack(const Routed& routed, Index cell, Index first_position) const;
  void make_files(CellFiles* files) const;
  void write_blocks(CellFiles* files);

  const Dataset& data_;
  const LearnedRows& learned_;
  const TrainOptions& options_;
  const CellPlan& plan_;
  const RunControl& control_;
  Group& group_;
  CellCounts counts_;
  std::vector<Index> next_;  // position of this rank's next own row of each cell
};

struct ReadCell {
  TrainingSet set;                    ///< own rows, then those of the halo, both by position
  std::vector<Index> halo_positions;  ///< ascending
};
/// `like` has the columns of the rows, and is sparse if they are.
ReadCell read_cell(const CellFiles& files, Index cell, const LearnedRows& learned,
                   const TrainOptions& options, const Matrix& like);

}  // namespace tamis
