// Pictures of two features: where a model decides for which class.
#pragma once

#include "tamis/compare.hpp"

namespace tamis {

/// The frame of the picture: what the rows span, and a little more.
struct Frame {
  double low[2] = {0, 0};
  double high[2] = {0, 0};
};

Frame frame_of(const Matrix& features);

/// `classes`: what the positions in the answer refer to.
DecisionRegions decision_regions(const Model& model, const Labels& classes, const Frame& frame,
                                 const RunControl& control);

/// Some of the rows, evenly spread over their numbers.
std::vector<Index> spread_rows(Index rows, Index most);

}  // namespace tamis
