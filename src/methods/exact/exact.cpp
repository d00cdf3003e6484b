#include "methods/exact/exact.hpp"

#include "base/group.hpp"
#include "methods/common/kernel_machine.hpp"
#include "methods/exact/exact_together.hpp"

namespace tamis {

MethodResult train_exact(const TrainingSet& data, const TrainContext& context) {
  if (group_of(context.control).size() > 1) return train_exact_together(data, context);
  KernelMachine machine = train_kernel_machine(data, context, context.start, true);
  ReportTable convergence = std::move(machine.convergence);
  MethodResult result = expansion_result(data, std::move(machine), context.control);
  if (!convergence.rows.empty()) result.report.tables.push_back(std::move(convergence));
  return result;
}

Method exact_method() {
  return {.info = {.name = "exact",
                   .summary = "the optimum of the full problem on all rows (C-SVC, epsilon-SVR)",
                   .kind = MethodKind::exact,
                   .trains_together = true,
                   .options = {"multiclass"}},
          .train = train_exact,
          .promises = {.is_optimum = true, .ignores_row_order = true, .copies_are_weights = true},
          .tuning = {.shares_kernel = true},
          .worth_a_trial = [](const DataFacts&, const TrainOptions&) { return true; }};
}

}  // namespace tamis
