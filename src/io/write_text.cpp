#include "io/output_file.hpp"
#include "tamis/io.hpp"

namespace tamis {

void write_text(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace tamis
