// Any bytes are a table of sparse rows or an error.
#include "native_model_mutator.hpp"
#include "parsed_data.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tamis;
  const std::string bytes(reinterpret_cast<const char*>(data), size);  // aligned, as in a file
  for (const bool is_missing : {false, true}) {
    ReadOptions options;
    options.missing_values = is_missing;
    options.text_labels = !is_missing;
    const ParseInput source = fuzz::as_source(bytes);
    fuzz::outcome([&] { return parse_csr(source, options, fuzz::reading_control()); }, is_missing);
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

// The layout is that of the models, and so are the changes that reach what is behind the header.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned int seed) {
  if (seed % 4 == 0) return LLVMFuzzerMutate(data, size, most);
  return tamis::fuzz::mutate_native_model(data, size, most, seed);
}
