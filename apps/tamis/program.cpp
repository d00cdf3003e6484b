#include "program.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "control_characters.hpp"
#include "help.hpp"
#include "out_of_memory.hpp"
#include "parse.hpp"
#include "session.hpp"
#include "tamis/error.hpp"
#include "tamis/version.hpp"

namespace tamis::cli {

#define COMMAND(name) std::unique_ptr<Command> make_##name##_command();
#include "commands.inc"
#undef COMMAND

std::vector<CommandEntry> make_commands() {
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

const std::vector<CommandEntry>& all_commands() {
  static const std::vector<CommandEntry> commands = make_commands();
  return commands;
}

namespace {

// Takes no memory, which may be what there is no more of.
int report_failure(int code, const char* message) {
  char line[1000];
  std::size_t length = 0;
  const auto put = [&](const char* text) {
    while (*text != '\0') {
      // One line without orders to a terminal, whatever a file name or a library's message holds.
      const std::size_t control = control_length(text);
      line[length++] = control > 0 ? ' ' : *text;
      text += control > 0 ? control : 1;
      if (length + 1 < sizeof line) continue;
      std::fwrite(line, 1, length, stderr);
      length = 0;
    }
  };
  put("tamis: ");
  put(message);
  line[length++] = '\n';
  std::fwrite(line, 1, length, stderr);
  return code;
}

int run_parsed(const Parsed& parsed) {
  const bool is_root = the_group() == nullptr || the_group()->rank() == 0;
  if (parsed.request == Request::version) {
    if (is_root) fmt::print("tamis {}\n", TAMIS_VERSION);
  } else if (parsed.request == Request::help) {
    const std::string text = parsed.entry == nullptr ? program_help()
                             : parsed.topic.empty()  ? command_help(*parsed.entry)
                                                     : method_help(*parsed.entry, parsed.topic);
    if (is_root) std::fputs(text.c_str(), stdout);
  } else if (parsed.request == Request::begin) {
    if (is_root) std::fputs(beginning_text().c_str(), stderr);
    return kExitUsage;
  } else {
    if (the_group() != nullptr && !parsed.entry->command->runs_together()) {
      throw UsageError(parsed.entry->command->name() +
                       " does not run on several processes: use tamis");
    }
    Session session(*parsed.entry->command);
    const int code = parsed.entry->command->run(session);
    session.finish();
    return code;
  }
  flush_standard_output();
  return kExitOk;
}

}  // namespace

int run_program(int argc, const char* const* argv, Group* group, const TellsError& tells) noexcept {
  const auto fail = [&](int code, const char* message) {
    return tells == nullptr || tells(true) ? report_failure(code, message) : code;
  };
  try {
    set_group(group != nullptr && group->size() > 1 ? group : nullptr);
    prepare_for_lack_of_memory();
    hold_standard_streams();
    catch_signals();
    return run_parsed(parse_command_line(all_commands(), argc, argv));
  } catch (const GroupFailure&) {
    if (tells != nullptr) tells(false);
    return kExitError;
  } catch (const UsageError& error) {
    return fail(kExitUsage, error.what());
  } catch (const InvalidArgument& error) {
    return fail(kExitUsage, error.what());
  } catch (const Interrupted& error) {
    return fail(signal_exit_code(), error.what());
  } catch (const Cancelled&) {
    return fail(signal_exit_code(), "interrupted");
  } catch (const std::bad_alloc&) {
    return fail(kExitError, kOutOfMemory);
  } catch (const std::exception& error) {
    return fail(kExitError, error.what());
  }
}

}  // namespace tamis::cli
