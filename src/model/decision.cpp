#include "model/decision.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

constexpr std::string_view kNames[] = {"single", "one-vs-one", "one-vs-rest"};

}  // namespace

std::string_view decision_name(Decision decision) { return kNames[static_cast<int>(decision)]; }

Decision parse_decision(std::string_view name) {
  for (int i = 0; i < 3; ++i) {
    if (name == kNames[i]) return static_cast<Decision>(i);
  }
  throw DataError(
      fmt::format("there is no decision '{}': single, one-vs-one or one-vs-rest", name));
}

Index num_machines(Decision decision, Index num_classes) {
  if (decision == Decision::single) return 1;
  if (decision == Decision::one_vs_rest) return num_classes;
  return checked_product(num_classes, num_classes - 1) / 2;
}

std::pair<Index, Index> class_pair(Index machine, Index num_classes) {
  Index i = 0;
  Index j = machine + 1;  // (i, j) once the pairs of the classes below i are taken off
  while (j >= num_classes) {
    ++i;
    j += i + 1 - num_classes;
  }
  return {i, j};
}

Index num_voters(Decision decision, Index machines) {
  if (decision != Decision::one_vs_one) return 0;
  Index classes = 1;
  while (classes * (classes - 1) / 2 < machines) ++classes;
  return classes;
}

std::int32_t winning_class(Decision decision, std::span<const double> values,
                           std::span<std::int32_t> votes) {
  if (decision == Decision::single) return values[0] > 0 ? 0 : 1;
  if (decision == Decision::one_vs_rest)
    return static_cast<std::int32_t>(std::max_element(values.begin(), values.end()) -
                                     values.begin());
  std::fill(votes.begin(), votes.end(), 0);
  std::size_t pair = 0;
  for (std::size_t i = 0; i < votes.size(); ++i) {
    for (std::size_t j = i + 1; j < votes.size(); ++j, ++pair) ++votes[values[pair] > 0 ? i : j];
  }
  return static_cast<std::int32_t>(std::max_element(votes.begin(), votes.end()) - votes.begin());
}

void require_classes(const DecisionShape& shape, const Labels& classes) {
  const Index count = classes.size();
  const bool fits = shape.decision == Decision::single
                        ? count <= 2 && shape.columns == 1
                        : count >= 1 && num_machines(shape.decision, count) == shape.columns;
  if (fits) return;
  throw DataError(fmt::format("{} not go with {} ({})", counted(count, "class does", "classes do"),
                              counted(shape.columns, "binary SVM"), decision_name(shape.decision)));
}

std::vector<std::string> decision_column_names(const DecisionShape& shape, const Labels& classes) {
  require_classes(shape, classes);
  const Decision decision = shape.decision;
  const Index count = classes.size();
  std::vector<std::string> names;
  if (decision == Decision::single) {
    names.push_back(count == 0   ? "value"
                    : count == 1 ? classes.name(0)
                                 : classes.name(0) + "/" + classes.name(1));
    return names;
  }
  for (Index i = 0; i < count; ++i) {
    if (decision == Decision::one_vs_rest) names.push_back(classes.name(i));
    for (Index j = i + 1; j < count && decision == Decision::one_vs_one; ++j)
      names.push_back(classes.name(i) + "/" + classes.name(j));
  }
  return names;
}

}  // namespace tamis
