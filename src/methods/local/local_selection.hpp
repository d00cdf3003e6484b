// Choosing the parameters of local machines (Segata and Blanzieri 2010, definitions 4 and 5).
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "methods/common/method.hpp"
#include "neighbors/neighbor_index.hpp"

namespace tamis {

struct LocalParameters {
  Index k = 0;
  double cost_factor = 1;  ///< on the C of every row
  double percentile = -1;  ///< of the local distances, as kernel width; -1: the kernel has none
  bool cut_short = false;  ///< whether a limit ended the search before the rule did
};

/// k'-internal cross-validation on the neighbourhoods of a few random rows: the innermost rows are
/// dealt into folds, and each fold is predicted by a machine trained on the rest of the
/// neighbourhood. They are half of the smallest k, so that every k answers for the same rows.
/// Larger k are tried while the lowest error falls, as the paper does for FaLK-SVM; the settings
/// with the lowest error are taken (definition 5), of equals those with the smallest k and the
/// smoothest. SelectionRule::smoothest: larger k are tried while the error clearly falls, and of
/// the costs and widths that are about as good as the best the smoothest is taken. Adds a table
/// "selection" to the report.
LocalParameters select_local_parameters(const TrainingSet& data, const NeighborIndex& index,
                                        const TrainContext& context, TrainReport* report);

struct LocalPoint {
  Index k = 0;
  double cost_factor = 1;  ///< on the C of every row
  double gamma = 1;        ///< of kernels that have one
};

/// The same for parameters that somebody else names: by point, the share of wrong answers in each
/// of `centres` neighbourhoods, for the innermost half of the smallest k. `on_centre` is called,
/// from many threads, for every neighbourhood of every point. When time is up or the caller
/// cancels, what is not done is NaN.
std::vector<std::vector<double>> internal_cross_validation(const TrainingSet& data,
                                                           std::span<const LocalPoint> points,
                                                           Index centres, Index folds,
                                                           const TrainContext& context,
                                                           const std::function<void()>& on_centre);

/// The kernel width 1 / sigma, where sigma is a percentile of the squared distances (laplacian: of
/// the L1 distances) between rows of a neighbourhood; 1 when all are copies.
double local_gamma(KernelType kernel, const Matrix& features, std::span<const Index> rows,
                   double percentile);

}  // namespace tamis
