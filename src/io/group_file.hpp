// A file that the ranks of a group write together: the first one has it, the others send it what
// they have, in pieces.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "io/output_file.hpp"
#include "tamis/group.hpp"

namespace tamis {

class GroupFile {
 public:
  /// Opened by the first rank. Throws as OutputFile does.
  GroupFile(const std::string& path, Group& group, const RunControl& control);

  /// Bytes in front of those of any rank; on the others than the first, nothing happens.
  void write_once(std::string_view bytes);
  /// Calls `write_own` on one rank after the other; what it writes goes into the file.
  void write_in_turn(const std::function<void(ByteSink&)>& write_own);
  /// As OutputFile::commit(). Every rank calls it.
  void commit();

 private:
  Group& group_;
  std::optional<OutputFile> file_;  // of the first rank
};

}  // namespace tamis
