// Sparse rows like those of texts, for the generator `words`.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "tamis/dataset.hpp"

namespace tamis {

/// A row of about 60 different columns out of `features`, ascending, of length 1. The frequencies
/// of the columns fall as 1 / rank (Zipf's law); rare ones have larger values, as by tf-idf. A
/// third of the columns is more frequent with `label` +1, a third with -1, how much so differs from
/// row to row.
void draw_words(Index features, double label, Random& random,
                std::vector<std::pair<std::int32_t, float>>* out);

}  // namespace tamis
