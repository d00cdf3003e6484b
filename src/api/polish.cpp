#include "api/polish.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "eval/row_content.hpp"
#include "methods/binary_tasks.hpp"
#include "methods/kernel_machine.hpp"

namespace tamis {
namespace {

// The training row of each support vector, -1 for one that is none. Vectors of equal content get
// rows of their own as long as there are any.
std::vector<Index> rows_of_vectors(const TrainingSet& data, const KernelExpansion& expansion) {
  const RowContent content(data.features, data.kernel.type == KernelType::precomputed);
  std::vector<std::vector<Index>> members(usize(content.num_groups()));
  for (Index i = data.rows() - 1; i >= 0; --i) members[usize(content.group_of(i))].push_back(i);
  std::vector<Index> rows;
  for (const Index group : content.find(expansion.support_vectors())) {
    if (group < 0 || members[usize(group)].empty()) {
      rows.push_back(-1);
      continue;
    }
    rows.push_back(members[usize(group)].back());
    members[usize(group)].pop_back();
  }
  return rows;
}

KernelMachine machine_on_rows(const TrainingSet& data, const KernelExpansion& expansion) {
  const std::vector<Index> rows = rows_of_vectors(data, expansion);
  KernelMachine machine;
  machine.decision = expansion.parts().decision;
  for (Index m = 0; m < expansion.num_machines(); ++m) {
    TrainedMachine& one = machine.machines.emplace_back();
    one.offset = expansion.parts().offsets[usize(m)];
    for (const Segment& segment : expansion.segments(m)) {
      for (Index s = segment.sv_begin; s < segment.sv_end; ++s) {
        if (rows[usize(s)] < 0) continue;
        one.rows.push_back(rows[usize(s)]);
        one.coefficients.push_back(
            expansion.parts()
                .coefficients[usize(segment.coefficient_begin + s - segment.sv_begin)]);
      }
    }
  }
  return machine;
}

}  // namespace

MethodResult polish(const TrainingSet& data, const TrainContext& context, MethodResult trained) {
  const auto* expansion = dynamic_cast<const KernelExpansion*>(trained.machine.get());
  if (expansion == nullptr || expansion->parts().decision != decision_for(data, context.options)) {
    trained.report.warnings.emplace_back(
        "not polished: this method does not end in a machine that all rows could go on from");
    return trained;
  }
  const double before = context.watch.seconds();
  const KernelMachine start = machine_on_rows(data, *expansion);
  const KernelMachine polished = train_kernel_machine(data, context, &start);
  const double seconds = context.watch.seconds() - before;

  TrainReport& report = trained.report;
  const TrainReport& own = polished.report;
  report.details.emplace_back("start_support_vectors",
                              static_cast<double>(expansion->num_support_vectors()));
  report.details.emplace_back("polish_seconds", seconds);
  report.details.emplace_back("polish_iterations", static_cast<double>(own.iterations));
  report.details.emplace_back("polish_kernel_evaluations",
                              static_cast<double>(own.kernel_evaluations));
  if (report.phase_seconds.empty()) report.phase_seconds = {{"method", before}};
  report.phase_seconds.emplace_back("polish", seconds);
  report.machines = own.machines;
  report.objective = own.objective;
  report.gap = own.gap;
  report.violation = own.violation;
  report.bounded_support_vectors = own.bounded_support_vectors;
  report.stop_reason = own.stop_reason;
  report.iterations += own.iterations;
  report.kernel_evaluations += own.kernel_evaluations;
  report.cached_evaluations += own.cached_evaluations;
  trained.machine = make_expansion(data, polished);
  return trained;
}

}  // namespace tamis
