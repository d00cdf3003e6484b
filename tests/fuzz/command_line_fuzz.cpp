// Any words are a command line, or a usage error; any value of an option is accepted or refused,
// and an accepted one survives being written and read. One word per line.
#include "axis_text.hpp"
#include "command.hpp"
#include "fuzz_input.hpp"
#include "options.hpp"
#include "parse.hpp"
#include "tamis/error.hpp"
#include "tamis/options.hpp"
#include "tamis/text.hpp"

namespace tamis::cli {

#define COMMAND(name) std::unique_ptr<Command> make_##name##_command();
#include "commands.inc"
#undef COMMAND

namespace {

// New ones for each input: commands keep what they were given.
std::vector<CommandEntry> new_commands() {
  std::vector<CommandEntry> list;
  const auto add = [&list](std::unique_ptr<Command> command) {
    list.push_back({std::move(command), {}});
    list.back().command->declare(list.back().options);
  };
#define COMMAND(name) add(make_##name##_command());
#include "commands.inc"
#undef COMMAND
  return list;
}

template <typename Work>
void allow_refusal(const Work& work) {
  try {
    work();
  } catch (const UsageError&) {
  } catch (const Error&) {
  }
}

void set_and_read_back(const std::string& name, const std::string& value) {
  TrainOptions options;
  const OptionDescription& option = find_option(name);
  option.set_text(options, value);
  const std::string text = option.text(options);
  allow_refusal([&] { options.validate(); });
  TrainOptions again;
  option.check(options);  // what is out of range need not be readable
  option.set_text(again, text);
  fuzz::require(option.text(again) == text, name + ": '" + text + "' is read differently");
}

}  // namespace
}  // namespace tamis::cli

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tamis;
  using namespace tamis::cli;
  fuzz::ByteReader in(data, size);
  std::vector<std::string> words;
  while (!in.empty() && words.size() < 64) words.emplace_back(in.line());
  std::vector<const char*> argv{"tamis"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  allow_refusal(
      [&] { parse_command_line(new_commands(), static_cast<int>(argv.size()), argv.data()); });
  if (words.size() < 2) return 0;
  allow_refusal([&] { set_and_read_back(words[0], words[1]); });
  allow_refusal([&] { parse_axis(words[1]); });
  allow_refusal([&] { parse_bytes(words[1]); });
  return 0;
}
