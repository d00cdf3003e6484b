#include "methods/exact.hpp"

#include "methods/kernel_machine.hpp"

namespace tamis {

MethodResult train_exact(const TrainingSet& data, const TrainContext& context) {
  KernelMachine machine = train_kernel_machine(data, context);
  MethodResult result;
  result.machine = make_expansion(data, machine);
  result.report = std::move(machine.report);
  if (!machine.convergence.rows.empty())
    result.report.tables.push_back(std::move(machine.convergence));
  return result;
}

}  // namespace tamis
