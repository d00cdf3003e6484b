// Parameters that were tried, and which of them count as best.
#pragma once

#include <span>
#include <vector>

#include "selection/forecast.hpp"
#include "tamis/options.hpp"

namespace tamis {

struct Try {
  TrainOptions options;
  Trial trial;
};

/// Of an error measured on so many held-out rows; for a mean squared error, as if residuals were
/// normal.
double standard_error(double error, Task task, Index held_out_rows);

/// Those whose error is at most so many standard errors above the lowest. There is at least one.
std::vector<Try> close_to_best(std::span<const Try> tries, double standard_errors,
                               Index held_out_rows);

/// Of the tries that are as good as the best, the widest kernel: rows to come are hardly ever
/// closer to the training rows than the held-out ones.
Try smoothest_of_best(std::span<const Try> tries, Index held_out_rows);

}  // namespace tamis
