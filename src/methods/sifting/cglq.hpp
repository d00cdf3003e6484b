// CGLQ: the support vectors of a small machine, their neighbours and a few random rows make the
// next machine's training set. Camelo, Gonzalez-Lima and Quiroz, "Nearest neighbors methods for
// support vector machines", Annals of Operations Research 235, 2015.
#pragma once

#include "methods/common/method.hpp"

namespace tamis {

MethodResult train_cglq(const TrainingSet& data, const TrainContext& context);
Method cglq_method();

}  // namespace tamis
