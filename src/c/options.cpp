#include <fmt/format.h>

#include <charconv>
#include <new>

#include "c/handles.hpp"
#include "tamis/text.hpp"

namespace tamis::c {
namespace {

// What the command line takes in addition to the training options.
constexpr std::string_view kOthers[] = {"format",      "index-base",       "label",
                                        "labels",      "weight",           "text-labels",
                                        "calibration", "probability-folds"};

int whole_number(std::string_view name, std::string_view text, int low, int high) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [last, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc() || last != end || value < low || value > high)
    throw InvalidArgument(
        fmt::format("{} is '{}': it must be a whole number from {} to {}", name, text, low, high));
  return value;
}

bool yes_or_no(std::string_view name, std::string_view text) {
  if (text == "yes" || text == "true" || text.empty()) return true;
  if (text == "no" || text == "false") return false;
  throw InvalidArgument(fmt::format("{} is '{}': it must be yes or no", name, text));
}

DataFormat parse_format(std::string_view text) {
  if (text == "svmlight") return DataFormat::svmlight;
  if (text == "csv") return DataFormat::csv;
  if (text == "npy") return DataFormat::npy;
  if (text == "csr") return DataFormat::csr;
  throw InvalidArgument(fmt::format("format is '{}': it must be svmlight, csv, npy or csr", text));
}

bool set_other(tamis_options& options, std::string_view name, std::string_view value) {
  if (name == "format")
    options.read.format = parse_format(value);
  else if (name == "index-base")
    options.read.index_base = whole_number(name, value, 0, 1);
  else if (name == "label")
    options.read.label_column = value;
  else if (name == "labels")
    options.read.labels_path = value;
  else if (name == "weight")
    options.read.weight_column = value;
  else if (name == "text-labels")
    options.read.labels_as_text = yes_or_no(name, value);
  else if (name == "calibration")
    options.calibration = parse_calibration_method(value);
  else if (name == "probability-folds")
    options.probability_folds = whole_number(name, value, 0, 1000);
  else
    return false;
  return true;
}

// The nearest name may be one of either kind.
[[noreturn]] void refuse(std::string_view name) {
  std::vector<std::string_view> known(std::begin(kOthers), std::end(kOthers));
  for (const OptionDescription& one : train_option_table()) known.push_back(one.name);
  const std::string_view nearest = nearest_name(name, known);
  throw InvalidArgument(
      fmt::format("there is no option '{}'{}", name,
                  nearest.empty() ? std::string() : fmt::format(": did you mean {}?", nearest)));
}

}  // namespace
}  // namespace tamis::c

using tamis::c::guarded;
using tamis::c::required;

extern "C" {

tamis_options* tamis_options_new(void) {
  return tamis::c::made(nullptr, [] { return new tamis_options; });
}

void tamis_options_free(tamis_options* options) { delete options; }

int tamis_options_set(tamis_options* options, const char* name, const char* value,
                      tamis_error** error) {
  return guarded(error, [&] {
    tamis_options& all = required(options, "options");
    const std::string_view key = &required(name, "name");
    const std::string_view text = &required(value, "value");
    if (tamis::c::set_other(all, key, text)) return;
    for (const tamis::OptionDescription& described : tamis::train_option_table()) {
      if (described.name != key) continue;
      described.set_text(all.train, text);
      all.given.push_back(&described);
      return;
    }
    tamis::c::refuse(key);
  });
}

}  // extern "C"
