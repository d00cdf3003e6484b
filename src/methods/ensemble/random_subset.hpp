// Ensembles of machines on random parts of the rows (K. Nishida, J. Fujiki, T. Kurita, "Ensemble
// random-subset SVM", 2011).
//
//   repeat for m = 1 .. M:
//     train R candidates, each on Q random rows with a random C and gamma
//     keep the one with which the ensemble does best as member m
//   find the weights of all members
//
// Candidates do not depend on the members before them, only the choice among them does. So they are
// trained many at a time, ahead of the choice.
#pragma once

#include "methods/common/method.hpp"

namespace tamis {

/// A WeightedEnsemble; of several classes, an ensemble for each binary machine.
MethodResult train_random_subset(const TrainingSet& data, const TrainContext& context);
Method random_subset_method();

}  // namespace tamis
