// read_dataset(): opens, picks the format, parses.
#include <fmt/format.h>

#include <limits>
#include <new>
#include <string_view>

#include "base/parallel.hpp"
#include "io/data_formats.hpp"
#include "io/input_bytes.hpp"
#include "tamis/error.hpp"
#include "tamis/io.hpp"

namespace tamis {
namespace {

Dataset parse_dataset(const std::string& path, const ReadOptions& options,
                      const RunControl& control) {
  const ParseInput source{input_name(path), read_input(path, control)};
  return parse_svmlight(source, options, control);
}

}  // namespace

DataFormat resolve_format(DataFormat format, const std::string& path) {
  if (format != DataFormat::automatic) return format;
  std::string_view name = path;
  for (const std::string_view packed : {".gz", ".xz", ".bz2", ".zst"}) {
    if (!name.ends_with(packed)) continue;
    name.remove_suffix(packed.size());
    break;
  }
  if (name.ends_with(".csv") || name.ends_with(".tsv")) return DataFormat::csv;
  return name.ends_with(".npy") ? DataFormat::npy : DataFormat::svmlight;
}

Dataset read_dataset(const std::string& path, const ReadOptions& options,
                     const RunControl& control) {
  if (options.min_features < 0 || options.min_features > std::numeric_limits<std::int32_t>::max()) {
    throw InvalidArgument(
        fmt::format("min_features is {}: give 0 to 2147483647", options.min_features));
  }
  try {
    return with_threads(control.threads, [&] { return parse_dataset(path, options, control); });
  } catch (const std::bad_alloc&) {
    throw ResourceError(input_name(path) + ": not enough memory to read it");
  }
}

}  // namespace tamis
