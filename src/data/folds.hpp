// Drawing rows so that every part has its share of each class.
#pragma once

#include <span>
#include <vector>

#include "base/random.hpp"
#include "tamis/dataset.hpp"

namespace tamis {

/// Rows that are to be drawn from alike: those of each class, or all rows as one.
using Strata = std::vector<std::vector<Index>>;

/// The rows that weigh something, by class in the order of distinct_classes(); all as one for a
/// regression. Throws DataError when there are no labels.
Strata row_strata(const Dataset& data, bool regression);

/// Deals the rows of each stratum to the parts in turn, in random order. Rows of a part ascend.
std::vector<std::vector<Index>> deal_rows(Strata strata, Index parts, Random& random);

/// Draws `count` rows in proportion to the strata, but at least one of each, ascending. All rows
/// when there are no more.
std::vector<Index> draw_rows(Strata strata, Index count, Random& random);

/// The same, but in runs of up to 50 rows that follow each other within their stratum, twenty of
/// them or more: where neighbours in a file are near copies, rows drawn one by one would find their
/// copies among the rest.
std::vector<Index> draw_runs(const Strata& strata, Index count, Random& random);

/// The rows of [0, count) that are not among `rows`, which ascend.
std::vector<Index> all_but(std::span<const Index> rows, Index count);

/// The strata without `rows`; strata that are empty then are left out. Both ascend.
Strata without(const Strata& strata, std::span<const Index> rows);

}  // namespace tamis
