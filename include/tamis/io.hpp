// Reading and writing data and models.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/columns.hpp"
#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/export.hpp"
#include "tamis/model.hpp"

namespace tamis {

enum class DataFormat { automatic, svmlight, csv, npy, csr };

struct ReadOptions {
  /// automatic: by the name's ending (.csv, .tsv, .npy, .csr, anything else: svmlight), compression
  /// endings stripped.
  DataFormat format = DataFormat::automatic;
  /// Further files, read after the first; their rows follow its rows. Each may be a pattern too.
  std::vector<std::string> more_files = {};
  /// svmlight: number of the first feature, 0 or 1.
  int index_base = 1;
  /// csv: the label's column, by name or by number from 1; empty: a column called label, class,
  /// target or y, or else the last one. "none", in any format: without labels.
  std::string label_column;
  /// csv: the column of row weights, by name or number; empty: none.
  std::string weight_column;
  /// npy: the file of labels; empty: X.labels.npy or X_labels.npy next to X.npy if it exists.
  std::string labels_path;
  /// Minimum number of columns, so that test rows match their model; default: those of the file.
  Index min_features = 0;
  /// svmlight: features above this number are ignored, with a remark, because no training row had
  /// them. Default (0): no limit. For csv and npy files a different number of columns is an error
  /// instead.
  Index max_features = 0;
  /// Labels may be words. When false, a label that is not a number is an error that names its
  /// place.
  bool text_labels = true;
  /// Every label is text as it is written, also one that looks like a number. Else labels are
  /// numbers, or words if at least half of them are; a word among more numbers is an error that
  /// names its place. Whole numbers that a double would round are kept apart, as text, where
  /// text_labels allows that.
  bool labels_as_text = false;
  /// Values may be missing: `nan` in any case, and in csv also an empty cell, `NA` and `?`. They
  /// are NaN then. When false, they are an error that names its place.
  bool missing_values = false;
  /// csv: columns of words are read as categories (Dataset::categories). A column is text if at
  /// least half of its values in the first 1,000 rows are no numbers; a word in another column is
  /// an error that names its place. The first line is then a header only if none of its fields is a
  /// number.
  bool text_columns = false;
  /// csv: those of the model that the rows are for. Its text columns are read as text, missing
  /// values are allowed if it allows them, columns that it does not know are ignored, and
  /// no column that it knows is taken for the label.
  ColumnMap columns = {};
};

/// Reads a whole data file; "-" is standard input. .gz, .xz, .bz2 and .zst are unpacked on the way.
/// A .npy of float32 in C order and a .csr of 16 MiB or more are not read but mapped: they take no
/// memory, and must not change while they are used (Dataset::require_intact). Their values are
/// checked once; the user's cache folder remembers that.
/// A path that is no file's name may be a pattern with `*`, `?` and `[..]`: the files whose names
/// match are read one after the other, ascending by name. Throws ParseError (file:line:column),
/// DataError or IoError. Never returns zero rows. With RunControl::group, each process gets its own
/// part of the rows of a plain file, or of several files, in the order of the ranks; that part may
/// be empty.
TAMIS_EXPORT Dataset read_dataset(const std::string& path, const ReadOptions& options = {},
                                  const RunControl& control = {});

/// The format that `automatic` stands for, given the name of the file.
TAMIS_EXPORT DataFormat resolve_format(DataFormat format, const std::string& path);

/// The data files that `path` and ReadOptions::more_files stand for, in the order of their rows.
/// Throws IoError for a pattern that no file's name matches.
TAMIS_EXPORT std::vector<std::string> data_files(const std::string& path,
                                                 const ReadOptions& options = {});

/// The files that read_dataset() opens: data_files(), and then labels where these are files of
/// their own.
TAMIS_EXPORT std::vector<std::string> files_read(const std::string& path,
                                                 const ReadOptions& options = {});

struct WriteOptions {
  DataFormat format = DataFormat::automatic;
  int index_base = 1;
};

/// The files that write_dataset() may write: `path`, and the labels of a NumPy array.
TAMIS_EXPORT std::vector<std::string> files_written(const std::string& path,
                                                    const WriteOptions& options = {});

/// Writes to a temporary file next to the target and renames it, so that an existing file is never
/// half overwritten; "-" is standard output. With RunControl::group, the first process writes the
/// rows of all, which the others send in pieces.
TAMIS_EXPORT void write_dataset(const std::string& path, const Dataset& data,
                                const WriteOptions& options = {}, const RunControl& control = {});

struct Converted {
  Index rows = 0;
  Index cols = 0;
  bool continued = false;  ///< where a run that was stopped had left off
};

/// read_dataset() and write_dataset(). Text of 64 MiB or more in a plain file is converted block by
/// block, with bounded memory: what was parsed lies in a folder OUTPUT.parts until the output is
/// whole, and a second run of the same conversion continues there. Labels that are text take 4
/// bytes of memory per row, row weights 8.
TAMIS_EXPORT Converted convert_dataset(const std::string& input, const ReadOptions& read,
                                       const std::string& output, const WriteOptions& write = {},
                                       const RunControl& control = {});

/// Any other text, such as predictions and reports, written the same way as write_dataset(): with
/// RunControl::group the texts of all processes, one after the other.
TAMIS_EXPORT void write_text(const std::string& path, std::string_view text,
                             const RunControl& control = {});

class OutputFile;  // of the library itself

/// The same for text that is made piece by piece. Without commit(), nothing is left of it.
class TAMIS_EXPORT TextWriter {
 public:
  explicit TextWriter(const std::string& path, const RunControl& control = {});
  ~TextWriter();
  TextWriter(const TextWriter&) = delete;
  TextWriter& operator=(const TextWriter&) = delete;
  void write(std::string_view text);
  /// Puts the file in place. Call once, last.
  void commit();

 private:
  std::unique_ptr<OutputFile> file_;
};

enum class ModelFormat { native, libsvm };

/// Reads either format, recognized by its content; "-" is standard input. Every count and index is
/// checked before use. Throws DataError or IoError, ResourceError when the file does not fit into
/// the memory budget, Cancelled.
TAMIS_EXPORT Model load_model(const std::string& path, const RunControl& control = {});
TAMIS_EXPORT void save_model(const Model& model, const std::string& path,
                             ModelFormat format = ModelFormat::native,
                             const RunControl& control = {});
/// Bytes of the file that save_model() would write in the native format.
TAMIS_EXPORT std::int64_t model_file_bytes(const Model& model);

/// What save_model() writes in its native format, and the model of such bytes, which it keeps.
TAMIS_EXPORT std::string model_to_bytes(const Model& model);
/// Throws DataError as load_model() does.
TAMIS_EXPORT Model model_from_bytes(std::string bytes);

}  // namespace tamis
