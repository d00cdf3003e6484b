#include "selection/run_training.hpp"

#include "base/checked.hpp"
#include "selection/auto.hpp"
#include "training/method_table.hpp"
#include "training/prepare.hpp"
#include "training/run_method.hpp"

namespace tamis {

TrainResult run_training(const Dataset& data, const TrainOptions& options,
                         const RunControl& control) {
  if (options.method != kAutoMethod) return run_method(data, options, control);
  std::vector<Index> kept;
  TrainResult result = train_auto(without_weightless_rows(data, &kept), options, control);
  if (!kept.empty()) {
    for (Index& row : result.report.support_rows) row = kept[usize(row)];
  }
  return result;
}

}  // namespace tamis
