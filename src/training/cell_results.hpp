// What was trained on the cells: a file for each, and the model of all.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/array_file.hpp"
#include "methods/local/cell_training.hpp"
#include "model/local_models.hpp"
#include "svm/binary_task.hpp"

namespace tamis {

/// Of a cell, for the report.
struct CellFacts {
  MachineStats stats;
  Index machines = 0;  ///< binary SVMs
  Index centres = 0;
  Index constants = 0;  ///< centers whose neighborhood has one class
  Index inexact = 0;    ///< centers whose neighborhood may lack rows
  Index k_prime = 0;
  double index_seconds = 0;
  double cover_seconds = 0;
  double train_seconds = 0;
};

struct FinishedCell {
  LocalParts parts;
  std::vector<Index> outside;  ///< positions of the last rows of the parts, which are of the halo
  CellFacts facts;
};

/// `halo_positions` are those of the rows that were not the cell's own.
FinishedCell finish_cell(CellResult trained, Index own, std::span<const Index> halo_positions);

/// The file of a finished cell: a local-models machine, and the rest (docs/model_format.md has the
/// layout of tensor files).
void write_cell(const FinishedCell& cell, const std::string& path);
/// The same in memory.
std::string cell_to_bytes(const FinishedCell& cell);
/// Throws DataError, without the name of a file.
FinishedCell parse_cell(std::string bytes);

/// Puts the cells together, in files without names in a folder. What is held in memory does not
/// grow with the model.
class CellAssembly {
 public:
  /// `rows_are_anchors`: the model has all own rows of all cells, by position, and each is an
  /// anchor. Each cell must have all of its own rows then.
  CellAssembly(const std::string& folder, bool rows_are_anchors);
  ~CellAssembly();
  CellAssembly(const CellAssembly&) = delete;
  CellAssembly& operator=(const CellAssembly&) = delete;

  void add(const FinishedCell& cell);
  bool empty() const;
  /// The machine looks at the files. Call once, last.
  std::shared_ptr<const LocalModels> finish();

 private:
  struct Arrays;
  void add_rows(const Matrix& rows, Index count);

  bool rows_are_anchors_;
  std::unique_ptr<Arrays> arrays_;
};

}  // namespace tamis
