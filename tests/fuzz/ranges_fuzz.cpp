// Any text is a scaling or an error; a scaling can be applied, and is the same after it was
// written.
#include "format/temporary_file.hpp"
#include "memory_file.hpp"
#include "range_file.hpp"
#include "tamis/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tamis;
  const fuzz::MemoryFile file({reinterpret_cast<const char*>(data), size});
  try {
    const Scaling scaling = cli::load_ranges(file.path());
    const auto cols = static_cast<Index>(scaling.offset.size());
    std::vector<float> ones(static_cast<std::size_t>(cols), 1.0F);
    const Matrix row = Matrix::dense(1, cols, std::move(ones));
    const Matrix scaled = scaling.apply(row);
    fuzz::require(scaled.rows() == 1 && scaled.cols() == cols, "another shape after scaling");
    scaling.apply(row.to_sparse());
    scaling.apply(Matrix::dense(1, 1, {1.0F}));
    if (size % 8 != 0) return 0;  // files are slow
    const TemporaryFile written;
    cli::save_ranges(written.path(), scaling);
    const Scaling again = cli::load_ranges(written.path());
    fuzz::require(again == scaling, "another scaling after writing");
  } catch (const Error&) {
  }
  return 0;
}
