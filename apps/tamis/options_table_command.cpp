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
    std::string text =
        "| option | LIBSVM's | default | allowed | effect |\n|---|---|---|---|---|\n";
    for (const OptionDescription& option : train_option_table()) {
      if (!applies_to(option, method_) || (own_ && option.group == OptionGroup::common)) continue;
      text += fmt::format("| `--{}` | {} | {} | {} | {} |\n", option.name,
                          option.letter.empty() ? "" : code("-" + std::string(option.letter)),
                          default_text(option), allowed(option), option.help);
    }
    std::fputs(text.c_str(), stdout);
    return kExitOk;
  }

 private:
  std::string method_;
  bool own_ = false;

  static std::string code(std::string_view text) { return fmt::format("`{}`", text); }

  static std::string default_text(const OptionDescription& option) {
    const std::string value = option.text(TrainOptions());
    if (value.empty()) return "";
    return code(value) +
           (option.default_help.empty() ? "" : fmt::format(" ({})", option.default_help));
  }

  // The range, and every word.
  static std::string allowed(const OptionDescription& option) {
    std::string list = option.range;
    for (const std::string_view choice : option.choices)
      list += (list.empty() ? "" : ", ") + code(choice);
    return list;
  }
};

}  // namespace

std::unique_ptr<Command> make_options_table_command() {
  return std::make_unique<OptionsTableCommand>();
}

}  // namespace tamis::cli
