#include <fmt/format.h>

#include "help.hpp"

namespace tamis::cli {
namespace {

std::vector<const CommandEntry*> visible_commands() {
  std::vector<const CommandEntry*> visible;
  for (const CommandEntry& entry : all_commands()) {
    if (!entry.command->hidden()) visible.push_back(&entry);
  }
  return visible;
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += between;
    out += word;
  }
  return out;
}

// Inside single quotes of a shell.
std::string shell_quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return fmt::format("'{}'", out);
}

// zsh's _arguments also reads brackets and colons.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string bash_completion() {
  std::string commands;
  std::string cases;
  for (const CommandEntry* entry : visible_commands()) {
    commands += (commands.empty() ? "" : " ") + entry->command->name();
    std::string words = "--help";
    std::string values;
    std::string choices;
    for (const OptionInfo& info : entry->options.all()) {
      if (info.is_argument()) {
        choices = joined(info.choices, " ");
        continue;
      }
      words += fmt::format(" {}", joined(info.names, " "));
      if (info.is_flag() || info.is_file()) continue;
      values +=
          fmt::format("        {}) COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return ;;\n",
                      joined(info.names, "|"), joined(info.choices, " "));
    }
    cases += fmt::format(
        "    {})\n      case $before in\n{}      esac\n      options=\"{}\"\n      choices=\"{}\"\n"
        "      ;;\n",
        entry->command->name(), values, words, choices);
  }
  return "# bash completion for tamis\n_tamis() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  local options choices\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    COMPREPLY=($(compgen -W \"" +
         commands +
         " --help --version\" -- \"$word\"))\n    return\n  fi\n"
         "  case ${COMP_WORDS[1]} in\n" +
         cases +
         "  esac\n"
         "  if [[ $word == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
         "  elif [ -n \"$choices\" ] && [[ $before != -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$choices\" -- \"$word\"))\n"
         "  else\n"
         "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
         "  fi\n}\ncomplete -o filenames -F _tamis tamis\n";
}

std::string zsh_completion() {
  std::string list;
  std::string cases;
  for (const CommandEntry* entry : visible_commands()) {
    list += "    " +
            shell_quoted(entry->command->name() + ":" + zsh_text(entry->command->summary())) + "\n";
    cases += "    " + entry->command->name() + ")\n      _arguments \\\n";
    for (const OptionInfo& info : entry->options.all()) {
      const std::string action = info.is_file() ? "_files"
                                 : info.choices.empty()
                                     ? " "
                                     : fmt::format("({})", joined(info.choices, " "));
      if (info.is_argument()) {
        cases += fmt::format(
            "        {} \\\n",
            shell_quoted(fmt::format("{}:{}:{}", info.repeatable ? "*" : ":", info.value, action)));
        continue;
      }
      for (const std::string& name : info.names) {
        std::string spec = name + "[" + zsh_text(info.help) + "]";
        if (!info.is_flag()) spec += ":" + info.value + ":" + action;
        cases += fmt::format("        {} \\\n", shell_quoted(spec));
      }
    }
    cases += "        '--help[print help]'\n      ;;\n";
  }
  return "#compdef tamis\n_tamis() {\n  local -a commands\n  commands=(\n" + list +
         "  )\n  if (( CURRENT == 2 )); then\n    _describe 'command' commands\n    return\n  fi\n"
         "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n" +
         cases + "  esac\n}\n_tamis \"$@\"\n";
}

std::string fish_completion() {
  std::string out = "# fish completion for tamis\n";
  for (const CommandEntry* entry : visible_commands()) {
    const std::string& name = entry->command->name();
    out += "complete -c tamis -n __fish_use_subcommand -f -a " + name + " -d " +
           shell_quoted(entry->command->summary()) + "\n";
    out += "complete -c tamis -n '__fish_seen_subcommand_from " + name +
           "' -s h -l help -d 'print help'\n";
    for (const OptionInfo& info : entry->options.all()) {
      std::string line = "complete -c tamis -n '__fish_seen_subcommand_from " + name + "'";
      if (info.is_argument() && info.choices.empty()) continue;
      if (!info.is_argument()) {
        for (const std::string& option : info.names)
          line += option.starts_with("--") ? fmt::format(" -l {}", option.substr(2))
                                           : fmt::format(" -s {}", option.substr(1));
      }
      if (!info.choices.empty()) line += " -x -a " + shell_quoted(joined(info.choices, " "));
      if (info.choices.empty() && !info.is_flag()) line += info.is_file() ? " -r -F" : " -x";
      out += line + " -d " + shell_quoted(info.help) + "\n";
    }
  }
  return out;
}

}  // namespace tamis::cli
