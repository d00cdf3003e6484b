#include "session.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

#include "control_characters.hpp"
#include "tamis/error.hpp"
#include "tamis/io.hpp"
#include "tamis/system.hpp"
#include "tamis/version.hpp"

namespace tamis::cli {
namespace {

// Signal handlers reach nothing but globals.
std::atomic<bool> stop_requested{false};
std::atomic<int> caught_signal{0};

Group* group_of_program = nullptr;

extern "C" void on_signal(int number) {
  caught_signal.store(number);
  if (stop_requested.exchange(true)) _exit(128 + number);
}

std::string duration_text(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", std::ceil(seconds));
  if (seconds < 6000) return fmt::format("{:.0f} min", std::ceil(seconds / 60));
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

void set_group(Group* group) { group_of_program = group; }
Group* the_group() { return group_of_program; }

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;  // no SA_RESTART: a blocked read returns, and sees the flag
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // A reader that went away (tamis ... | head) is no error: end quietly, whatever the parent set.
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigemptyset(&standard.sa_mask);
  sigaction(SIGPIPE, &standard, nullptr);
}

void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is the stream's. Opened the other way round, so that to read from it
    // or to write to it fails, as it would if it were closed.
    const int fd = open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (fd != stream && fd >= 0) close(fd);
  }
}

void flush_standard_output() {
  // A text longer than the buffer fails before it is flushed.
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  throw IoError("cannot write to standard output");
}

bool may_color(int stream) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  if (no_color != nullptr && *no_color != '\0') return false;
  return isatty(stream) != 0 && (terminal == nullptr || std::string_view(terminal) != "dumb");
}

int signal_exit_code() {
  const int number = caught_signal.load();
  return number == 0 ? 0 : 128 + number;
}

Session::Session(const Command& command) : common_(command.common()) {
  control_.threads = static_cast<int>(common_.threads);
  control_.memory_bytes = common_.memory_bytes;
  control_.scratch_folder = common_.scratch_folder;
  control_.cancel = &stop_requested;
  control_.group = group_of_program;
  if (!common_.quiet && is_root() && isatty(STDERR_FILENO) != 0)
    control_.on_progress = [this](const Progress& progress) { show_progress(progress); };
  control_.on_remark = [this](const std::string& line) { note(line); };
  report_["command"] = command.name();
  report_["version"] = TAMIS_VERSION;
}

Session::~Session() { clear_progress(); }

RunControl Session::writing() const {
  RunControl own;
  own.cancel = control_.cancel;
  return own;
}

RunControl Session::part_of(double begin, double rows, double end) const {
  RunControl part = control_;
  if (!control_.on_progress) return part;
  part.on_progress = [this, done = begin / rows, share = (end - begin) / rows](Progress progress) {
    progress.done_fraction = done + share * std::max(0.0, progress.done_fraction);
    progress.elapsed_seconds = seconds();
    progress.left_seconds = -1;
    control_.on_progress(progress);
  };
  return part;
}

bool Session::is_root() const { return control_.group == nullptr || control_.group->rank() == 0; }

void Session::add_in_turn(std::vector<double>& sums,
                          const std::function<void(std::vector<double>&)>& add) {
  const int processes = control_.group == nullptr ? 1 : control_.group->size();
  for (int turn = 0; turn < processes; ++turn) {
    if (control_.group == nullptr || control_.group->rank() == turn) add(sums);
    if (control_.group == nullptr) return;
    const auto bytes = std::as_bytes(std::span<const double>(sums));
    const Group::Message result = control_.group->broadcast({bytes.begin(), bytes.end()}, turn);
    std::memcpy(sums.data(), result.data(), result.size());
  }
}

std::int64_t Session::sum(std::int64_t count) {
  if (control_.group == nullptr) return count;
  std::int64_t sum = 0;
  for (const Group::Message& message :
       control_.group->all_gather(std::as_bytes(std::span<const std::int64_t>(&count, 1)))) {
    std::int64_t one = 0;
    std::memcpy(&one, message.data(), sizeof one);
    sum += one;
  }
  return sum;
}

namespace {

std::string harmless(std::string_view line) {
  const std::string text(line);  // ends with 0
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = control_length(&text[i]);
    const bool is_shown = length == 0 || text[i] == '\n' || text[i] == '\t';
    result += is_shown ? text[i] : '?';
    i += length == 0 ? 1 : length;
  }
  return result;
}

}  // namespace

void Session::say(std::string_view line) { say_in_color(harmless(line)); }

void Session::say_in_color(std::string_view text) {
  if (common_.json_path == "-" || !is_root()) return;
  clear_progress();
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fputc('\n', stdout);
}

void Session::summarize(std::string_view line) {
  if (!common_.quiet) say(line);
}

void Session::note(std::string_view line) {
  if (common_.quiet || !is_root()) return;
  clear_progress();
  const std::string text = harmless(line);
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fputc('\n', stderr);
}

void Session::end_phase(const std::string& phase, std::chrono::duration<double> spent) {
  clear_progress();
  seconds_[phase] = seconds_.value(phase, 0.0) + spent.count();
}

void Session::show_progress(const Progress& progress) {
  if (progress.elapsed_seconds < 0.3) return;  // soon over: a flash would only distract
  std::string line = progress.phase;
  if (progress.done_fraction >= 0)
    line += fmt::format(" {:3.0f} %", 100 * std::min(1.0, progress.done_fraction));
  line += fmt::format("  {}", duration_text(progress.elapsed_seconds));
  if (progress.left_seconds >= 0)
    line += fmt::format(", about {} left", duration_text(progress.left_seconds));
  if (!progress.detail.empty()) line += "  " + progress.detail;
  if (line.size() > 79) line.resize(79);
  fmt::print(stderr, "\r\033[K{}", line);
  progress_shown_ = true;
}

void Session::clear_progress() {
  if (progress_shown_) std::fputs("\r\033[K", stderr);
  progress_shown_ = false;
}

void Session::finish() {
  flush_standard_output();
  if (control_.group != nullptr) {
    report_["processes"] = control_.group->size();
    report_["messages"] = control_.group->num_calls();
    report_["bytes_sent"] = sum(control_.group->bytes_sent());
    report_["peak_memory_bytes_of_all"] = sum(peak_memory_bytes());
  }
  if (common_.json_path.empty() || !is_root()) return;
  seconds_["total"] = std::chrono::duration<double>(Clock::now() - start_).count();
  report_["seconds"] = seconds_;
  report_["peak_memory_bytes"] = peak_memory_bytes();
  // Names from files may hold any bytes: replace what is not UTF-8 rather than fail at the end.
  constexpr auto kReplace = Json::error_handler_t::replace;
  write_text(common_.json_path, report_.dump(2, ' ', false, kReplace) + "\n", writing());
}

}  // namespace tamis::cli
