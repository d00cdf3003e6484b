#pragma once

namespace tamis::cli {

/// Parses, runs the command, and turns errors into one line and an exit code. Throws nothing.
int run_program(int argc, const char* const* argv) noexcept;

}  // namespace tamis::cli
