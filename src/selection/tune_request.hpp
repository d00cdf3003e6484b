// What is asked of a search: whether it can be done, over which values, and with which options at
// each of them.
#pragma once

#include <span>
#include <vector>

#include "tamis/tune.hpp"

namespace tamis {

/// Throws InvalidArgument for what no search can do. Axes are checked by search_axes().
void require_valid(const TuneOptions& options);

/// The axes given, or the usual ones of the method. Throws InvalidArgument when an axis is not one
/// of its numbers, or a value is not allowed.
std::vector<TuneAxis> search_axes(const Dataset& data, const TuneOptions& options,
                                  const RunControl& control);

/// Whether the option of the axis takes whole numbers only.
bool is_whole(const TuneAxis& axis);

/// The base with one value per axis. Throws InvalidArgument when an option does not take its value.
TrainOptions options_at(const TrainOptions& base, std::span<const TuneAxis> axes,
                        std::span<const double> values);

}  // namespace tamis
