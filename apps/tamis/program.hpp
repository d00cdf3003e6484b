#pragma once

#include <vector>

#include "command.hpp"
#include "tamis/group.hpp"

namespace tamis::cli {

/// All commands with their options declared, none of them given yet.
std::vector<CommandEntry> make_commands();

/// Parses, runs the command, and turns errors into one line and an exit code. Throws nothing.
/// `group`: the processes that run this command together, and who of them tells the error.
/// Asked once by each process that fails, with whether the error is its own.
using TellsError = bool (*)(bool is_own_error);
int run_program(int argc, const char* const* argv, Group* group = nullptr,
                const TellsError& tells = nullptr) noexcept;

}  // namespace tamis::cli
