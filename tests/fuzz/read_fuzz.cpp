// Entry point for libFuzzer: any bytes must give a data set or a tamis::Error, and the same one for
// every chunk size. Build with clang -fsanitize=fuzzer, or replay with replay_main.cpp.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/parallel.hpp"
#include "io/data_formats.hpp"
#include "tamis/error.hpp"

namespace {

using namespace tamis;

// What came out, as text: the error, or the shape and a digest of the values.
std::string outcome(std::string_view bytes, std::uint8_t choice, std::int64_t chunk_bytes) {
  ReadOptions options;
  options.index_base = choice >> 2U & 1U;
  options.text_labels = (choice >> 3U & 1U) == 0;
  if ((choice >> 4U & 1U) != 0) options.label_column = "none";
  if ((choice >> 5U & 1U) != 0) options.weight_column = "1";
  RunControl control;
  control.memory_bytes = std::int64_t{64} << 20;
  const ParseInput source{"input", {bytes, nullptr, 0}};
  try {
    const Dataset data = with_threads(2, [&] {
      if (choice % 4 == 0) return parse_csv(source, options, control, chunk_bytes);
      if (choice % 4 == 1) return parse_npy(source, {}, options, control);
      return parse_svmlight(source, options, control, chunk_bytes);
    });
    double sum = 0;
    for (Index i = 0; i < data.rows() && !data.features().is_sparse(); ++i) {
      for (const float value : data.features().dense_row(i)) sum = sum * 0.5 + value;
    }
    return std::to_string(data.rows()) + "x" + std::to_string(data.cols()) + " " +
           std::to_string(sum) + (data.labels().empty() ? "" : data.labels().name(data.rows() - 1));
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  if (outcome(bytes, data[0], 3) != outcome(bytes, data[0], 1000)) std::abort();
  return 0;
}
