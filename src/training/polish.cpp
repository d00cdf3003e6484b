#include "training/polish.hpp"

#include "methods/common/kernel_machine.hpp"
#include "multiclass/train_machines.hpp"

namespace tamis {

MethodResult polish(const TrainingSet& data, const TrainContext& context, MethodResult trained) {
  const auto* expansion = dynamic_cast<const KernelExpansion*>(trained.machine.get());
  if (expansion == nullptr || expansion->parts().decision != decision_for(data, context.options)) {
    trained.report.warnings.emplace_back(
        "not polished: the model of this method cannot be used as a warm start for all rows");
    return trained;
  }
  const double before = context.watch.seconds();
  const KernelMachine start = machine_on_rows(*expansion, trained.report.support_rows);
  KernelMachine polished = train_kernel_machine(data, context, &start);
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
  // The problem solved is the polished one; the work was both.
  MachineStats stats = stats_of(own);
  stats.iterations += report.iterations;
  stats.kernel_evaluations += report.kernel_evaluations;
  stats.cached_evaluations += report.cached_evaluations;
  set_stats(stats, &report);
  report.machines = own.machines;
  report.machine_iterations = own.machine_iterations;
  MethodResult result = expansion_result(data, std::move(polished), context.control);
  report.support_rows = std::move(result.report.support_rows);
  report.chosen_rows.clear();
  trained.machine = std::move(result.machine);
  return trained;
}

}  // namespace tamis
