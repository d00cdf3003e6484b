// Any bytes are an array or an error; likewise any array of labels that comes with it. First two
// bytes: the length of the features' file, of which 0 means all; the labels' follows.
#include "npy_mutator.hpp"
#include "parsed_data.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tamis;
  fuzz::ByteReader in(data, size);
  const std::size_t length = in.take<std::uint16_t>();
  ReadOptions options;
  options.text_labels = (length & 1U) == 0;
  const ParseInput features = fuzz::as_source(in.bytes(length == 0 ? size : length));
  const ParseInput labels = fuzz::as_source(in.rest());
  fuzz::outcome([&] { return parse_npy(features, labels, options, fuzz::reading_control()); });
  return 0;
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

// Every other change is one of plain bytes, which breaks most headers.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned int seed) {
  if (seed % 2 == 0) return LLVMFuzzerMutate(data, size, most);
  return tamis::fuzz::mutate_npy(data, size, most, seed);
}
