// What a command takes, described once: the parser, the help, the man pages and the completions all
// read these descriptions.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tamis/io.hpp"
#include "tamis/options.hpp"

namespace tamis::cli {

/// The command line is wrong: exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where the help of a command shows an option.
enum class OptionSection {
  command,   ///< the command's own
  training,  ///< of every training method
  kernel,    ///< of every method with a kernel
  method,    ///< of some methods: shown with --help METHOD
  common,    ///< of every command
};

struct OptionInfo {
  std::vector<std::string> names;  ///< "-o", "--output"; an argument has one name without dashes
  std::string value;               ///< what stands for the value in texts; empty: a flag
  std::string help;
  std::string range;         ///< what is allowed: "greater than 0"; may be empty
  std::string default_text;  ///< as shown; empty: none
  std::string default_help;  ///< what the default means; may be empty
  std::vector<std::string> choices;
  OptionSection section = OptionSection::command;
  const OptionDescription* described = nullptr;  ///< of a training option; null: none
  bool required = false;
  bool repeatable = false;  ///< every occurrence is assigned, not the last one only
  /// Converts and stores the text; throws UsageError or InvalidArgument. Flags get "".
  std::function<void(const std::string&)> assign;
  /// Asked once all values are assigned, where the option was given: why it has no effect next to
  /// the others; empty: it has one.
  std::function<std::string()> idle;

  bool is_argument() const { return !names.front().starts_with('-'); }
  bool is_flag() const { return value.empty(); }
  /// Completed with the names of files.
  bool is_file() const { return value == "FILE" || value == "DATA" || value == "MODEL"; }
  /// "DATA...", for an argument that may be given more than once.
  std::string argument_text() const { return repeatable ? value + "..." : value; }
  /// "--output", the name used in messages.
  const std::string& long_name() const { return names.back(); }
  OptionInfo& no_default() {
    default_text.clear();
    return *this;
  }
  OptionInfo& idle_if(std::function<std::string()> reason) {
    idle = std::move(reason);
    return *this;
  }
};

/// What every command understands.
struct CommonOptions {
  std::int64_t threads = 0;
  std::int64_t memory_bytes = 0;
  std::string scratch_folder;
  bool quiet = false;
  std::string json_path;
};

/// Names are written "-o,--output". Every variable holds its default, and must outlive this.
class Options {
 public:
  OptionInfo& flag(const std::string& names, bool& variable, const std::string& help);
  OptionInfo& text(const std::string& names, std::string& variable, const std::string& value,
                   const std::string& help);
  /// A file to write; /dev/stdout is "-", so that nothing else is printed there.
  OptionInfo& output(const std::string& names, std::string& variable, const std::string& help);
  /// Digits, or exponent notation that is a whole number (1e6).
  OptionInfo& integer(const std::string& names, std::int64_t& variable, std::int64_t low,
                      std::int64_t high, const std::string& value, const std::string& help);
  OptionInfo& number(const std::string& names, double& variable, double low, double high,
                     const std::string& value, const std::string& help);
  /// A number of bytes with K, M, G or T.
  OptionInfo& bytes(const std::string& names, std::int64_t& variable, const std::string& help);
  OptionInfo& choice(const std::string& names, std::string& variable,
                     std::vector<std::string> choices, const std::string& value,
                     const std::string& help);
  /// A number of rows, `all` (the largest number), or `automatic` (nothing).
  OptionInfo& rows(const std::string& names, std::optional<std::int64_t>& variable,
                   const std::string& help, const std::string& automatic_help);
  OptionInfo& format(const std::string& names, DataFormat& variable, const std::string& help);
  OptionInfo& index_base(const std::string& names, int& variable, const std::string& help);
  /// Any other kind of value.
  OptionInfo& custom(const std::string& names, const std::string& value, const std::string& help,
                     std::function<void(const std::string&)> assign);
  OptionInfo& argument(const std::string& name, std::string& variable, bool required,
                       const std::string& help);

  /// One data file or more: the first goes to `variable`, the others to `read`.
  OptionInfo& data(const std::string& name, std::string& variable, ReadOptions& read,
                   const std::string& help);

  void common(CommonOptions& common);
  /// How data are read: --format, --index-base, --label, --text-labels, --weight, --labels.
  void reading(ReadOptions& read);
  /// Ends the help: one command a line.
  void example(const std::string& lines) { example_ = lines; }

  // A deque, because the references handed out must stay.
  const std::deque<OptionInfo>& all() const { return all_; }
  const std::string& example() const { return example_; }

 private:
  OptionInfo& add(const std::string& names, const std::string& value, const std::string& help);
  // Also takes the word `automatic`, which is the default.
  static void automatic(OptionInfo& info, const std::string& meaning,
                        const std::function<void()>& reset);
  void move_to_common(std::size_t first);

  std::deque<OptionInfo> all_;
  std::string example_;
};

/// Whole text, no locale, nothing before or after; throws UsageError naming the option.
std::int64_t parse_integer(const std::string& option, const std::string& text, std::int64_t low,
                           std::int64_t high);
double parse_real(const std::string& option, const std::string& text, double low, double high);

/// The text as one word of a shell: quoted where it must be.
std::string shell_word(const std::string& text);

/// How data are read, as words for a shell: those that differ from the default.
std::string reading_words(const ReadOptions& read);

/// "a, b and c".
std::string join_names(const std::vector<std::string>& names);

}  // namespace tamis::cli
