// What the methods that train on a part of the rows share: rows chosen so far -> machine -> which
// rows next.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "methods/common/kernel_machine.hpp"
#include "methods/common/method.hpp"
#include "neighbors/neighbor_index.hpp"
#include "tamis/group.hpp"

namespace tamis {

/// Draws take at least this many rows of each class, or all there are: with fewer, most of them
/// would be support vectors and tell nothing.
inline constexpr Index kLeastOfAClass = 50;

std::vector<Index> all_rows(const TrainingSet& data);
/// The rows of each class, in the order given (all rows, for a regression).
std::vector<std::vector<Index>> rows_by_class(const TrainingSet& data, std::span<const Index> rows);

/// Independent random numbers for each step of a sifting method.
Random sift_random(const TrainContext& context, std::uint64_t step);

/// The share of the rows that a method draws, if the options leave it to the method.
double delta_or(const TrainContext& context, double otherwise);
inline constexpr double kDelta = 0.05;

/// The share `fraction` of each class's rows (of all rows, for a regression), rounded down, and at
/// least `least` of them; ascending.
std::vector<Index> draw_rows(const TrainingSet& data, std::span<const Index> rows, double fraction,
                             Index least, Random random);

/// Those of this rank's rows that draw_rows() would draw from the rows of all ranks.
std::vector<Index> draw_own_rows(const TrainingSet& mine, double fraction, Index least,
                                 Random random, Group& group);

/// Rows to choose from, and rows held out to measure machines on; both ascending.
struct HoldOut {
  std::vector<Index> pool;
  std::vector<Index> held;  ///< stratified; empty if so few that they would tell nothing

  /// Ascending, each once, without the rows held out.
  std::vector<Index> allowed(std::vector<Index> rows) const;
  /// The pool without these rows, which ascend.
  std::vector<Index> pool_without(std::span<const Index> rows) const;
};
HoldOut hold_out(const TrainingSet& data, const TrainContext& context);

/// Distances between rows: Euclidean, or the kernel's if that is all there is.
Metric row_metric(const TrainingSet& data);

/// The rows to train on next, ascending and each once; none: there is nothing left to try. May end
/// early, or throw Cancelled, when it must stop. May also, if no rows are held out, put other rows
/// into the data, among them all earlier ones, and renumber those of `latest`.
using NextRows = std::function<std::vector<Index>(KernelMachine& latest)>;

/// Whether the machine on the first rows is one of those to choose from, or only where the second
/// one starts: then it counts only if no other was finished.
enum class FirstRound { counts, starts };

/// Trains on the first rows, then on those that `next` names, each machine starting from the last.
/// With rows held out, it stops when their error no longer improves, and the machine with the
/// smallest error counts; without, the last one does. `next` may change the costs of the data. The
/// report gets the table `rounds`, and of the details sv_initial, sv_final, rows_used, rows_seen,
/// best_round (from 1), and with rows held out validation_rows and validation_error.
MethodResult sift(const TrainingSet& data, const TrainContext& context, std::span<const Index> held,
                  std::vector<Index> first, const NextRows& next,
                  FirstRound first_round = FirstRound::counts);

/// A number among the details of the report, put there (as 0) if it is not.
double& report_detail(TrainReport& report, std::string_view name);

}  // namespace tamis
