#include "dictionaries.hpp"

#include <pybind11/stl.h>

#include <string>

namespace tamis::python {

namespace py = pybind11;

namespace {

py::dict numbers(const std::vector<std::pair<std::string, double>>& named) {
  py::dict result;
  for (const auto& [name, value] : named) result[py::str(name)] = value;
  return result;
}

py::dict to_dict(const MachineCertificate& machine) {
  py::dict result;
  result["name"] = machine.name;
  result["rows"] = machine.rows;
  result["support_vectors"] = machine.support_vectors;
  result["foreign_vectors"] = machine.foreign_vectors;
  result["primal"] = machine.primal;
  result["dual"] = machine.dual;
  result["gap"] = machine.gap;
  result["relative_gap"] = machine.relative_gap;
  result["violation"] = machine.violation;
  result["worst_row"] = machine.worst_row;
  result["violating_rows"] = machine.violating_rows;
  result["mean_violation"] = machine.mean_violation;
  result["bound_breach"] = machine.bound_breach;
  result["sum_breach"] = machine.sum_breach;
  result["rounding"] = machine.rounding;
  result["certified"] = machine.certified;
  return result;
}

// The mean under its name, and the deviation where there are several runs.
void add_spread(const std::string& name, const Spread& spread, Index runs, py::dict& result) {
  result[py::str(name)] = spread.mean;
  if (runs > 1) result[py::str(name + "_deviation")] = spread.deviation;
}

py::dict to_dict(const ComparisonRow& row, const Comparison& comparison) {
  const bool is_regression = comparison.task == Task::regression;
  const Index runs = comparison.runs;
  py::dict result;
  result["name"] = row.name;
  result["method"] = row.method;
  add_spread(is_regression ? "mse" : "error_rate", row.error, runs, result);
  add_spread("train_seconds", row.train_seconds, runs, result);
  add_spread("predict_seconds", row.predict_seconds, runs, result);
  add_spread("support_vectors", row.support_vectors, runs, result);
  add_spread("full_support_vectors", row.full_support_vectors, runs, result);
  add_spread("model_bytes", row.model_bytes, runs, result);
  add_spread("rows_used", row.rows_used, runs, result);
  result["runs"] = row.runs;
  result["failure"] = row.failure;
  result["note"] = row.note;
  result["errors_by_run"] = row.errors;
  result["seconds_by_run"] = row.seconds;
  result["parameters"] = row.parameters;
  result["phase_seconds"] = numbers(row.report.phase_seconds);
  result["details"] = numbers(row.report.details);
  return result;
}

}  // namespace

py::dict to_dict(const TrainReport& report) {
  py::dict tables;
  for (const ReportTable& table : report.tables) {
    py::list rows;
    for (const auto& values : table.rows) {
      py::dict row;
      for (std::size_t c = 0; c < values.size(); ++c) row[py::str(table.columns[c])] = values[c];
      rows.append(row);
    }
    tables[py::str(table.name)] = rows;
  }
  py::dict result;
  result["method"] = report.method;
  result["rows"] = report.rows;
  result["features"] = report.features;
  result["classes"] = report.classes;
  result["binary_svms"] = report.machines;
  result["support_vectors"] = report.support_vectors;
  result["bounded_support_vectors"] = report.bounded_support_vectors;
  result["stop_reason"] = stop_reason_name(report.stop_reason);
  result["objective"] = report.objective;
  result["gap"] = report.gap;
  result["violation"] = report.violation;
  result["iterations"] = report.iterations;
  result["machine_iterations"] = report.machine_iterations;
  result["kernel_evaluations"] = report.kernel_evaluations;
  result["cached_evaluations"] = report.cached_evaluations;
  result["phase_seconds"] = numbers(report.phase_seconds);
  result["details"] = numbers(report.details);
  result["tables"] = tables;
  result["train_seconds"] = report.train_seconds;
  result["peak_memory_bytes"] = report.peak_memory_bytes;
  result["remarks"] = report.remarks;
  result["warnings"] = report.warnings;
  return result;
}

py::dict to_dict(const Certificate& certificate) {
  py::list machines;
  for (const MachineCertificate& machine : certificate.machines) machines.append(to_dict(machine));
  py::dict result;
  result["certified"] = certificate.certified;
  result["problem"] = certificate.problem;
  result["rows"] = certificate.rows;
  result["support_vectors"] = certificate.support_vectors;
  result["foreign_vectors"] = certificate.foreign_vectors;
  result["primal"] = certificate.primal;
  result["dual"] = certificate.dual;
  result["gap"] = certificate.gap;
  result["relative_gap"] = certificate.relative_gap;
  result["violation"] = certificate.violation;
  result["violating_rows"] = certificate.violating_rows;
  result["mean_violation"] = certificate.mean_violation;
  result["tol"] = certificate.eps;
  result["double_precision"] = certificate.in_double;
  result["binary_svms"] = machines;
  return result;
}

py::dict to_dict(const Comparison& comparison) {
  py::list rows;
  for (const ComparisonRow& row : comparison.rows) rows.append(to_dict(row, comparison));
  py::dict result;
  result["task"] = task_name(comparison.task);
  result["train_rows"] = comparison.train_rows;
  result["test_rows"] = comparison.test_rows;
  result["features"] = comparison.features;
  result["classes"] = comparison.classes;
  result["runs"] = comparison.runs;
  result["rows"] = rows;
  return result;
}

}  // namespace tamis::python
