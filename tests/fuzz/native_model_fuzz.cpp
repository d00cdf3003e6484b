// Any bytes are a model or an error; a model predicts, and is the same after it was written. No
// single piece of memory may be much larger than the file: tools/fuzz sets the limit.
#include "model_checks.hpp"
#include "native_model_mutator.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tamis;
  try {
    const Model model = model_from_bytes({reinterpret_cast<const char*>(data), size});
    const Matrix rows = fuzz::tiny_rows(std::max<Index>(1, model.num_features()));
    const DecisionValues values = fuzz::check_predictions(model, rows);
    fuzz::check_round_trip(model, rows, values);
  } catch (const Error&) {
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

// One change in four is one of plain bytes, which breaks nearly every header.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned int seed) {
  if (seed % 4 == 0) return LLVMFuzzerMutate(data, size, most);
  return tamis::fuzz::mutate_native_model(data, size, most, seed);
}
