// ColumnMap::match() within a memory budget.
#pragma once

#include "tamis/columns.hpp"
#include "tamis/control.hpp"
#include "tamis/dataset.hpp"

namespace tamis {

/// As map.match(data), where the budget leaves room for it; else throws ResourceError.
Dataset match_columns(const ColumnMap& map, const Dataset& data, const RunControl& control);

}  // namespace tamis
