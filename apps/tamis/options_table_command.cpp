#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

#include "session.hpp"
#include "tamis/options.hpp"

namespace tamis::cli {
namespace {

class OptionsTableCommand : public Command {
 public:
  OptionsTableCommand()
      : Command("options-table", "print the training options as a Markdown table") {}
  bool hidden() const override { return true; }

  void declare(Options& options) override {
    options.argument("METHOD", method_, true, "whose options");
    options.flag("--own", own_, "leave out those that every method has");
    options.example("tamis options-table exact > options.md");
  }

  int run(Session&) override {
    const TrainOptions defaults;
    std::string text = "| option | LIBSVM's | default | effect |\n|---|---|---|---|\n";
    for (const OptionDescription& option : train_option_table()) {
      if (!applies_to(option, method_) || (own_ && option.methods.empty())) continue;
      const std::string letter =
          option.letter.empty() ? "" : "`-" + std::string(option.letter) + "`";
      const std::string value = option.get(defaults);
      text += fmt::format("| `--{}` | {} | {} | {}{} |\n", option.name, letter,
                          value.empty() ? "" : "`" + value + "`", option.help, choices(option));
    }
    std::fputs(text.c_str(), stdout);
    return kExitOk;
  }

 private:
  std::string method_;
  bool own_ = false;

  // As in the help of the commands.
  static std::string choices(const OptionDescription& option) {
    if (option.choices.empty()) return "";
    return fmt::format("; one of `{}`", fmt::join(option.choices, "`, `"));
  }
};

}  // namespace

std::unique_ptr<Command> make_options_table_command() {
  return std::make_unique<OptionsTableCommand>();
}

}  // namespace tamis::cli
