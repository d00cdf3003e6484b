// What a subcommand is. To add one: write NAME_command.cpp with a class derived from Command and
// `std::unique_ptr<Command> make_NAME_command()`, and add NAME to the list in CMakeLists.txt.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "options.hpp"

namespace tamis::cli {

class Session;

inline constexpr int kExitOk = 0;
inline constexpr int kExitError = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitLimit = 3;  ///< stopped by a limit, with a usable result
inline constexpr int kExitInterrupted = 130;

class Command {
 public:
  Command(std::string name, std::string summary)
      : name_(std::move(name)), summary_(std::move(summary)) {}
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  virtual ~Command() = default;

  const std::string& name() const { return name_; }
  /// One line, without a full stop.
  const std::string& summary() const { return summary_; }
  const CommonOptions& common() const { return common_; }
  /// Hidden commands are left out of help, completions and man pages.
  virtual bool hidden() const { return false; }
  /// Runs as several processes that share the rows.
  virtual bool runs_together() const { return false; }

  virtual void declare(Options& options) = 0;
  /// Does the work and returns the exit code; errors are thrown.
  virtual int run(Session& session) = 0;

 protected:
  CommonOptions common_;

 private:
  std::string name_;
  std::string summary_;
};

/// A command with its options declared.
struct CommandEntry {
  std::unique_ptr<Command> command;
  Options options;
};

/// Every command, in the order of the help.
const std::vector<CommandEntry>& all_commands();

}  // namespace tamis::cli
