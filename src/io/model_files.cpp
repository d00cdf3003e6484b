#include "base/parallel.hpp"
#include "io/input_bytes.hpp"
#include "io/libsvm_model.hpp"
#include "io/native_model.hpp"
#include "io/output_file.hpp"
#include "tamis/error.hpp"
#include "tamis/io.hpp"

namespace tamis {

namespace {

void require_machine(const Model& model) {
  if (model.empty()) throw InvalidArgument("the model is empty: there is nothing to save");
}

}  // namespace

Model load_model(const std::string& path) {
  const std::string name = input_name(path);
  InputBytes input = read_input(path, {});
  if (input.bytes.empty()) throw DataError(name + ": not a model file: it is empty");
  return with_threads(0, [&] {
    try {
      if (is_libsvm_model(input.bytes)) return parse_libsvm_model(name, input);
      return parse_native_model(std::move(input));
    } catch (const ParseError&) {
      throw;
    } catch (const DataError& error) {
      throw DataError(name + ": " + error.what());
    }
  });
}

void save_model(const Model& model, const std::string& path, ModelFormat format) {
  require_machine(model);
  OutputFile out(path);
  if (format == ModelFormat::libsvm) {
    write_libsvm_model(model, out);
  } else {
    write_native_model(model, out);
  }
  out.commit();
}

std::string model_to_bytes(const Model& model) {
  require_machine(model);
  MemorySink sink;
  write_native_model(model, sink);
  return sink.release();
}

Model model_from_bytes(std::string bytes) {
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  return with_threads(0, [&] { return parse_native_model({*owner, owner, std::ssize(*owner)}); });
}

}  // namespace tamis
