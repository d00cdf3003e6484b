#include "model/local_values.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "kernels/kernel_blocks.hpp"

namespace tamis {
namespace {

constexpr Index kTermsAtOnce = 64;

// Column of the pair (a, b), a < b: (0,1), (0,2) .. (1,2) ..
Index column_of(const LocalView::Pair& pair, Index num_classes) {
  if (num_classes <= 2) return 0;
  return Index{pair.first} * (2 * num_classes - pair.first - 1) / 2 + pair.second - pair.first - 1;
}

// What the classes that occur say before any machine is asked.
std::vector<double> values_of_presence(const LocalView& machine, Index num_classes) {
  if (num_classes <= 2) return {machine.only_class == 1 ? -1.0 : 1.0};
  std::vector<double> occurs(usize(num_classes), 0);
  if (machine.only_class >= 0) occurs[usize(machine.only_class)] = 1;
  for (const LocalView::Pair& pair : machine.pairs)
    occurs[usize(pair.first)] = occurs[usize(pair.second)] = 1;
  std::vector<double> values;
  for (std::size_t a = 0; a < occurs.size(); ++a) {
    for (std::size_t b = a + 1; b < occurs.size(); ++b) values.push_back(occurs[a] - occurs[b]);
  }
  return values;
}

// Those that its pairs tell apart, ascending.
std::vector<std::int32_t> classes_of(const LocalView& machine) {
  std::vector<std::int32_t> classes;
  for (const LocalView::Pair& pair : machine.pairs)
    classes.insert(classes.end(), {pair.first, pair.second});
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  return classes;
}

// Calls body(pair, its values for the queries) for each pair of the machine.
template <typename Body>
void for_each_pair(const LocalView& machine, const Kernel& kernel, const Matrix& rows,
                   const Matrix& queries, std::span<const Index> which, const Body& body) {
  if (machine.pairs.empty()) return;
  const Index count = static_cast<Index>(which.size());
  const Index stride = round_up(count, kPanel);
  const KernelBlocks blocks(kernel, queries, which);
  std::vector<float> block(usize(kTermsAtOnce * stride));
  std::vector<double> sums(which.size());
  for (const LocalView::Pair& pair : machine.pairs) {
    std::fill(sums.begin(), sums.end(), pair.offset);
    for (std::size_t first = 0; first < pair.rows.size(); first += kTermsAtOnce) {
      const std::size_t terms = std::min<std::size_t>(kTermsAtOnce, pair.rows.size() - first);
      blocks.evaluate(rows, pair.rows.subspan(first, terms), 0, count, block.data(), stride);
      accumulate_rows(block.data(), stride, pair.coefficients.subspan(first, terms), count,
                      sums.data());
    }
    body(pair, sums);
  }
}

}  // namespace

LocalView view_of(const LocalMachine& machine) {
  LocalView view;
  view.only_class = machine.only_class;
  for (const LocalPair& pair : machine.pairs) {
    view.pairs.push_back({pair.first, pair.second, pair.machine.offset, pair.machine.rows,
                          pair.machine.coefficients});
  }
  return view;
}

void local_values(const LocalView& machine, const Kernel& kernel, const Matrix& rows,
                  Index num_classes, const Matrix& queries, std::span<const Index> which,
                  std::span<double> values) {
  const std::vector<double> presence = values_of_presence(machine, num_classes);
  const std::size_t columns = presence.size();
  for (std::size_t q = 0; q < which.size(); ++q)
    std::copy(presence.begin(), presence.end(), values.begin() + static_cast<Index>(q * columns));
  for_each_pair(machine, kernel, rows, queries, which,
                [&](const LocalView::Pair& pair, std::span<const double> sums) {
                  const std::size_t column = usize(column_of(pair, num_classes));
                  for (std::size_t q = 0; q < sums.size(); ++q)
                    values[q * columns + column] = sums[q];
                });
}

// One-vs-one. Classes that occur beat all others, so the winner is one of them; between two that
// occur, the vote is the second's unless the pair's machine says otherwise.
void local_classes(const LocalView& machine, const Kernel& kernel, const Matrix& rows,
                   Index num_classes, const Matrix& queries, std::span<const Index> which,
                   std::span<std::int32_t> classes) {
  if (machine.pairs.empty()) {
    std::fill(classes.begin(), classes.end(), std::max(0, machine.only_class));
    return;
  }
  if (num_classes <= 2) {
    std::vector<double> values(which.size());
    local_values(machine, kernel, rows, num_classes, queries, which, values);
    for (std::size_t q = 0; q < values.size(); ++q)
      classes[q] = winning_class(Decision::single, {&values[q], 1}, {});
    return;
  }
  const std::vector<std::int32_t> occurring = classes_of(machine);
  const std::size_t count = occurring.size();
  const auto place = [&](std::int32_t code) {
    return static_cast<std::size_t>(std::lower_bound(occurring.begin(), occurring.end(), code) -
                                    occurring.begin());
  };
  std::vector<std::int32_t> votes(which.size() * count);
  for (std::size_t v = 0; v < votes.size(); ++v) votes[v] = static_cast<std::int32_t>(v % count);
  for_each_pair(machine, kernel, rows, queries, which,
                [&](const LocalView::Pair& pair, std::span<const double> sums) {
                  const std::size_t first = place(pair.first);
                  const std::size_t second = place(pair.second);
                  for (std::size_t q = 0; q < sums.size(); ++q) {
                    if (!(sums[q] > 0)) continue;
                    ++votes[q * count + first];
                    --votes[q * count + second];
                  }
                });
  for (std::size_t q = 0; q < which.size(); ++q) {
    const auto own = std::span(votes).subspan(q * count, count);
    classes[q] = occurring[usize(std::max_element(own.begin(), own.end()) - own.begin())];
  }
}

}  // namespace tamis
