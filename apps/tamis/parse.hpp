#pragma once

#include <string>
#include <vector>

#include "command.hpp"

namespace tamis::cli {

enum class Request { run, help, version };

struct Parsed {
  Request request = Request::run;
  const CommandEntry* entry = nullptr;  ///< null: the program itself (help, version)
  std::string topic;                    ///< help: the training method asked about, or empty
};

/// Finds the command and stores the values of its options. Throws UsageError.
Parsed parse_command_line(const std::vector<CommandEntry>& commands, int argc,
                          const char* const* argv);

}  // namespace tamis::cli
