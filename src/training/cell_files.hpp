// The files of a training in cells: the rows of each cell, and what was trained on them. In a
// folder that one run uses at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/group.hpp"

namespace tamis {

class CellFiles {
 public:
  /// With a checkpoint, the folder is its `cells`, which all ranks share and which stays; else one
  /// below the scratch folder, which is removed in the end. Folders that killed runs left there are
  /// removed. Throws IoError, also when another run uses the checkpoint.
  CellFiles(const RunControl& control, Group& group);
  ~CellFiles();
  CellFiles(const CellFiles&) = delete;
  CellFiles& operator=(const CellFiles&) = delete;

  const std::string& folder() const { return folder_; }
  bool is_kept() const { return is_kept_; }

  /// Whether the rows of all cells were written by an earlier run. Throws DataError if those were
  /// other rows, or options that train another model.
  bool has_all_rows(std::uint64_t fingerprint) const;
  /// Not complete: they are about to be written. The fingerprint protects what was trained.
  void set_all_rows(std::uint64_t fingerprint, bool is_complete) const;

  /// Takes the disk space for the rows of a cell at once. Throws IoError that says how much all
  /// cells need together.
  void make_rows(Index cell, std::int64_t bytes, std::int64_t bytes_of_all);
  /// At the end of what was appended so far. From one thread for a cell.
  void append_rows(Index cell, std::span<const std::byte> bytes);
  bool has_rows(Index cell) const;
  std::int64_t rows_bytes(Index cell) const;
  void read_rows(Index cell, std::int64_t offset, std::span<std::byte> to) const;
  void drop_rows(Index cell) const;

  /// What was trained on a cell. One that was cut short is of no use for another run.
  bool has_result(Index cell) const;
  std::string result_path(Index cell, bool is_whole) const;

 private:
  std::string rows_path(Index cell) const;
  bool lock_folder();

  std::string folder_;
  bool is_kept_ = false;
  int lock_ = -1;
  std::vector<std::int64_t> written_;  // by cell
};

}  // namespace tamis
