// load_model(): the one place where reading models and the solver meet. A model that trains when it
// predicts (k-NN SVM) is handed its trainer here.
#include "base/parallel.hpp"
#include "io/input_bytes.hpp"
#include "io/libsvm_model.hpp"
#include "io/native_model.hpp"
#include "svm/train_local.hpp"
#include "tamis/error.hpp"
#include "tamis/io.hpp"

namespace tamis {

Model load_model(const std::string& path, const RunControl& control) {
  const std::string name = input_name(path);
  InputBytes input = read_input(path, control);
  if (input.bytes.empty()) throw DataError(name + ": not a model file: it is empty");
  return with_threads(control.threads, [&] {
    try {
      if (is_libsvm_model(input.bytes)) return parse_libsvm_model(name, input, control);
      return parse_native_model(std::move(input), train_for_query);
    } catch (const ParseError&) {
      throw;
    } catch (const DataError& error) {
      throw DataError(name + ": " + error.what());
    }
  });
}

Model model_from_bytes(std::string bytes) {
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  return with_threads(0, [&] {
    return parse_native_model({*owner, owner, std::ssize(*owner)}, train_for_query);
  });
}

}  // namespace tamis
