// What training on more rows will take and bring, from trials on fewer.
#pragma once

#include <span>

#include "methods/common/method.hpp"
#include "tamis/dataset.hpp"

namespace tamis {

struct Trial {
  Index rows = 0;
  double seconds = 0;
  double error = 0;  ///< on rows held out
};

struct Forecast {
  double seconds = 0;
  double error = 0;
};

/// From the last two trials, which have ever more rows. Time follows a power of the rows. The error
/// goes on falling as it did, but at a slowing pace, and never rises.
Forecast forecast(std::span<const Trial> trials, Index rows, const Growth& growth);

/// The most rows, at least those of the last trial and at most `all`, that fit into the seconds.
Index affordable_rows(std::span<const Trial> trials, double seconds, Index all,
                      const Growth& growth);

}  // namespace tamis
