// What the machine of a neighbourhood says of rows.
#pragma once

#include <span>
#include <vector>

#include "model/decision.hpp"
#include "model/local_machine.hpp"

namespace tamis {

/// A LocalMachine, wherever its arrays lie.
struct LocalView {
  struct Pair {
    std::int32_t first = 0;
    std::int32_t second = 1;
    double offset = 0;
    std::span<const Index> rows;
    std::span<const double> coefficients;
  };
  std::int32_t only_class = -1;
  std::vector<Pair> pairs;
};

LocalView view_of(const LocalMachine& machine);

/// One value for a regression or two classes, one a pair of classes otherwise.
inline Decision local_decision(Index num_classes) {
  return num_classes > 2 ? Decision::one_vs_one : Decision::single;
}

/// values[q * columns + c] for the given rows of `queries`. The value of a pair is its machine's.
/// Where the neighbourhood lacks one of the two classes it is +1 or -1 for the other, and 0 where
/// it has neither: voting then finds the winner among the classes that occur. The machine's rows
/// are those of `rows`; num_classes is 0 for a regression.
void local_values(const LocalView& machine, const Kernel& kernel, const Matrix& rows,
                  Index num_classes, const Matrix& queries, std::span<const Index> which,
                  std::span<double> values);

/// The classes that local_values() stand for, without these: there are as many as pairs of classes,
/// of which the neighbourhood may have few.
void local_classes(const LocalView& machine, const Kernel& kernel, const Matrix& rows,
                   Index num_classes, const Matrix& queries, std::span<const Index> which,
                   std::span<std::int32_t> classes);

}  // namespace tamis
