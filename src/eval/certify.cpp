#include "tamis/certify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "eval/checked_rows.hpp"
#include "eval/claimed_problem.hpp"
#include "eval/row_content.hpp"
#include "model/model_parts.hpp"
#include "model/precise_values.hpp"
#include "tamis/error.hpp"
#include "tamis/predict.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

// Coefficients may leave their bounds, and their sum zero, by this share of the largest: text
// files keep about 16 digits.
constexpr double kBreachShare = 1e-6;

const KernelExpansion& require_expansion(const Model& model) {
  if (model.empty()) throw InvalidArgument("the model is empty: train or load one first");
  const auto* expansion = dynamic_cast<const KernelExpansion*>(&machine_of(model));
  if (expansion == nullptr) {
    throw InvalidArgument(
        fmt::format("a model of kind {} solves no single problem, so there is nothing to certify",
                    machine_of(model).kind()));
  }
  return *expansion;
}

void require(bool ok, std::string_view name, double value, std::string_view allowed) {
  if (!ok) throw InvalidArgument(fmt::format("{} is {}: it must be {}", name, value, allowed));
}

void validate(const TrainOptions& options) {
  require(options.cost_or_default() > 0, "cost (C)", options.cost_or_default(), "greater than 0");
  require(std::isfinite(options.cost_or_default()) || options.loss == SlackLoss::l1, "cost (C)",
          options.cost_or_default(), "finite for squared slacks");
  require(std::isfinite(options.eps) && options.eps > 0, "eps", options.eps,
          "finite and greater than 0");
  require(std::isfinite(options.tube_or_default()) && options.tube_or_default() >= 0, "tube",
          options.tube_or_default(), "finite and at least 0");
}

/// What a binary SVM was to learn of some rows, and which support vectors they are.
struct KnownRows {
  std::vector<Index> original;
  std::vector<std::int32_t> codes;
  std::vector<double> numbers;
  std::vector<double> cost;
  std::vector<Index> vector_of;  ///< the support vector that the row is; -1: none
  Index size() const { return static_cast<Index>(cost.size()); }
};

/// Of the rows of all ranks, those that are support vectors: the only ones with a coefficient.
struct SupportRows {
  KnownRows rows;
  Index first_own = 0;          ///< this rank's are there from here on
  std::vector<Index> position;  ///< of each of this rank's rows among its own ones; -1: not there
};

SupportRows support_rows(const KnownRows& mine, Group& group) {
  SupportRows result;
  KnownRows own;
  for (std::size_t i = 0; i < mine.cost.size(); ++i) {
    const bool is_vector = mine.vector_of[i] >= 0;
    result.position.push_back(is_vector ? own.size() : -1);
    if (!is_vector) continue;
    own.original.push_back(mine.original[i]);
    if (!mine.codes.empty()) own.codes.push_back(mine.codes[i]);
    if (!mine.numbers.empty()) own.numbers.push_back(mine.numbers[i]);
    own.cost.push_back(mine.cost[i]);
    own.vector_of.push_back(mine.vector_of[i]);
  }
  result.first_own = sum_of_earlier(group, own.size());
  result.rows = {gather_all(group, own.original), gather_all(group, own.codes),
                 gather_all(group, own.numbers), gather_all(group, own.cost),
                 gather_all(group, own.vector_of)};
  return result;
}

/// The rows that machine m was to learn, with what it was to learn of them.
struct Claim {
  ClaimedProblem problem;
  std::vector<Index> place;  ///< of each row of the problem among the known ones
};

Claim claimed_problem(const KernelExpansion& expansion, const KnownRows& rows, Index m, Task task,
                      const TrainOptions& options) {
  Claim claim;
  ClaimedProblem& problem = claim.problem;
  problem.is_regression = task == Task::regression;
  problem.tube = problem.is_regression ? options.tube_or_default() : 0;
  problem.loss = options.loss;
  Index first = m;  // the class with target +1; in pairs, `second` has -1
  Index second = -1;
  const Decision decision = expansion.parts().decision;
  if (decision == Decision::single) first = 0;
  if (decision == Decision::one_vs_one) {
    const auto classes = static_cast<Index>(expansion.parts().class_counts.size());
    std::tie(first, second) = class_pair(m, classes);
  }
  for (Index i = 0; i < rows.size(); ++i) {
    double target = 0;
    if (problem.is_regression) {
      target = rows.numbers[usize(i)];
    } else {
      const Index code = rows.codes[usize(i)];
      if (second >= 0 && code != first && code != second) continue;
      target = code == first ? 1 : -1;
    }
    claim.place.push_back(i);
    problem.rows.push_back(rows.original[usize(i)]);
    problem.targets.push_back(target);
    problem.cost.push_back(rows.cost[usize(i)]);
  }
  return claim;
}

/// The dual point of machine m: what each support row contributes to w.
struct DualPoint {
  std::vector<double> beta;  ///< 0 for rows that are not of its problem
  Index support_vectors = 0;
  Index foreign = 0;
};

/// `claim` has the support rows. Support vectors of equal content share a name: the first of them.
DualPoint dual_point(const Claim& claim, std::span<const double> coefficients,
                     const KnownRows& support, std::span<const Index> name_of_vector) {
  DualPoint point;
  const auto vector_at = [&](std::size_t k) { return support.vector_of[usize(claim.place[k])]; };
  std::vector<std::size_t> order(claim.place.size());  // of the problem's rows, by their vectors
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<bool> present(coefficients.size(), false);
  for (const std::size_t k : order) present[usize(vector_at(k))] = true;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return vector_at(a) < vector_at(b); });
  std::vector<double> total(coefficients.size(), 0.0);
  for (std::size_t s = 0; s < coefficients.size(); ++s) {
    if (coefficients[s] == 0) continue;
    ++point.support_vectors;
    const Index name = name_of_vector[s];
    if (name < 0 || !present[usize(name)])
      ++point.foreign;
    else
      total[usize(name)] += coefficients[s];
  }
  std::vector<double> beta(order.size(), 0.0);  // by the rows of the problem
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && vector_at(order[end]) == vector_at(order[begin])) ++end;
    share_coefficient(claim.problem, std::span(order).subspan(begin, end - begin),
                      total[usize(vector_at(order[begin]))], beta);
    begin = end;
  }
  point.beta.assign(usize(support.size()), 0.0);
  for (std::size_t k = 0; k < beta.size(); ++k) point.beta[usize(claim.place[k])] = beta[k];
  return point;
}

/// The names of the support vectors among the rows of all ranks (-1: none is like it), and for each
/// row of this rank which it is.
std::vector<Index> name_vectors(const KernelExpansion& expansion, const Matrix& features,
                                Group& group, std::vector<Index>* vector_of_row) {
  const RowContent content(features, expansion.kernel().type == KernelType::precomputed);
  const std::vector<Index> groups = content.find(expansion.support_vectors());
  // The first of the vectors that are like the rows of a group, on this rank and on all.
  std::vector<Index> first_of_group(usize(content.num_groups()), -1);
  std::vector<Index> names(groups.size(), -1);
  for (std::size_t s = 0; s < groups.size(); ++s) {
    if (groups[s] < 0) continue;
    Index& first = first_of_group[usize(groups[s])];
    if (first < 0) first = static_cast<Index>(s);
    names[s] = first;
  }
  for (const std::vector<Index>& others : gather_lists(group, names)) {
    for (std::size_t s = 0; s < names.size(); ++s) {
      if (others[s] >= 0 && (names[s] < 0 || others[s] < names[s])) names[s] = others[s];
    }
  }
  for (Index i = 0; i < features.rows(); ++i) {
    const Index first = first_of_group[usize(content.group_of(i))];
    vector_of_row->push_back(first < 0 ? -1 : names[usize(first)]);
  }
  return names;
}

bool verdict(const MachineCertificate& machine, std::span<const double> beta, double eps) {
  double largest = 0;
  for (const double b : beta) largest = std::max(largest, std::abs(b));
  const double allowed = kBreachShare * largest;
  return machine.foreign_vectors == 0 && machine.violation <= eps + machine.rounding &&
         machine.bound_breach <= allowed && machine.sum_breach <= allowed;
}

std::string problem_text(const Model& model, const TrainOptions& options) {
  const bool is_regression = model.task() == Task::regression;
  std::string text =
      is_regression ? fmt::format("epsilon-SVR, tube {}", options.tube_or_default()) : "C-SVC";
  text += std::isfinite(options.cost_or_default())
              ? fmt::format(", C {}, {} slacks", options.cost_or_default(),
                            options.loss == SlackLoss::l1 ? "l1" : "l2 (squared)")
              : ", no slacks allowed (C infinite)";
  if (options.balanced) text += ", balanced classes";
  for (const auto& [label, factor] : options.class_weights)
    text += fmt::format(", C of class {} times {}", label, factor);
  return text;
}

void add_to_total(const MachineCertificate& machine, Certificate* result) {
  const Index before = result->violating_rows;
  result->primal += machine.primal;
  result->dual += machine.dual;
  result->gap += machine.gap;
  result->violation = std::max(result->violation, machine.violation);
  result->violating_rows += machine.violating_rows;
  if (result->violating_rows > 0) {
    result->mean_violation =
        (result->mean_violation * static_cast<double>(before) +
         machine.mean_violation * static_cast<double>(machine.violating_rows)) /
        static_cast<double>(result->violating_rows);
  }
  result->certified = result->certified && machine.certified;
}

Certificate certify_rows(const Model& model, const KernelExpansion& expansion,
                         const TrainOptions& options, const CheckedRows& mine,
                         const RunControl& control) {
  Group& group = group_of(control);
  const Index machines = expansion.num_machines();
  const bool is_precomputed = expansion.kernel().type == KernelType::precomputed;
  if (is_precomputed && group.size() > 1)
    throw InvalidArgument("a precomputed kernel does not run on several processes");
  Certificate result;
  result.eps = options.eps;
  result.problem = problem_text(model, options);
  result.support_vectors = expansion.num_support_vectors();
  std::vector<double> rounding;
  for (Index m = 0; m < machines; ++m)
    rounding.push_back(float_error(expansion, mine.features, coefficients_of(expansion, m)));
  result.in_double = *std::max_element(rounding.begin(), rounding.end()) > 0.1 * options.eps;
  if (result.in_double) std::fill(rounding.begin(), rounding.end(), 0.0);
  const auto evaluate = [&](const Matrix& some) {
    std::vector<double> values(usize(checked_product(some.rows(), machines)));
    expansion_values(expansion, some, result.in_double, values, control);
    return values;
  };
  std::vector<Index> vector_of;
  const std::vector<Index> names = name_vectors(expansion, mine.features, group, &vector_of);
  result.foreign_vectors = std::count(names.begin(), names.end(), -1);
  const KnownRows rows{mine.original, mine.codes, mine.numbers, mine.cost, vector_of};
  const SupportRows support = support_rows(rows, group);
  const std::vector<double> values = evaluate(mine.features);
  result.rows = sum_of_all(group, rows.size());
  const std::vector<double> at_vectors =
      is_precomputed ? std::vector<double>() : evaluate(matching_vectors(expansion, mine.features));

  result.certified = true;
  const auto columns = expansion.decision_columns(model.classes());
  for (Index m = 0; m < machines; ++m) {
    const std::vector<double> coefficients = coefficients_of(expansion, m);
    const DualPoint point =
        dual_point(claimed_problem(expansion, support.rows, m, model.task(), options), coefficients,
                   support.rows, names);
    // Each rank judges its own rows.
    const Claim claim = claimed_problem(expansion, rows, m, model.task(), options);
    std::vector<double> own;
    std::vector<double> beta;
    double norm = 0;
    for (const Index i : claim.place) {
      const Index position = support.position[usize(i)];
      own.push_back(values[usize(i * machines + m)]);
      beta.push_back(position < 0 ? 0 : point.beta[usize(support.first_own + position)]);
      norm += beta.back() * (own.back() - expansion.parts().offsets[usize(m)]);
    }
    // The kernel matrix of a precomputed kernel is known among rows only.
    if (!is_precomputed) norm = squared_norm(expansion, coefficients, m, at_vectors);
    MachineCertificate machine =
        assess(claim.problem, beta, own, std::max(0.0, norm), options.eps, group);
    machine.name = columns[usize(m)];
    machine.support_vectors = point.support_vectors;
    machine.foreign_vectors = point.foreign;
    machine.rounding = rounding[usize(m)];
    if (point.foreign > 0) {
      machine.dual = machine.gap = machine.relative_gap = std::numeric_limits<double>::quiet_NaN();
    }
    machine.certified = verdict(machine, point.beta, options.eps);
    add_to_total(machine, &result);
    result.machines.push_back(std::move(machine));
  }
  const double scale = std::max(std::abs(result.primal), std::abs(result.dual));
  result.relative_gap = scale > 0 && std::isfinite(scale) ? result.gap / scale : result.gap;
  return result;
}

}  // namespace

Certificate certify(const Model& model, const Dataset& data, const TrainOptions& options,
                    const RunControl& control) {
  const KernelExpansion& expansion = require_expansion(model);
  validate(options);
  // Labels, costs, names, coefficients and what they are sorted by; decision values twice.
  const Index row_bytes = 120 + 16 * expansion.num_machines();
  require_memory(fmt::format("certifying {}", counted(data.rows(), "row")),
                 checked_sum(resident_memory_bytes(), checked_product(data.rows(), row_bytes)),
                 resolve_memory_budget(control.memory_bytes));
  return with_threads(control.threads, [&] {
    const CheckedRows rows = checked_rows(model, data, options, control);
    Certificate result = certify_rows(model, expansion, options, rows, control);
    data.require_intact();
    require_intact(model);
    return result;
  });
}

SupportOverlap support_overlap(const Model& model, const Model& other, const Dataset& data,
                               const RunControl& control) {
  const KernelExpansion& first = require_expansion(model);
  const KernelExpansion& second = require_expansion(other);
  return with_threads(control.threads, [&] {
    // Groups of the first model's rows name the rows for both; each model finds its vectors among
    // the rows as it scales them.
    const auto distinct = [&](const Model& m, const KernelExpansion& expansion,
                              const RowContent* naming, Index* foreign) {
      const Matrix rows = scaled_rows(m, rows_for(m, data, control).features(), control);
      const RowContent content(rows, expansion.kernel().type == KernelType::precomputed);
      std::vector<Index> a_row_of(usize(content.num_groups()), 0);
      for (Index i = rows.rows() - 1; i >= 0; --i) a_row_of[usize(content.group_of(i))] = i;
      std::vector<Index> result;
      for (const Index group : content.find(expansion.support_vectors())) {
        if (group < 0)
          ++*foreign;
        else
          result.push_back(naming->group_of(a_row_of[usize(group)]));
      }
      std::sort(result.begin(), result.end());
      result.erase(std::unique(result.begin(), result.end()), result.end());
      return result;
    };
    const Matrix rows = scaled_rows(model, rows_for(model, data, control).features(), control);
    const RowContent naming(rows, first.kernel().type == KernelType::precomputed);
    Index foreign[2] = {0, 0};
    const std::vector<Index> own = distinct(model, first, &naming, &foreign[0]);
    const std::vector<Index> theirs = distinct(other, second, &naming, &foreign[1]);
    std::vector<Index> shared;
    std::set_intersection(own.begin(), own.end(), theirs.begin(), theirs.end(),
                          std::back_inserter(shared));
    return SupportOverlap{static_cast<Index>(own.size()) + foreign[0],
                          static_cast<Index>(theirs.size()) + foreign[1],
                          static_cast<Index>(shared.size())};
  });
}

}  // namespace tamis
