// The three ways to score points of a search: on a shared kernel matrix, by whole trainings, or on
// the neighborhoods of some rows.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "methods/common/shared_grid.hpp"
#include "selection/search_clock.hpp"
#include "tamis/tune.hpp"

namespace tamis {

/// Points to score, and the rows to score them on. What it refers to must outlive it.
struct ScoringRound {
  const TuneOptions& request;
  std::span<const TuneAxis> axes;
  std::vector<std::span<const double>> points;  ///< one value per axis
  const Dataset& rows;
  std::vector<std::vector<Index>> folds;
  bool racing;  ///< drop points that have lost on the first folds
  const SearchClock& clock;
  const RunControl& control;
  std::function<void()> on_part;  ///< called, from many threads, when a part of a point is done
                                  ///< or not needed
};

enum class Scoring {
  shared_kernel,    ///< exact machines over cost and gamma whose matrices fit into memory
  whole_trainings,  ///< any method, any axes
  neighborhoods,    ///< k'-internal cross-validation of local methods
};

Scoring choose_scoring(const TuneOptions& request, std::span<const TuneAxis> axes, Index rows,
                       const RunControl& control);

/// Parts of a point: folds, or neighborhoods.
Index parts_per_point(const TuneOptions& request);

/// By point. When time is up or the caller cancels, errors that are not known yet are NaN. Throws
/// what a training throws, except with whole trainings, where a failure belongs to its point.
std::vector<FoldScores> score_points(const ScoringRound& round, Scoring scoring);

}  // namespace tamis
