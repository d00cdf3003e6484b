// Any text is a data set or an error, and the same one for every chunk size. First byte: the
// options.
#include "parsed_data.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tamis;
  fuzz::ByteReader in(data, size);
  const std::uint8_t flags = in.byte();
  ReadOptions options;
  options.index_base = flags & 1U;
  options.text_labels = (flags >> 1U & 1U) == 0;
  options.min_features = (flags >> 2U & 1U) != 0 ? 5 : 0;
  options.max_features = (flags >> 3U & 1U) != 0 ? 3 : 0;
  const auto parse = [&](std::int64_t chunk_bytes) {
    return fuzz::outcome([&] {
      return parse_svmlight(fuzz::as_source(in.rest()), options, fuzz::reading_control(),
                            chunk_bytes);
    });
  };
  fuzz::require(parse(3) == parse(1000), "another result for another chunk size");
  return 0;
}
