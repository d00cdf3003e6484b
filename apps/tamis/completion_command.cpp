#include <cstdio>

#include "help.hpp"
#include "session.hpp"

namespace tamis::cli {
namespace {

class CompletionCommand : public Command {
 public:
  CompletionCommand() : Command("completion", "print a completion script for a shell") {}
  bool hidden() const override { return true; }

  void declare(Options& options) override {
    options.argument("SHELL", shell_, true, "bash, zsh or fish");
    options.example("source <(tamis completion bash)");
  }

  int run(Session&) override {
    std::string script;
    if (shell_ == "bash") script = bash_completion();
    if (shell_ == "zsh") script = zsh_completion();
    if (shell_ == "fish") script = fish_completion();
    if (script.empty()) throw UsageError("no completion for '" + shell_ + "': bash, zsh or fish");
    std::fputs(script.c_str(), stdout);
    return kExitOk;
  }

 private:
  std::string shell_;
};

}  // namespace

std::unique_ptr<Command> make_completion_command() { return std::make_unique<CompletionCommand>(); }

}  // namespace tamis::cli
