#include "base/group.hpp"
#include "io/group_file.hpp"
#include "io/output_file.hpp"
#include "tamis/io.hpp"

namespace tamis {

void write_text(const std::string& path, std::string_view text, const RunControl& control) {
  GroupFile file(path, group_of(control), control);
  file.write_in_turn([&](ByteSink& sink) { sink.write(text); });
  file.commit();
}

TextWriter::TextWriter(const std::string& path, const RunControl& control)
    : file_(std::make_unique<OutputFile>(path, control)) {}
TextWriter::~TextWriter() = default;
void TextWriter::write(std::string_view text) { file_->write(text); }
void TextWriter::commit() { file_->commit(); }

}  // namespace tamis
