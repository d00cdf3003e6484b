// What methods are given, for tests of their parts.
#pragma once

#include "methods/common/method.hpp"
#include "support/random_data.hpp"
#include "tamis/generate.hpp"

namespace tamis::testing {

/// Two features, two classes, C = 10, an RBF kernel as narrow as the fields ask for.
inline TrainingSet checkerboard_set(Index rows, std::uint64_t seed) {
  const Dataset data = generate("checkerboard", {.rows = rows, .seed = seed}).data;
  TrainingSet set;
  set.features = data.features();
  for (const std::int32_t code : encode_labels(data.labels(), distinct_classes(data.labels())))
    set.codes.push_back(code);
  set.num_classes = 2;
  set.cost.assign(usize(rows), 10.0);
  set.kernel = Kernel{KernelType::rbf, 100, 0, 3};
  return set;
}

/// Options and control with their defaults, for as long as a context is in use.
struct MethodCall {
  TrainOptions options;
  RunControl control;
  TrainContext context() const& { return {options, control, {}}; }
  TrainContext context() const&& = delete;
};

inline double squared_distance(const Matrix& features, Index a, Index b) {
  double sum = 0;
  for (Index j = 0; j < features.cols(); ++j) {
    const double difference =
        static_cast<double>(features.at(a, j)) - static_cast<double>(features.at(b, j));
    sum += difference * difference;
  }
  return sum;
}

}  // namespace tamis::testing
