#include "base/group.hpp"
#include "io/group_file.hpp"
#include "tamis/io.hpp"

namespace tamis {

void write_text(const std::string& path, std::string_view text, const RunControl& control) {
  GroupFile file(path, group_of(control));
  file.write_in_turn([&](ByteSink& sink) { sink.write(text); });
  file.commit();
}

}  // namespace tamis
