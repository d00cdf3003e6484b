// The SVMs of one neighborhood, as data. Who trains them is src/svm/train_local.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/kernel.hpp"
#include "tamis/options.hpp"

namespace tamis {

/// One binary SVM (or regression) over rows of some matrix.
struct TrainedMachine {
  std::vector<Index> rows;           ///< each at most once
  std::vector<double> coefficients;  ///< one per row: y * alpha
  double offset = 0;
};

/// The SVM for two of the classes of a neighborhood, or for a regression (classes 0 and 1).
struct LocalPair {
  std::int32_t first = 0;  ///< favored by positive values
  std::int32_t second = 1;
  TrainedMachine machine;
};

struct LocalMachine {
  /// The only class of the neighborhood, which then has no pairs; else -1.
  std::int32_t only_class = -1;
  std::vector<LocalPair> pairs;  ///< (a, b), a < b, ascending, of the classes that occur
};

/// The labeled rows local SVMs are trained on. Spans must outlive it.
struct LocalRows {
  const Matrix& features;
  std::span<const std::int32_t> codes;  ///< class positions; empty for a regression
  std::span<const double> targets;      ///< of a regression
  std::span<const double> cost;         ///< C of each row
  /// hash_rows(features), if many SVMs are trained; empty: made for the rows of each SVM.
  std::span<const std::uint64_t> hashes;
};

/// How the SVM of a query is trained. The kernel is that of the model.
struct LazySettings {
  SlackLoss loss = SlackLoss::l1;
  double tube = 0;  ///< regression only
  double eps = 1e-3;
  std::int64_t max_iterations = 0;  ///< pair updates; 0: no limit
  std::uint64_t seed = 0;
};

/// Trains on some of the rows, given in ascending order. A model is handed the function, so that
/// loading and predicting need no solver unless a model asks for one.
using LocalTrainer = LocalMachine (*)(const LocalRows& data, std::span<const Index> rows,
                                      const Kernel& kernel, const LazySettings& settings,
                                      const RunControl& control);

}  // namespace tamis
