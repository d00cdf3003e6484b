// What a running command talks to: results, remarks, progress, times, the JSON report, and the
// signal that asks it to stop.
#pragma once

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command.hpp"
#include "file_roles.hpp"
#include "json_report.hpp"
#include "tamis/control.hpp"
#include "tamis/group.hpp"

namespace tamis::cli {

class Session {
 public:
  explicit Session(const Command& command);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  /// Threads, memory, progress and cancel flag for the library's calls.
  const RunControl& control() const { return control_; }
  /// For outputs that one process writes alone: a signal ends the wait for the reader of a pipe.
  RunControl writing() const;
  /// control() for work on the rows [begin, end) of `rows`: progress is that of all of them.
  RunControl part_of(double begin, double rows, double end) const;
  void keep_state_in(CheckpointStore* store, double every_seconds) {
    control_.checkpoint = store;
    control_.checkpoint_seconds = every_seconds;
  }
  bool quiet() const { return common_.quiet; }
  /// Whether this process writes and prints: of several that work together, only the first does.
  bool is_root() const;
  /// The sum over all processes.
  std::int64_t sum(std::int64_t count);
  /// Sums over the rows of all processes, rounded as on one: each process goes on with those of the
  /// process before. Every process gets the result.
  void add_in_turn(std::vector<double>& sums, const std::function<void(std::vector<double>&)>& add);

  /// A result for people, which the command was run for: standard output, unless --json has taken
  /// it. Control characters, which names in files may have, become '?', except for line breaks and
  /// tabs: nothing in a file gives orders to a terminal.
  void say(std::string_view line);
  /// The same with the colors of the text.
  void say_in_color(std::string_view text);
  /// What was done, of a command whose result is a file: as say(), unless --quiet.
  void summarize(std::string_view line);
  /// A remark: standard error, unless --quiet.
  void note(std::string_view line);
  /// The report; written by finish() if --json was given.
  Json& report() { return report_; }

  /// Runs `work` and adds its duration to the report's seconds.
  template <typename Work>
  auto timed(const std::string& phase, Work&& work) {
    const Timer timer(*this, phase);
    return std::forward<Work>(work)();
  }

  /// Since the program began.
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  /// For the command's files; --json is among them.
  FileRoles files() const { return FileRoles().writes("--json", common_.json_path); }
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  class Timer {
   public:
    Timer(Session& session, std::string phase)
        : session_(session), phase_(std::move(phase)), start_(Clock::now()) {}
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
    ~Timer() { session_.end_phase(phase_, std::chrono::duration<double>(Clock::now() - start_)); }

   private:
    Session& session_;
    std::string phase_;
    Clock::time_point start_;
  };

  void end_phase(const std::string& phase, std::chrono::duration<double> spent);
  void show_progress(const Progress& progress);
  void clear_progress();

  const CommonOptions& common_;
  RunControl control_;
  // Objects from the start: one that becomes an object later and cannot, because memory ran out,
  // crashes in its destructor.
  Json report_ = Json::object();
  Json seconds_ = Json::object();
  Clock::time_point start_ = Clock::now();
  bool progress_shown_ = false;
};

/// The processes that work together on every command from now on; null: this one alone.
void set_group(Group* group);
Group* the_group();

/// Colors are for a terminal that has them, unless the variable NO_COLOR is set (no-color.org).
bool may_color(int stream);

/// Takes the places of standard streams that are closed, so that no file gets their numbers.
void hold_standard_streams();
/// Throws IoError unless all that was printed could be written.
void flush_standard_output();
/// A signal ended the command without a result: the exit code it calls for, and what to say.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Sets the flag that RunControl::cancel sees on the first SIGINT or SIGTERM; the second one ends
/// the program at once.
void catch_signals();
/// The exit code that the signal caught calls for: 130 or 143; 0 when there was none.
int signal_exit_code();

}  // namespace tamis::cli
