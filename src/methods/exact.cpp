#include "methods/exact.hpp"

#include "methods/kernel_machine.hpp"

namespace tamis {

MethodResult train_exact(const TrainingSet& data, const TrainContext& context) {
  return expansion_result(data, train_kernel_machine(data, context));
}

}  // namespace tamis
