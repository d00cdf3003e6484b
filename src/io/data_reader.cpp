// read_dataset(): opens, picks the format, parses.
#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <new>
#include <string_view>
#include <system_error>

#include "base/group.hpp"
#include "base/parallel.hpp"
#include "io/data_formats.hpp"
#include "io/input_bytes.hpp"
#include "io/several_files.hpp"
#include "tamis/error.hpp"
#include "tamis/io.hpp"

namespace tamis {
namespace {

constexpr std::string_view kPackedEndings[] = {".gz", ".xz", ".bz2", ".zst"};

std::string_view without_packing(std::string_view name) {
  for (const std::string_view ending : kPackedEndings) {
    if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  }
  return name;
}

// The file of labels that belongs to X.npy; empty if there is none.
std::string labels_beside(const std::string& path, const ReadOptions& options) {
  if (!options.labels_path.empty() || path == "-") return options.labels_path;
  for (const char* ending : {".labels.npy", "_labels.npy"}) {
    std::string candidate = npy_stem(path) + ending;
    std::error_code error;
    if (std::filesystem::exists(candidate, error)) return candidate;
  }
  return {};
}

Dataset parse_dataset(const std::string& path, FilePlace place, const ReadOptions& options,
                      const RunControl& control) {
  const ParseInput source{input_name(path), open_input(path, control), place};
  if (group_of(control).size() > 1 && !source.input.file && source.input.size() > 0) {
    throw InvalidArgument(
        source.name +
        ": several processes read parts of a plain file each: unpack it first, or "
        "split it into several files");
  }
  PieceBuffer head;
  DataFormat format = resolve_format(options.format, path);
  if (options.format == DataFormat::automatic) {  // no text begins like these
    const std::string_view beginning = source.input.piece(0, 256, head);
    if (is_npy(beginning)) format = DataFormat::npy;
    if (is_csr(beginning)) format = DataFormat::csr;
  }
  require_usable(source.name, format, options);
  if (format == DataFormat::csv) return parse_csv(source, options, control);
  if (format == DataFormat::csr) return parse_csr(source, options, control);
  const bool drop_labels = options.label_column == "none";
  if (format == DataFormat::svmlight) {
    const Dataset data = parse_svmlight(source, options, control);
    return drop_labels ? Dataset(data.features()) : data;
  }
  ParseInput labels;
  const std::string labels_path = drop_labels ? "" : labels_beside(path, options);
  if (!labels_path.empty())
    labels = {input_name(labels_path), open_input(labels_path, control), {}};
  return parse_npy(source, labels, options, control);
}

}  // namespace

void require_usable(const std::string& name, DataFormat format, const ReadOptions& options) {
  const bool is_npy = format == DataFormat::npy;
  const auto refuse = [&](const std::string& what) {
    throw InvalidArgument(fmt::format("{}: {}", name, what));
  };
  const bool has_label = !options.label_column.empty() && options.label_column != "none";
  if (format != DataFormat::csv && (has_label || !options.weight_column.empty()))
    refuse(fmt::format("{} has no {} column: {}; if it is CSV, give that format, else convert it",
                       is_npy                      ? "a NumPy array"
                       : format == DataFormat::csr ? "a table of sparse rows"
                                                   : "svmlight text",
                       has_label ? "label" : "weight",
                       is_npy                      ? "labels are a file of their own"
                       : format == DataFormat::csr ? "labels and weights are arrays of their own"
                                                   : "a row begins with its label"));
  if (!is_npy && !options.labels_path.empty())
    refuse("a file of labels goes with a NumPy array; here the labels are in the rows");
  if (options.index_base != 1 && format != DataFormat::svmlight)
    refuse("only svmlight text numbers its features: leave out the index base");
  if (options.labels_as_text && !options.text_labels)
    refuse("labels are to be read as text, but this task needs numbers");
}

bool has_packed_ending(std::string_view path) {
  return without_packing(path).size() != path.size();
}

std::string npy_stem(std::string_view path) {
  std::string_view stem = without_packing(path);
  if (stem.ends_with(".npy")) stem.remove_suffix(4);
  return std::string(stem);
}

std::string npy_labels_path(std::string_view path) { return npy_stem(path) + ".labels.npy"; }

DataFormat resolve_format(DataFormat format, const std::string& path) {
  if (format != DataFormat::automatic) return format;
  const std::string_view name = without_packing(path);
  if (name.ends_with(".csv") || name.ends_with(".tsv")) return DataFormat::csv;
  if (name.ends_with(".csr")) return DataFormat::csr;
  return name.ends_with(".npy") ? DataFormat::npy : DataFormat::svmlight;
}

std::vector<std::string> data_files(const std::string& path, const ReadOptions& options) {
  return expand_paths(path, options.more_files);
}

std::vector<std::string> files_read(const std::string& path, const ReadOptions& options) {
  std::vector<std::string> files = expand_paths(path, options.more_files);
  for (std::size_t f = 0, count = files.size(); f < count; ++f) {
    const bool npy = resolve_format(options.format, files[f]) == DataFormat::npy;
    const std::string labels = npy ? labels_beside(files[f], options) : options.labels_path;
    if (!labels.empty()) files.push_back(labels);
  }
  return files;
}

Dataset read_dataset(const std::string& path, const ReadOptions& options,
                     const RunControl& control) {
  if (options.min_features < 0 || options.min_features > std::numeric_limits<std::int32_t>::max()) {
    throw InvalidArgument(
        fmt::format("min_features is {}: give 0 to 2147483647", options.min_features));
  }
  if (options.max_features < 0)
    throw InvalidArgument(fmt::format("max_features is {}: give 0 or more", options.max_features));
  try {
    return with_threads(control.threads, [&] {
      const std::vector<std::string> files = expand_paths(path, options.more_files);
      if (files.size() == 1) return parse_dataset(files[0], {}, options, control);
      return read_several(files, options, control, parse_dataset);
    });
  } catch (const std::bad_alloc&) {
    throw ResourceError(input_name(path) + ": not enough memory to read it");
  }
}

}  // namespace tamis
