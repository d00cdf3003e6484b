#include "methods/exact/exact.hpp"

#include "methods/common/kernel_machine.hpp"

namespace tamis {

MethodResult train_exact(const TrainingSet& data, const TrainContext& context) {
  KernelMachine machine = train_kernel_machine(data, context);
  ReportTable convergence = std::move(machine.convergence);
  MethodResult result = expansion_result(data, std::move(machine));
  if (!convergence.rows.empty()) result.report.tables.push_back(std::move(convergence));
  return result;
}

}  // namespace tamis
