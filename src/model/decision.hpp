// How the values of several binary machines become one class.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tamis/dataset.hpp"
#include "tamis/expansion.hpp"

namespace tamis {

/// "single", "one-vs-one", "one-vs-rest": part of the model format.
std::string_view decision_name(Decision decision);
/// Throws DataError on another name.
Decision parse_decision(std::string_view name);

/// Machines a decision between `num_classes` classes takes.
Index num_machines(Decision decision, Index num_classes);

/// The classes i < j that machine `machine` of one_vs_one tells apart.
std::pair<Index, Index> class_pair(Index machine, Index num_classes);

/// Classes that vote where so many machines decide: the work space of winning_class().
Index num_voters(Decision decision, Index machines);

/// The class a row of machine values stands for. One-vs-one as LIBSVM: a value above 0 is a vote
/// for i, any other for j; most votes win. Ties go to the lowest class. `votes` is work space of
/// `num_classes` counts, used by one-vs-one only.
std::int32_t winning_class(Decision decision, std::span<const double> values,
                           std::span<std::int32_t> votes);

/// How a machine decides, and how many decision columns it has.
struct DecisionShape {
  Decision decision = Decision::single;
  Index columns = 1;

  /// A single column is decided by its sign, whatever it is called.
  Decision used() const { return columns == 1 ? Decision::single : decision; }
};

/// Throws DataError when the classes do not go with that many columns. Takes no memory, unlike the
/// names: those of all pairs of many classes, or of long names, are far larger than the model.
void require_classes(const DecisionShape& shape, const Labels& classes);

/// "a/b" for a pair, "a" for one against the rest, "value" for a regression (no classes). Throws as
/// require_classes() does.
std::vector<std::string> decision_column_names(const DecisionShape& shape, const Labels& classes);

}  // namespace tamis
