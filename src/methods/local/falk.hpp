// Fast local kernel machines (Segata and Blanzieri 2010): a machine on the k nearest rows of each
// of a set of centres that covers the data.
#pragma once

#include "methods/common/method.hpp"
#include "neighbors/neighbor_index.hpp"

namespace tamis {

/// FaLK-SVM: a row is decided by the machine of its nearest training row.
MethodResult train_falk(const TrainingSet& data, const TrainContext& context);
Method falk_method();
/// FaLK-SVMc: by the machine of the nearest centre. Keeps only centres and support vectors.
MethodResult train_falk_c(const TrainingSet& data, const TrainContext& context);
Method falk_c_method();
/// FaLK-SVMl: C, k and the local kernel width chosen on a few neighbourhoods first.
MethodResult train_falk_l(const TrainingSet& data, const TrainContext& context);
Method falk_l_method();

/// The index an option names.
Structure parse_structure(std::string_view name);

/// k when the user gives none: of all numbers of rows, so that time grows as they do. Larger
/// neighborhoods are hardly more accurate (docs/reproduction/falk.md).
inline constexpr Index kDefaultNeighbors = 500;

}  // namespace tamis
