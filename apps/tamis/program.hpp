#pragma once

#include <vector>

#include "command.hpp"

namespace tamis::cli {

/// All commands with their options declared, none of them given yet.
std::vector<CommandEntry> make_commands();

/// Parses, runs the command, and turns errors into one line and an exit code. Throws nothing.
int run_program(int argc, const char* const* argv) noexcept;

}  // namespace tamis::cli
