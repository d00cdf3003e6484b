// Any text that begins like a LIBSVM model is a model or an error; a model predicts, and is the
// same after it was written in either format. LIBLINEAR's models, which are refused, are among the
// seeds.
#include "base/parallel.hpp"
#include "format/temporary_file.hpp"
#include "io/libsvm_model.hpp"
#include "memory_file.hpp"
#include "model_checks.hpp"

namespace {

using namespace tamis;

// Not every model can be written as text: scaling, for example, has no place there.
void check_text_round_trip(const Model& model, const Matrix& rows) {
  const TemporaryFile file;
  try {
    save_model(model, file.path(), ModelFormat::libsvm);
  } catch (const DataError&) {
    return;
  }
  const Model again = load_model(file.path());
  fuzz::require(predict(again, rows) == predict(model, rows), "other labels after writing as text");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile file({reinterpret_cast<const char*>(data), size});
  try {
    const Model model = load_model(file.path(), fuzz::model_control(2));
    const Matrix rows = fuzz::tiny_rows(std::max<Index>(1, model.num_features()));
    const DecisionValues values = fuzz::check_predictions(model, rows);
    fuzz::check_round_trip(model, rows, values);
    if (size % 8 == 0) check_text_round_trip(model, rows);  // files are slow
  } catch (const Error&) {
  }
  return 0;
}
