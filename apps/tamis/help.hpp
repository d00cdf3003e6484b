// Help, man pages and shell completions, all made from the descriptions of the commands.
#pragma once

#include <string>

#include "command.hpp"

namespace tamis::cli {

std::string program_help();
std::string command_help(const CommandEntry& entry);

/// roff for man(1): tamis.1, and tamis-NAME.1 for each command.
std::string program_man_page();
std::string command_man_page(const CommandEntry& entry);

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace tamis::cli
