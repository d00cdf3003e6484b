// What the handles of tamis.h are, and how an exception becomes an error of C.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/calibrate.hpp"
#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/error.hpp"
#include "tamis/io.hpp"
#include "tamis/model.hpp"
#include "tamis/options.hpp"
#include "tamis/report.hpp"
#include "tamis/tamis.h"

struct tamis_error {
  int code = TAMIS_INTERNAL_ERROR;
  std::string message;
};

struct tamis_control {
  int threads = 0;
  std::int64_t memory_bytes = 0;
  tamis_progress_function progress = nullptr;
  void* user = nullptr;
  /// Set by callers and by the progress function of a call that only reads its control otherwise.
  mutable std::atomic<bool> is_cancelled = false;
};

struct tamis_options {
  tamis::TrainOptions train;
  tamis::ReadOptions read;
  int probability_folds = 0;
  tamis::CalibrationMethod calibration = tamis::CalibrationMethod::sigmoid;
  /// Training options that were set: those that are not used are refused.
  std::vector<const tamis::OptionDescription*> given;
};

struct tamis_data {
  tamis::Dataset rows;
};

struct tamis_report {
  tamis::TrainReport report;
};

struct tamis_model {
  explicit tamis_model(tamis::Model of);

  tamis::Model model;
  /// Made when they are asked for: those of all pairs of many classes are far larger than a model.
  const std::vector<std::string>& decision_columns() const;

  // Texts that the caller is given.
  std::vector<std::string> class_names;
  std::string description;

 private:
  mutable std::once_flag columns_made_;
  mutable std::vector<std::string> decision_columns_;
};

namespace tamis::c {

/// Puts the exception that is being handled into *error, and returns its code.
int note_exception(tamis_error** error) noexcept;

/// Calls `work` and returns TAMIS_OK; exceptions stay inside.
template <typename Work>
int guarded(tamis_error** error, const Work& work) noexcept {
  try {
    work();
    return TAMIS_OK;
  } catch (...) {
    return note_exception(error);
  }
}

/// Calls `make`, which returns a handle; NULL if it throws.
template <typename Make>
auto made(tamis_error** error, const Make& make) noexcept -> decltype(make()) {
  try {
    return make();
  } catch (...) {
    note_exception(error);
    return nullptr;
  }
}

/// What a pointer points to. Throws InvalidArgument "`name` is NULL".
template <typename Value>
Value& required(Value* pointer, const char* name) {
  if (pointer == nullptr) throw InvalidArgument(std::string(name) + " is NULL");
  return *pointer;
}

/// Throws InvalidArgument when there is room for another number of values than are written.
void require_count(std::string_view what, Index count, Index needed);

/// For one call; NULL: the defaults.
RunControl run_control(const tamis_control* control);

}  // namespace tamis::c
