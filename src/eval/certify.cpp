#include "tamis/certify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "eval/checked_rows.hpp"
#include "eval/claimed_problem.hpp"
#include "eval/vector_rows.hpp"
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

/// What machine m was to learn.
class MachineTargets {
 public:
  MachineTargets(const KernelExpansion& expansion, Index m, Task task)
      : is_regression_(task == Task::regression), first_(m) {
    const Decision decision = expansion.parts().decision;
    if (decision == Decision::single) first_ = 0;
    if (decision == Decision::one_vs_one) {
      const auto classes = static_cast<Index>(expansion.parts().class_counts.size());
      std::tie(first_, second_) = class_pair(m, classes);
    }
  }

  /// None: the row is not of its problem.
  std::optional<double> of(const RowFact& fact) const {
    if (is_regression_) return fact.number;
    if (second_ >= 0 && fact.code != first_ && fact.code != second_) return std::nullopt;
    return fact.code == first_ ? 1 : -1;
  }

 private:
  bool is_regression_;
  Index first_;        // the class with target +1
  Index second_ = -1;  // in pairs, the one with -1
};

ClaimedProblem empty_problem(Task task, const TrainOptions& options) {
  ClaimedProblem problem;
  problem.is_regression = task == Task::regression;
  problem.tube = problem.is_regression ? options.tube_or_default() : 0;
  problem.loss = options.loss;
  return problem;
}

void add_row(const RowFact& fact, double target, ClaimedProblem* problem) {
  problem->rows.push_back(fact.row);
  problem->targets.push_back(target);
  problem->cost.push_back(fact.cost);
}

/// Of the rows of all ranks, those that are support vectors: the only ones with a coefficient.
struct SupportRows {
  std::vector<RowFact> facts;
  std::vector<Index> vectors;  ///< the support vector that each of them is
  Index first_own = 0;         ///< this rank's are there from here on
};

SupportRows support_rows(const CheckedRows& mine, const VectorRows& found, Group& group) {
  std::vector<RowFact> facts;
  std::vector<Index> vectors;
  facts.reserve(found.rows.size());
  vectors.reserve(found.rows.size());
  for (const VectorRow& one : found.rows) {
    facts.push_back(mine.fact(one.row));
    vectors.push_back(one.vector);
  }
  const Index before = sum_of_earlier(group, std::ssize(facts));
  return {gather_all(group, std::move(facts)), gather_all(group, std::move(vectors)), before};
}

/// The dual point of a machine: what the support rows contribute to w.
struct DualPoint {
  std::vector<Index> places;  ///< ascending, of the support rows that contribute
  std::vector<double> beta;
  Index support_vectors = 0;
  Index foreign = 0;
};

/// `names` of the support vectors: of those that are the same row, one.
DualPoint dual_point(const MachineTargets& targets, ClaimedProblem problem,
                     std::span<const double> coefficients, const SupportRows& support,
                     std::span<const Index> names) {
  DualPoint point;
  std::vector<Index> places;  // of the problem's rows among the support rows
  std::vector<bool> present(coefficients.size(), false);
  for (std::size_t i = 0; i < support.facts.size(); ++i) {
    const std::optional<double> target = targets.of(support.facts[i]);
    if (!target) continue;
    add_row(support.facts[i], *target, &problem);
    places.push_back(static_cast<Index>(i));
    present[usize(support.vectors[i])] = true;
  }
  const auto vector_at = [&](std::size_t k) { return support.vectors[usize(places[k])]; };
  std::vector<double> total(coefficients.size(), 0.0);
  for (std::size_t s = 0; s < coefficients.size(); ++s) {
    if (coefficients[s] == 0) continue;
    ++point.support_vectors;
    const Index name = names[s];
    if (name < 0 || !present[usize(name)])
      ++point.foreign;
    else
      total[usize(name)] += coefficients[s];
  }
  std::vector<std::size_t> order(places.size());  // of the problem's rows, by their vectors
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return vector_at(a) < vector_at(b); });
  std::vector<double> beta(order.size(), 0.0);  // by the rows of the problem
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && vector_at(order[end]) == vector_at(order[begin])) ++end;
    share_coefficient(problem, std::span(order).subspan(begin, end - begin),
                      total[usize(vector_at(order[begin]))], beta);
    begin = end;
  }
  for (std::size_t k = 0; k < beta.size(); ++k) {
    if (beta[k] == 0) continue;
    point.places.push_back(places[k]);
    point.beta.push_back(beta[k]);
  }
  return point;
}

/// One machine, while the rows go by.
struct CheckedMachine {
  MachineTargets targets;
  DualPoint point;
  Assessment assessment;
};

/// Some of this rank's rows, with the decision values of all machines, and the support rows among
/// them: from place `support_begin` of all.
struct RowBlock {
  Index begin = 0;
  Index end = 0;
  std::span<const double> values;
  std::span<const VectorRow> support;
  Index support_begin = 0;
};

void assess_block(const CheckedRows& rows, const RowBlock& block, Index m, Index machines,
                  ClaimedProblem part, double eps, CheckedMachine* machine) {
  std::vector<double> values;
  std::vector<double> beta;
  const DualPoint& point = machine->point;
  auto next =
      usize(std::lower_bound(point.places.begin(), point.places.end(), block.support_begin) -
            point.places.begin());
  std::size_t next_support = 0;
  for (Index i = block.begin; i < block.end; ++i) {
    Index place = -1;
    if (next_support < block.support.size() && block.support[next_support].row == i)
      place = block.support_begin + static_cast<Index>(next_support++);
    if (!rows.counts(i)) continue;
    const RowFact fact = rows.fact(i);
    const std::optional<double> target = machine->targets.of(fact);
    if (!target) continue;
    add_row(fact, *target, &part);
    values.push_back(block.values[usize((i - block.begin) * machines + m)]);
    const bool contributes =
        place >= 0 && next < point.places.size() && point.places[next] == place;
    beta.push_back(contributes ? point.beta[next++] : 0.0);
  }
  machine->assessment.add(part, beta, values, eps);
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

// Rows that are support vectors are kept for each machine that learns them; other rows go by.
void require_room(const KernelExpansion& expansion, Index support_rows, const RunControl& control) {
  const Index classes = std::ssize(expansion.parts().class_counts);
  const Index machines_of_row =
      expansion.parts().decision == Decision::one_vs_one ? classes - 1 : expansion.num_machines();
  const Index row_bytes = 128 + 16 * machines_of_row;
  require_memory(
      fmt::format("certifying, with {} that are support vectors", counted(support_rows, "row")),
      checked_sum(resident_memory_bytes(), checked_product(support_rows, row_bytes)),
      resolve_memory_budget(control.memory_bytes));
}

Certificate certify_rows(const Model& model, const KernelExpansion& expansion,
                         const TrainOptions& options, const CheckedRows& rows,
                         const RunControl& control) {
  Group& group = group_of(control);
  const Index machines = expansion.num_machines();
  const bool is_precomputed = expansion.kernel().type == KernelType::precomputed;
  if (is_precomputed && group.size() > 1)
    throw InvalidArgument("a precomputed kernel does not run on several processes");
  if (machines == 0)
    throw InvalidArgument("the model knows one class only: there is nothing to certify");
  Certificate result;
  result.eps = options.eps;
  result.problem = problem_text(model, options);
  result.support_vectors = expansion.num_support_vectors();
  std::vector<double> rounding;
  for (Index m = 0; m < machines; ++m)
    rounding.push_back(float_error(expansion, rows.features(), coefficients_of(expansion, m)));
  result.in_double = *std::max_element(rounding.begin(), rounding.end()) > 0.1 * options.eps;
  if (result.in_double) std::fill(rounding.begin(), rounding.end(), 0.0);

  const VectorRows found = find_vector_rows(
      expansion.support_vectors(), rows.features(), is_precomputed,
      [&](Index i) { return rows.counts(i); }, group);
  result.foreign_vectors = std::count(found.names.begin(), found.names.end(), -1);
  require_room(expansion, sum_of_all(group, std::ssize(found.rows)), control);
  const SupportRows support = support_rows(rows, found, group);
  std::vector<CheckedMachine> checked;
  const auto stop_if_cancelled = [&] {
    if (control.cancelled()) throw Cancelled();
  };
  for (Index m = 0; m < machines; ++m) {
    stop_if_cancelled();
    const MachineTargets targets(expansion, m, model.task());
    checked.push_back({targets,
                       dual_point(targets, empty_problem(model.task(), options),
                                  coefficients_of(expansion, m), support, found.names),
                       {}});
  }

  // Each rank judges its own rows.
  ProgressMeter meter(control, "check", rows.rows());
  const Index step = values_at_once(expansion);
  std::vector<double> values;
  auto next = found.rows.begin();
  for (Index begin = 0; begin < rows.rows(); begin += step) {
    const Index end = std::min(begin + step, rows.rows());
    values.resize(usize(checked_product(end - begin, machines)));
    expansion_values(expansion, rows.features().slice(begin, end), result.in_double, values,
                     quiet(control));
    const auto last =
        std::find_if(next, found.rows.end(), [&](const VectorRow& one) { return one.row >= end; });
    const RowBlock block{begin, end, values, std::span(next, last),
                         support.first_own + (next - found.rows.begin())};
    next = last;
    parallel_each(machines, [&](Index m) {
      stop_if_cancelled();
      assess_block(rows, block, m, machines, empty_problem(model.task(), options), options.eps,
                   &checked[usize(m)]);
    });
    meter.add(end - begin);
  }

  Index counting = 0;
  for (Index i = 0; i < rows.rows(); ++i) counting += rows.counts(i) ? 1 : 0;
  result.rows = sum_of_all(group, counting);
  const std::vector<double> norms =
      is_precomputed ? std::vector<double>()
                     : squared_norms(expansion, rows.features(), result.in_double, control);
  result.certified = true;
  const auto columns = expansion.decision_columns(model.classes());
  for (Index m = 0; m < machines; ++m) {
    CheckedMachine& one = checked[usize(m)];
    one.assessment.gather(group);
    // The kernel matrix of a precomputed kernel is known among rows only.
    MachineCertificate machine = one.assessment.result(
        is_precomputed ? one.assessment.squared_norm(expansion.parts().offsets[usize(m)])
                       : norms[usize(m)]);
    machine.name = columns[usize(m)];
    machine.support_vectors = one.point.support_vectors;
    machine.foreign_vectors = one.point.foreign;
    machine.rounding = rounding[usize(m)];
    if (one.point.foreign > 0) {
      machine.dual = machine.gap = machine.relative_gap = std::numeric_limits<double>::quiet_NaN();
    }
    machine.certified = verdict(machine, one.point.beta, options.eps);
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
  return with_threads(control.threads, [&] {
    const CheckedRows rows(model, data, options, control);
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
  const auto rows_of = [&](const Model& one, const KernelExpansion& expansion) {
    const Matrix rows = scaled_rows(one, rows_for(one, data, control).features(), control);
    return find_vector_rows(expansion.support_vectors(), rows,
                            expansion.kernel().type == KernelType::precomputed,
                            [](Index) { return true; });
  };
  return with_threads(control.threads, [&] {
    // Each model finds its vectors among the rows as it scales them. A vector of the other one is
    // shared if the first of its rows is a vector here.
    const VectorRows own = rows_of(model, first);
    const VectorRows theirs = rows_of(other, second);
    std::set<Index> own_names;
    std::unordered_map<Index, Index> name_of_row;
    for (const VectorRow& one : own.rows) {
      own_names.insert(one.vector);
      name_of_row.emplace(one.row, one.vector);
    }
    std::set<Index> seen;    // names of the other model
    std::set<Index> shared;  // names of this one
    Index others = 0;        // that are not shared
    for (const VectorRow& one : theirs.rows) {
      if (!seen.insert(one.vector).second) continue;
      const auto known = name_of_row.find(one.row);
      if (known == name_of_row.end())
        ++others;
      else
        shared.insert(known->second);
    }
    const auto foreign = [](const VectorRows& rows) {
      return std::count(rows.names.begin(), rows.names.end(), -1);
    };
    return SupportOverlap{std::ssize(own_names) + foreign(own),
                          std::ssize(shared) + others + foreign(theirs), std::ssize(shared)};
  });
}

}  // namespace tamis
