#include "methods/common/binary_settings.hpp"

namespace tamis {

qp::Limits limits_now(const TrainContext& context) {
  const TrainOptions& options = context.options;
  return {options.eps, options.max_iterations,
          options.max_seconds > 0 ? context.seconds_left() : 0};
}

BinarySettings binary_settings(const TrainingSet& data, const TrainContext& context,
                               Index cache_bytes) {
  BinarySettings settings;
  settings.kernel = data.kernel;
  settings.task = data.is_regression() ? Task::regression : Task::classification;
  settings.loss = context.options.loss;
  settings.tube = context.options.tube_or_default();
  settings.seed = context.options.seed;
  settings.limits = limits_now(context);
  settings.cache_bytes = cache_bytes;
  return settings;
}

}  // namespace tamis
