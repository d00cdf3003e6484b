// Classifiers at a large C, from one at a smaller C: steps of all free coefficients at once.
//
// Pairs converge slowly where C is large, and a search spends most of its time there. But few
// coefficients are free then. Newton's step for all of them goes to the optimum of the face that
// the others' bounds leave, or to the first bound met, which then holds another coefficient; at the
// optimum of a face those that most want to leave their bounds are set free (J. Nocedal, S. Wright,
// "Numerical Optimization", 2nd ed., section 16.5). The inverse of the kernel matrix of the free
// ones is kept, and changed with them.
#pragma once

#include <functional>
#include <span>

#include "gram/stored_rows.hpp"
#include "svm/binary_task.hpp"

namespace tamis {

struct FaceResult {
  /// Machine, sums and the number of bounded support vectors; what else the stats hold is 0.
  BinaryResult found;
  bool converged = false;
  double work = 0;  ///< multiplications
};

/// Starts from a machine of the task whose coefficients are within their bounds and have the sum 0,
/// but for rounding, and from its sums (see BinaryResult). Converged means that the KKT gap is at
/// most `eps`. Otherwise the objective is smaller than that of the start: it ends after about four
/// times face_work(), when `stopped`, where no step helps, and with more than some hundred free
/// coefficients. `cost` is C of every row of the matrix; the task has targets 1 and -1.
FaceResult take_face_steps(const StoredMatrix& kernel, std::span<const double> cost,
                           const BinaryTask& task, const TrainedMachine& start,
                           std::span<const double> start_sums, double eps,
                           const std::function<bool()>& stopped);

/// Multiplications that this takes, about, from a machine with so many free coefficients.
double face_work(Index points, Index free);

}  // namespace tamis
