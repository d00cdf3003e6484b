// Cross-validation in rounds of folds: points of a search that have lost are not scored on the
// folds that are left.
#pragma once

#include <exception>
#include <functional>
#include <span>
#include <vector>

#include "tamis/dataset.hpp"

namespace tamis {

/// What cross-validation found out about one point.
struct FoldScores {
  /// By fold: share of wrong rows, or mean squared error. NaN: stopped, or dropped before.
  std::vector<double> errors;
  /// By fold and held-out row: 0 or 1, or the squared error. Empty when nobody is to be dropped.
  std::vector<std::vector<float>> losses;
  double seconds = 0;
  std::exception_ptr failure;  ///< why an error is missing; null when it was just not finished
  bool dropped = false;        ///< lost on the folds whose errors are known
};

/// Sets the error of a fold, the mean of what is lost on its rows.
void set_losses(std::span<const double> losses, std::size_t fold, FoldScores* scores);

/// Folds that are scored together.
struct FoldRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// One fold, then two, four and so on, so that decisions come early and many threads have work
/// later. All at once without racing. Never a matter of the number of threads: who is dropped
/// depends on it.
std::vector<FoldRange> fold_rounds(std::size_t folds, bool racing);

/// The folds that an error is to be of: those of the rounds that were finished; 0 when there are
/// none, or a training failed.
std::size_t finished_folds(const FoldScores& scores, bool racing);

/// Whether a point will almost certainly not end with a lower error than `best`, judged by the
/// first `done` folds.
bool has_lost(const FoldScores& point, const FoldScores& best, std::size_t done);

/// The memory that losses take.
Index race_bytes(std::size_t points, Index rows);

struct Race {
  std::size_t points = 0;
  std::size_t folds = 0;
  bool racing = true;
  /// Scores the points on the folds. What it leaves out when told to stop stays NaN.
  std::function<void(std::span<const std::size_t> points, const FoldRange& folds,
                     std::vector<FoldScores>* scores)>
      score;
  std::function<void()> on_skipped;  ///< called for each fold that a dropped point is spared
};

/// Scores all points by rounds, and drops those that have lost after each.
std::vector<FoldScores> run_race(const Race& race);

}  // namespace tamis
