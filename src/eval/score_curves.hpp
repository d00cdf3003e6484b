// The curves of one class against the rest, from one number per row.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "tamis/curves.hpp"

namespace tamis {

/// A row's score, and whether it belongs to the class.
using ScoredRow = std::pair<double, bool>;

/// Fills rows, others, roc, precision and the areas; sorts the rows by score, descending. NaN
/// counts as the lowest score.
void fill_score_curves(std::span<ScoredRow> rows, ClassCurves* curves);

/// Fills the calibration from probabilities in [0, 1].
void fill_calibration(std::span<const ScoredRow> rows, ClassCurves* curves);

}  // namespace tamis
