#include "io/byte_sink.hpp"
#include "io/libsvm_model.hpp"
#include "io/native_model.hpp"
#include "io/output_file.hpp"
#include "model/model_parts.hpp"
#include "tamis/error.hpp"
#include "tamis/io.hpp"

namespace tamis {
namespace {

void require_machine(const Model& model) {
  if (model.empty()) throw InvalidArgument("the model is empty: there is nothing to save");
}

}  // namespace

void save_model(const Model& model, const std::string& path, ModelFormat format,
                const RunControl& control) {
  require_machine(model);
  OutputFile out(path, control);
  if (format == ModelFormat::libsvm) {
    write_libsvm_model(model, out);
  } else {
    write_native_model(model, out);
  }
  require_intact(model);
  out.commit();
}

std::int64_t model_file_bytes(const Model& model) {
  require_machine(model);
  CountingSink sink;
  write_native_model(model, sink);
  return sink.bytes();
}

std::string model_to_bytes(const Model& model) {
  require_machine(model);
  MemorySink sink;
  write_native_model(model, sink);
  require_intact(model);
  return sink.release();
}

}  // namespace tamis
