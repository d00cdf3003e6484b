#include "reading.hpp"

namespace tamis::cli {

Dataset read_test_rows(Session& session, const std::string& path, ReadOptions read,
                       const Dataset& rows, const TrainOptions& options) {
  read.min_features = rows.cols();
  if (options.kernel_or_default() != KernelType::precomputed) {
    read.max_features = rows.cols();
    read.columns = ColumnMap::fit(
        rows, {options.missing, options.text_columns, options.max_categories}, session.control());
  }
  return session.timed("read", [&] { return read_dataset(path, read, session.control()); });
}

std::string display_name(const std::string& path) { return path == "-" ? "standard input" : path; }

}  // namespace tamis::cli
