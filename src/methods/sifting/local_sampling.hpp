// Local Sampling: machines on small disjoint subsamples tell where support vectors are dense; rows
// are drawn from balls around them, the more the denser, and one machine is trained on all.
// Barcenas, Gonzalez-Lima and Quiroz, "A bagging and importance sampling approach to Support Vector
// Machines", section 2.
#pragma once

#include "methods/common/method.hpp"

namespace tamis {

MethodResult train_local_sampling(const TrainingSet& data, const TrainContext& context);
Method local_sampling_method();

}  // namespace tamis
