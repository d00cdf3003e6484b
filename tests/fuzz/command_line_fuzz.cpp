// Any words are a command line, or a usage error; any value of an option is accepted or refused,
// and an accepted one survives being written and read. One word per line.
#include "axis_text.hpp"
#include "command.hpp"
#include "fuzz_input.hpp"
#include "options.hpp"
#include "parse.hpp"
#include "program.hpp"
#include "tamis/error.hpp"
#include "tamis/options.hpp"
#include "tamis/text.hpp"

namespace tamis::cli {

namespace {

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
      // New ones for each input: commands keep what they were given.
      [&] { parse_command_line(make_commands(), static_cast<int>(argv.size()), argv.data()); });
  if (words.size() < 2) return 0;
  allow_refusal([&] { set_and_read_back(words[0], words[1]); });
  allow_refusal([&] { parse_axis(words[1]); });
  allow_refusal([&] { parse_bytes(words[1]); });
  return 0;
}
