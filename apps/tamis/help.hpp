// Help, man pages and shell completions, all made from the descriptions of the commands.
#pragma once

#include <string>
#include <string_view>

#include "command.hpp"

namespace tamis::cli {

/// What `tamis` without arguments prints.
std::string beginning_text();
std::string program_help();
std::string command_help(const CommandEntry& entry);
/// Whether --help METHOD makes sense for the command.
bool has_method_options(const CommandEntry& entry);
/// What a training method is, and its options.
std::string method_help(const CommandEntry& entry, std::string_view method);

/// roff for man(1): tamis.1, and tamis-NAME.1 for each command.
std::string program_man_page();
std::string command_man_page(const CommandEntry& entry);

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace tamis::cli
