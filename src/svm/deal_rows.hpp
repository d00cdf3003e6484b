// Rows spread over the ranks of a group by what they hold.
#pragma once

#include <span>
#include <vector>

#include "svm/training_set.hpp"
#include "tamis/group.hpp"

namespace tamis {

struct DealtRows {
  TrainingSet set;               ///< the rows of this rank
  std::vector<Index> positions;  ///< of each among the rows of all ranks; ascending
};

/// Every row goes to a rank that its values decide, so that copies of a row stay together and each
/// rank gets its share of any part of the rows. Where the kernel reaches near rows only, a rank
/// gets many small regions whole; else single rows. The rows of all ranks are numbered in the order
/// of the ranks.
DealtRows deal_by_content(const TrainingSet& mine, Group& group);

/// Row i of this rank goes to rank rank_of_row[i].
DealtRows deal_rows(const TrainingSet& mine, std::span<const int> rank_of_row, Group& group);

/// The given rows of all ranks, ascending by position, on rank `root`; an empty set on the others.
/// `rows` are of this rank's set.
DealtRows gather_rows(const DealtRows& from, std::span<const Index> rows, Group& group, int root);
/// The same on every rank.
DealtRows gather_rows(const DealtRows& from, std::span<const Index> rows, Group& group);

}  // namespace tamis
