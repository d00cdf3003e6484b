#include "model/local_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "model/anchor_search.hpp"
#include "model/decision_sums.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

constexpr Index kQueries = 512;  // rows decided at a time by one machine

void require(bool ok, std::string_view what) {
  if (!ok) throw DataError(fmt::format("the local models do not fit together: {}", what));
}

// begin[0] = 0, ascending, begin.back() = count.
void require_ranges(const SharedArray<Index>& begin, Index ranges, Index count,
                    std::string_view what) {
  require(begin.size() == ranges + 1 && begin[0] == 0 && begin[ranges] == count, what);
  require(std::is_sorted(begin.span().begin(), begin.span().end()), what);
}

template <typename T>
void require_below(const SharedArray<T>& values, Index limit, std::string_view what) {
  for (const T value : values.span()) require(value >= 0 && value < limit, what);
}

// Anchors are copied: of one large row there could be as many as the file has room for numbers.
void require_distinct(const SharedArray<Index>& values, Index limit, std::string_view what) {
  std::vector<std::uint8_t> seen(usize(limit), 0);
  for (const Index value : values.span()) require(seen[usize(value)]++ == 0, what);
}

void require_finite(const SharedArray<double>& values, std::string_view what) {
  for (const double value : values.span()) require(std::isfinite(value), what);
}

// Queries in the order of their machines.
std::vector<Index> grouped(std::span<const std::int32_t> machines, Index num_machines) {
  std::vector<Index> queries(machines.size());
  if (std::ssize(machines) < num_machines / 16) {  // nothing for each machine that has none of them
    std::iota(queries.begin(), queries.end(), 0);
    std::stable_sort(queries.begin(), queries.end(), [machines](Index a, Index b) {
      return machines[usize(a)] < machines[usize(b)];
    });
    return queries;
  }
  std::vector<Index> next(usize(num_machines + 1), 0);
  for (const std::int32_t m : machines) ++next[usize(m) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (std::size_t q = 0; q < machines.size(); ++q)
    queries[usize(next[usize(machines[q])]++)] = static_cast<Index>(q);
  return queries;
}

}  // namespace

LocalModels::LocalModels(LocalParts parts) : parts_(std::move(parts)) {
  validate();
  std::vector<std::uint8_t> used(usize(parts_.rows.rows()), 0);
  for (const Index row : parts_.term_rows.span()) used[usize(row)] = 1;
  num_support_vectors_ = std::accumulate(used.begin(), used.end(), Index{0});
  search_ = std::make_unique<AnchorSearch>(parts_.rows, parts_.anchors, parts_.kernel);
}

LocalModels::~LocalModels() = default;

Matrix LocalModels::support_points() const {
  const auto terms = parts_.term_rows.span();
  std::vector<Index> rows(terms.begin(), terms.end());
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return parts_.rows.select(rows);
}

bool LocalModels::is_constant() const {
  const auto same = [](const auto& values) {
    return std::equal(values.begin() + 1, values.end(), values.begin());
  };
  const auto offsets = parts_.offsets.span();
  return num_support_vectors_ == 0 && same(parts_.only_class.span()) &&
         (offsets.empty() || same(offsets));
}

void LocalModels::validate() const {
  const LocalParts& p = parts_;
  const Index machines = p.only_class.size();
  const Index pairs = p.offsets.size();
  p.kernel.validate();
  require(p.kernel.type != KernelType::precomputed, "a precomputed kernel has no neighbors");
  require(machines > 0 && p.rows.rows() > 0, "there are none");
  require(p.num_classes >= 0 && p.num_classes != 1, "classes");
  require_below(p.anchors, p.rows.rows(), "an anchor's row");
  require_distinct(p.anchors, p.rows.rows(), "two anchors are the same row");
  require_below(p.machine_of_anchor, machines, "an anchor's local SVM");
  require((p.machine_of_anchor.empty() ? machines : p.machine_of_anchor.size()) == num_anchors(),
          "the number of anchors");
  for (const std::int32_t only : p.only_class.span())
    require(only >= -1 && only < p.num_classes, "the class of a constant");
  require(p.gammas.empty() || p.gammas.size() == machines, "the number of kernel widths");
  for (const double gamma : p.gammas.span())
    require(std::isfinite(gamma) && gamma > 0, "a kernel width");
  require_ranges(p.pair_begin, machines, pairs, "the pairs of a local SVM");
  require(p.pair_classes.size() == 2 * pairs, "the classes of a pair");
  const auto pair_at = [&p](Index k) {
    return std::pair(p.pair_classes[2 * k], p.pair_classes[2 * k + 1]);
  };
  for (Index k = 0; k < pairs; ++k) {
    const auto [first, second] = pair_at(k);
    require(first >= 0 && first < second && second < std::max<Index>(2, p.num_classes),
            "the classes of a pair");
  }
  for (Index m = 0; m < machines; ++m) {
    const Index own = p.pair_begin[m + 1] - p.pair_begin[m];
    require(p.only_class[m] >= 0 ? own == 0 : own > 0, "a local SVM has pairs, or one class");
    require(p.num_classes > 2 || own <= 1, "the pairs of a local SVM");
    for (Index k = p.pair_begin[m] + 1; k < p.pair_begin[m + 1]; ++k)
      require(pair_at(k - 1) < pair_at(k), "the pairs of a local SVM must ascend");
  }
  require_finite(p.offsets, "an intercept");
  require_ranges(p.term_begin, pairs, p.coefficients.size(), "the terms of a pair");
  require(p.term_rows.size() == p.coefficients.size(), "the rows of the terms");
  require_below(p.term_rows, p.rows.rows(), "the row of a term");
  require_finite(p.coefficients, "a coefficient");
}

std::string LocalModels::describe() const {
  const Index constants =
      std::count_if(parts_.only_class.span().begin(), parts_.only_class.span().end(),
                    [](std::int32_t only) { return only >= 0; });
  return fmt::format("{}; {}, {} of them constant; nearest {}; {}", tamis::describe(parts_.kernel),
                     counted(num_machines(), "local SVM"), constants,
                     parts_.anchors.empty() ? "row" : "center",
                     counted(num_support_vectors_, "support vector"));
}

Index LocalModels::num_anchors() const {
  return parts_.anchors.empty() ? parts_.rows.rows() : parts_.anchors.size();
}

DecisionShape LocalModels::decision_shape() const {
  const Decision decision = local_decision(parts_.num_classes);
  return {decision, tamis::num_machines(decision, parts_.num_classes)};
}

std::vector<std::int32_t> LocalModels::machines_of(const Matrix& features,
                                                   const RunControl& control) const {
  const std::vector<Index> nearest = search_->nearest(features, control);
  std::vector<std::int32_t> machines(usize(features.rows()));
  for (std::size_t q = 0; q < machines.size(); ++q) {
    machines[q] = parts_.machine_of_anchor.empty() ? static_cast<std::int32_t>(nearest[q])
                                                   : parts_.machine_of_anchor[nearest[q]];
  }
  return machines;
}

LocalView LocalModels::view(Index machine) const {
  LocalView view;
  view.only_class = parts_.only_class[machine];
  for (Index p = parts_.pair_begin[machine]; p < parts_.pair_begin[machine + 1]; ++p) {
    const Index begin = parts_.term_begin[p];
    const Index end = parts_.term_begin[p + 1];
    view.pairs.push_back({parts_.pair_classes[2 * p], parts_.pair_classes[2 * p + 1],
                          parts_.offsets[p], parts_.term_rows.range(begin, end),
                          parts_.coefficients.range(begin, end)});
  }
  return view;
}

Kernel LocalModels::kernel_of(Index machine) const {
  Kernel kernel = parts_.kernel;
  if (!parts_.gammas.empty()) kernel.gamma = parts_.gammas[machine];
  return kernel;
}

// Calls answer(machine, queries) for the rows of each machine, some at a time, from many threads.
template <typename Answer>
void LocalModels::for_each_machine(const Matrix& features, const RunControl& control,
                                   const Answer& answer) const {
  require_packing_memory(parts_.rows, features, control);
  const std::vector<std::int32_t> machines = machines_of(features, control);
  const std::vector<Index> queries = grouped(machines, num_machines());
  struct Piece {
    Index machine;
    Index begin;
    Index end;
  };
  std::vector<Piece> pieces;
  for (Index k = 0; k < std::ssize(queries); ++k) {
    const Index machine = machines[usize(queries[usize(k)])];
    if (pieces.empty() || pieces.back().machine != machine || k - pieces.back().begin == kQueries)
      pieces.push_back({machine, k, k});
    pieces.back().end = k + 1;
  }
  ProgressMeter meter(control, "predict", static_cast<Index>(machines.size()));
  parallel_each(static_cast<Index>(pieces.size()), [&](Index k) {
    const Piece& piece = pieces[usize(k)];
    const auto own = std::span(queries).subspan(usize(piece.begin), usize(piece.end - piece.begin));
    answer(piece.machine, std::span<const Index>(own));
    meter.add(piece.end - piece.begin);
  });
}

void LocalModels::decision_values(const Matrix& features, std::span<double> values,
                                  const RunControl& control) const {
  const Index columns = decision_shape().columns;
  for_each_machine(features, control, [&](Index machine, std::span<const Index> own) {
    std::vector<double> found(own.size() * usize(columns));
    local_values(view(machine), kernel_of(machine), parts_.rows, parts_.num_classes, features, own,
                 found);
    for (std::size_t q = 0; q < own.size(); ++q)
      std::copy_n(found.data() + q * usize(columns), columns, values.data() + own[q] * columns);
  });
}

void LocalModels::classify(const Matrix& features, std::span<std::int32_t> classes,
                           const RunControl& control) const {
  for_each_machine(features, control, [&](Index machine, std::span<const Index> own) {
    std::vector<std::int32_t> found(own.size());
    local_classes(view(machine), kernel_of(machine), parts_.rows, parts_.num_classes, features, own,
                  found);
    for (std::size_t q = 0; q < own.size(); ++q) classes[usize(own[q])] = found[q];
  });
}

void LocalModelsBuilder::add(const LocalMachine& machine) {
  only_class_.push_back(machine.only_class);
  for (const LocalPair& pair : machine.pairs) {
    pair_classes_.push_back(pair.first);
    pair_classes_.push_back(pair.second);
    offsets_.push_back(pair.machine.offset);
    term_rows_.insert(term_rows_.end(), pair.machine.rows.begin(), pair.machine.rows.end());
    coefficients_.insert(coefficients_.end(), pair.machine.coefficients.begin(),
                         pair.machine.coefficients.end());
    term_begin_.push_back(static_cast<Index>(term_rows_.size()));
  }
  pair_begin_.push_back(static_cast<Index>(offsets_.size()));
}

void LocalModelsBuilder::finish(LocalParts* parts) {
  parts->only_class = std::move(only_class_);
  parts->pair_begin = std::move(pair_begin_);
  parts->pair_classes = std::move(pair_classes_);
  parts->offsets = std::move(offsets_);
  parts->term_begin = std::move(term_begin_);
  parts->term_rows = std::move(term_rows_);
  parts->coefficients = std::move(coefficients_);
}

}  // namespace tamis
