#include <fmt/format.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "session.hpp"
#include "tamis/error.hpp"
#include "tamis/io.hpp"
#include "tamis/text.hpp"

namespace tamis::cli {
namespace {

// A LIBSVM model starts with "svm_type "; a native one with the length of its header, eight bytes
// of which the last are zero, and a brace. No data file can: text holds no zero bytes, and the
// marks of .npy and of compressed files differ. Pipes are never looked at, for that would eat them.
bool looks_like_model(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::array<char, 256> head{};
  std::ifstream in(path, std::ios::binary);
  in.read(head.data(), head.size());
  if (in.bad()) throw IoError(path + ": cannot read");
  if (in.gcount() < 9) return false;
  const std::string_view beginning(head.data(), static_cast<std::size_t>(in.gcount()));
  if (beginning.find(R"("format":"tamis-rows")") != std::string_view::npos) return false;
  if (std::memcmp(head.data(), "svm_type ", 9) == 0) return true;
  return head[8] == '{' && head[5] == 0 && head[6] == 0 && head[7] == 0;
}

class ConvertCommand : public Command {
 public:
  ConvertCommand() : Command("convert", "change the format of data or of a model") {}

  void declare(Options& options) override {
    options.argument("DATA", input_, true, "data or a model, recognized by its content");
    options.output("-o,--output", output_, "output file; - is standard output").required = true;
    options.choice(
        "--to", to_, {"svmlight", "csv", "npy", "csr", "native", "libsvm"}, "NAME",
        "format of the output: one of the first four for data (default: by its name), one "
        "of the last two for a model");
    options.index_base("--output-index-base", write_.index_base,
                       "svmlight: number of the first feature in the output");
    options.reading(read_);
    options.common(common_);
    options.example(
        "tamis convert train.csv --label price -o train.svm\n"
        "tamis convert train.model --to libsvm -o train.libsvm");
  }

  int run(Session& session) override {
    if (to_ == "svmlight") write_.format = DataFormat::svmlight;
    if (to_ == "csv") write_.format = DataFormat::csv;
    if (to_ == "npy") write_.format = DataFormat::npy;
    if (to_ == "csr") write_.format = DataFormat::csr;
    session.files()
        .reads("DATA", input_, read_)
        .writes("--output", output_, write_, "DATA")
        .require_distinct();
    if (looks_like_model(input_))
      convert_model(session);
    else
      convert_data(session);
    session.report()["input"] = input_;
    session.report()["output"] = output_;
    return kExitOk;
  }

 private:
  void convert_model(Session& session) {
    if (to_ != "native" && to_ != "libsvm")
      throw UsageError(fmt::format("{} is a model: --to is {}, give native or libsvm", input_,
                                   to_.empty() ? "missing" : "'" + to_ + "'"));
    const Model model =
        session.timed("load", [&] { return load_model(input_, session.control()); });
    const auto format = to_ == "libsvm" ? ModelFormat::libsvm : ModelFormat::native;
    session.timed("write", [&] { save_model(model, output_, format, session.writing()); });
    session.report()["kind"] = "model";
    session.report()["format"] = to_;
    if (output_ != "-") session.note(fmt::format("{}: {}", output_, model.describe()));
  }

  void convert_data(Session& session) {
    if (to_ == "native" || to_ == "libsvm")
      throw UsageError(fmt::format(
          "{} is not a model: --to is '{}', give svmlight, csv, npy or csr for data", input_, to_));
    const Converted done = session.timed("convert", [&] {
      return convert_dataset(input_, read_, output_, write_, session.control());
    });
    session.report()["kind"] = "data";
    session.report()["rows"] = done.rows;
    session.report()["features"] = done.cols;
    session.report()["continued"] = done.continued;
    if (output_ != "-")
      session.note(fmt::format("{}: {}, {}{}", output_, counted(done.rows, "row"),
                               counted(done.cols, "feature"),
                               done.continued ? ", continued where a run had stopped" : ""));
  }

  std::string input_;
  std::string output_;
  std::string to_;
  ReadOptions read_;
  WriteOptions write_;
};

}  // namespace

std::unique_ptr<Command> make_convert_command() { return std::make_unique<ConvertCommand>(); }

}  // namespace tamis::cli
