// load_model(): the one place where reading models and the solver meet. A model that trains when it
// predicts (k-NN SVM) is handed its trainer here.
#include "base/parallel.hpp"
#include "io/input_bytes.hpp"
#include "io/libsvm_model.hpp"
#include "io/native_model.hpp"
#include "model/model_parts.hpp"
#include "svm/train_local.hpp"
#include "tamis/error.hpp"
#include "tamis/io.hpp"

namespace tamis {

Model load_model(const std::string& path, const RunControl& control) {
  const std::string name = input_name(path);
  InputBytes input = read_input(path, control, true);
  if (input.bytes.empty()) throw DataError(name + ": not a model file: it is empty");
  const auto file = input.mapped;
  const bool is_native = !is_libsvm_model(input.bytes);
  Model model = with_threads(control.threads, [&] {
    try {
      return is_native ? parse_native_model(std::move(input), train_for_query)
                       : parse_libsvm_model(name, input, control);
    } catch (const ParseError&) {
      throw;
    } catch (const DataError& error) {
      throw DataError(name + ": " + error.what());
    }
  });
  if (!file) return model;
  file->require_intact();
  return is_native ? in_file(model, file) : model;
}

Model model_from_bytes(std::string bytes) {
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  return with_threads(0, [&] {
    return parse_native_model({*owner, owner, std::ssize(*owner), nullptr, nullptr},
                              train_for_query);
  });
}

}  // namespace tamis
