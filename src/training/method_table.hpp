// The methods `train` knows, in the order of the documentation.
#pragma once

#include <span>
#include <string_view>

#include "methods/common/method.hpp"

namespace tamis {

struct MethodEntry {
  std::string_view name;
  bool does_regression;
  bool uses_kernel;
  bool looks_at_part;  ///< one ordinary machine on a part of the rows
  MethodResult (*train)(const TrainingSet& data, const TrainContext& context);
};

std::span<const MethodEntry> method_table();

/// Not a way to train but the wish to have one chosen.
inline constexpr std::string_view kAutoMethod = "auto";

/// Throws InvalidArgument with all names for an unknown one.
const MethodEntry& find_method(std::string_view name);

}  // namespace tamis
