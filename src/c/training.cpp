#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "c/handles.hpp"
#include "tamis/train.hpp"

namespace tamis::c {
namespace {

// One that is not used would be silently ignored.
void require_used(const tamis_options& options) {
  for (const OptionDescription* given : options.given) {
    if (applies_to(*given, options.train.method, options.train.task)) continue;
    throw InvalidArgument(fmt::format("the option {} is not used by the method {} in a {}",
                                      given->name, options.train.method,
                                      task_name(options.train.task)));
  }
}

TrainResult trained(const tamis_data& data, const tamis_options& options,
                    const RunControl& control) {
  require_used(options);
  if (options.probability_folds == 0) return train(data.rows, options.train, control);
  return train_calibrated(data.rows, options.train, options.probability_folds, options.calibration,
                          control);
}

const std::vector<std::pair<std::string_view, double (*)(const TrainReport&)>>& report_numbers() {
  static const std::vector<std::pair<std::string_view, double (*)(const TrainReport&)>> numbers = {
      {"rows", [](const TrainReport& r) { return static_cast<double>(r.rows); }},
      {"features", [](const TrainReport& r) { return static_cast<double>(r.features); }},
      {"classes", [](const TrainReport& r) { return static_cast<double>(r.classes); }},
      {"binary_svms", [](const TrainReport& r) { return static_cast<double>(r.machines); }},
      {"support_vectors",
       [](const TrainReport& r) { return static_cast<double>(r.support_vectors); }},
      {"bounded_support_vectors",
       [](const TrainReport& r) { return static_cast<double>(r.bounded_support_vectors); }},
      {"objective", [](const TrainReport& r) { return r.objective; }},
      {"gap", [](const TrainReport& r) { return r.gap; }},
      {"violation", [](const TrainReport& r) { return r.violation; }},
      {"iterations", [](const TrainReport& r) { return static_cast<double>(r.iterations); }},
      {"kernel_evaluations",
       [](const TrainReport& r) { return static_cast<double>(r.kernel_evaluations); }},
      {"cached_evaluations",
       [](const TrainReport& r) { return static_cast<double>(r.cached_evaluations); }},
      {"train_seconds", [](const TrainReport& r) { return r.train_seconds; }},
      {"peak_memory_bytes",
       [](const TrainReport& r) { return static_cast<double>(r.peak_memory_bytes); }},
  };
  return numbers;
}

double report_number(const TrainReport& report, std::string_view name) {
  for (const auto& [known, value] : report_numbers()) {
    if (known == name) return value(report);
  }
  for (const auto& [known, value] : report.details) {
    if (known == name) return value;
  }
  std::string names;
  for (const auto& [known, value] : report_numbers()) names += fmt::format(", {}", known);
  for (const auto& [known, value] : report.details) names += fmt::format(", {}", known);
  throw InvalidArgument(
      fmt::format("the report has no number '{}': it has {}", name, names.substr(2)));
}

}  // namespace
}  // namespace tamis::c

using tamis::c::guarded;
using tamis::c::made;
using tamis::c::required;

extern "C" {

tamis_model* tamis_train(const tamis_data* data, const tamis_options* options,
                         const tamis_control* control, tamis_report** report, tamis_error** error) {
  return made(error, [&] {
    const tamis_options defaults;
    tamis::TrainResult result =
        tamis::c::trained(required(data, "data"), options == nullptr ? defaults : *options,
                          tamis::c::run_control(control));
    auto model = std::make_unique<tamis_model>(std::move(result.model));
    if (report != nullptr) *report = new tamis_report{std::move(result.report)};
    return model.release();
  });
}

void tamis_report_free(tamis_report* report) { delete report; }

const char* tamis_report_stop_reason(const tamis_report* report) {
  // The names are literals: they end with a zero.
  return report == nullptr ? "" : tamis::stop_reason_name(report->report.stop_reason).data();
}

int tamis_report_number(const tamis_report* report, const char* name, double* value,
                        tamis_error** error) {
  return guarded(error, [&] {
    const double found =
        tamis::c::report_number(required(report, "report").report, &required(name, "name"));
    required(value, "value") = found;
  });
}

int64_t tamis_report_num_warnings(const tamis_report* report) {
  return report == nullptr ? 0 : std::ssize(report->report.warnings);
}

const char* tamis_report_warning(const tamis_report* report, int64_t number) {
  if (number < 0 || number >= tamis_report_num_warnings(report)) return nullptr;
  return report->report.warnings[static_cast<std::size_t>(number)].c_str();
}

tamis_model* tamis_calibrate(const tamis_model* model, const tamis_data* held_out,
                             const char* method, const tamis_control* control,
                             tamis_error** error) {
  return made(error, [&] {
    const auto kind = tamis::parse_calibration_method(method == nullptr ? "sigmoid" : method);
    return new tamis_model(tamis::calibrate(required(model, "model").model,
                                            required(held_out, "held_out").rows, kind,
                                            tamis::c::run_control(control)));
  });
}

}  // extern "C"
