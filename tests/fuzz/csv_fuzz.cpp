// Any text is a data set or an error, and the same one for every chunk size. First byte: the
// options; then a line each for the names of the label and the weight column, if they say so.
#include "parsed_data.hpp"

namespace {

// Those of a model: a text column and a number that may be missing.
tamis::ColumnMap some_columns() {
  tamis::ColumnMap columns;
  columns.inputs = 2;
  columns.names = {"a", "b"};
  columns.fills = {0, 1};
  columns.indicators = {1};
  columns.texts = {{0, {"x", "y"}, true}};
  return columns;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tamis;
  fuzz::ByteReader in(data, size);
  const std::uint8_t flags = in.byte();
  ReadOptions options;
  if ((flags & 1U) != 0) options.label_column = in.line();
  if ((flags >> 1U & 1U) != 0) options.weight_column = in.line();
  options.text_labels = (flags >> 2U & 1U) == 0;
  options.min_features = (flags >> 3U & 1U) != 0 ? 5 : 0;
  options.missing_values = (flags >> 4U & 1U) != 0;
  options.text_columns = (flags >> 5U & 1U) != 0;
  if ((flags >> 6U & 1U) != 0) options.columns = some_columns();
  const auto parse = [&](std::int64_t chunk_bytes) {
    return fuzz::outcome(
        [&] {
          const Dataset rows =
              parse_csv(fuzz::as_source(in.rest()), options, fuzz::reading_control(), chunk_bytes);
          if (options.columns.inputs > 0)
            options.columns.apply(options.columns.match(rows).features());
          return rows;
        },
        options.missing_values || options.columns.inputs > 0);
  };
  fuzz::require(parse(3) == parse(1000), "another result for another chunk size");
  return 0;
}
