// Rows to bytes in parallel, bytes to a file in order.
#pragma once

#include <string>

#include "io/output_file.hpp"
#include "tamis/control.hpp"
#include "tamis/dataset.hpp"

namespace tamis {

/// Turns one row into bytes. Called from many threads.
class RowFormatter {
 public:
  RowFormatter() = default;
  RowFormatter(const RowFormatter&) = delete;
  RowFormatter& operator=(const RowFormatter&) = delete;
  virtual ~RowFormatter() = default;
  virtual void append(Index row, std::string& out) const = 0;
};

/// Writes all rows of `data`; holds a few blocks of about 400 KB a thread.
void write_rows(OutputFile& file, const RowFormatter& formatter, const Dataset& data,
                const RunControl& control);

/// X.npy as float32, and its labels, if any, as X.labels.npy.
void write_npy(const std::string& path, const Dataset& data, const RunControl& control);

}  // namespace tamis
