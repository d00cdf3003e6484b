#pragma once

#include <string>
#include <vector>

#include "command.hpp"

namespace tamis::cli {

enum class Request { run, help, version, begin };

struct Parsed {
  Request request = Request::run;
  const CommandEntry* entry = nullptr;  ///< null: the program itself
  std::string topic;                    ///< help: the training method asked about, or empty
};

/// Finds the command and stores the values of its options; without any argument, the request is
/// `begin`. Throws UsageError.
Parsed parse_command_line(const std::vector<CommandEntry>& commands, int argc,
                          const char* const* argv);

}  // namespace tamis::cli
