#include <cstdio>

#include "help.hpp"
#include "session.hpp"

namespace tamis::cli {
namespace {

class ManCommand : public Command {
 public:
  ManCommand() : Command("man", "print the manual page of the program or of a command") {}
  bool hidden() const override { return true; }

  void declare(Options& options) override {
    options.argument("COMMAND", topic_, false, "a command");
    options.example("tamis man generate | man -l -");
  }

  int run(Session&) override {
    std::string page = topic_.empty() ? program_man_page() : "";
    for (const CommandEntry& entry : all_commands()) {
      if (entry.command->name() == topic_) page = command_man_page(entry);
    }
    if (page.empty()) throw UsageError("no command is called '" + topic_ + "'");
    std::fputs(page.c_str(), stdout);
    return kExitOk;
  }

 private:
  std::string topic_;
};

}  // namespace

std::unique_ptr<Command> make_man_command() { return std::make_unique<ManCommand>(); }

}  // namespace tamis::cli
