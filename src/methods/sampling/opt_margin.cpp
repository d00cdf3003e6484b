#include "methods/sampling/opt_margin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/checked.hpp"
#include "base/group.hpp"
#include "base/parallel.hpp"
#include "data/copy_rows.hpp"
#include "methods/common/kernel_machine.hpp"
#include "methods/common/train_progress.hpp"
#include "methods/sampling/margin_search.hpp"
#include "methods/sampling/reweighting.hpp"
#include "methods/sampling/sampling_report.hpp"
#include "multiclass/train_machines.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

using Outcome = Reweighting::Outcome;

// Draws up to this size are solved on a stored, exact kernel matrix, with room for what is carried.
constexpr Index kLargestFirstDraw = 1500;

// LIBSVM's default for nu-SVR.
constexpr double kTubeNu = 0.5;

// Of an SVM on a few rows, with its part of the model (measured).
constexpr Index kSampledBytes = 1000;

double weight_of(const MarginPoints& points, double sign) {
  double sum = 0;
  for (Index p = 0; p < points.size(); ++p) {
    if (points.sign(p) == sign) sum += points.weight(p);
  }
  return sum;
}

// Dimension of the space in which the kernel is a dot product; infinite where there is no bound.
double kernel_dimension(const Kernel& kernel, Index features) {
  const auto d = static_cast<double>(features);
  if (kernel.type == KernelType::linear) return d;
  if (kernel.type != KernelType::polynomial) return std::numeric_limits<double>::infinity();
  // Monomials of `degree` variables, or of at most so many.
  double monomials = 1;
  for (int j = 1; j <= kernel.degree; ++j) monomials *= (d + j - (kernel.coef0 == 0 ? 1 : 0)) / j;
  return monomials;
}

// How many points determine an answer at most. (P1): n + 1 in n dimensions (P6 has one dimension
// more). (P2): k (n + 1), Lemma 4.2, where k is the points of a composed example; for (P7) too, for
// which Theorem 5.2 says n + 2 + 2k, by the argument that Figures 4 and 5 refute. The D that a C
// stands for differs from draw to draw: there is no such theorem.
double combinatorial_dimension(const TrainingSet& data, Index cols, const MarginPoints& points,
                               const MarginForm& form) {
  if (!form.is_hull()) return std::numeric_limits<double>::infinity();
  double basis = kernel_dimension(data.kernel, cols) + (data.is_regression() ? 2 : 1);
  if (form.kind == MarginForm::Kind::hulls) {
    double lightest = points.weight(0);
    for (Index p = 1; p < points.size(); ++p) lightest = std::min(lightest, points.weight(p));
    basis *= std::ceil(form.k / lightest);
  }
  return std::min(basis, static_cast<double>(points.size()));
}

ReweightingSettings sampling_settings(const TrainingSet& data, Index cols,
                                      const MarginPoints& points, const TrainOptions& options,
                                      const MarginForm& form, Index machine) {
  ReweightingSettings settings;
  settings.eps = options.eps;
  settings.carry_support = options.opt_margin.carry_support;
  settings.stalled_delta = options.opt_margin.stalled_delta;
  settings.discount_outliers = options.opt_margin.discount_outliers;
  settings.seed = options.seed;
  settings.stream = static_cast<std::uint64_t>(machine);
  // A basis of (P1) has at most d + 1 points in d dimensions (one more for tubes), and r = 6
  // delta^2.
  const double dimension = static_cast<double>(cols) + (data.is_regression() ? 2 : 1);
  settings.first_draw = options.opt_margin.draw.value_or(
      static_cast<Index>(std::min(6 * dimension * dimension, double{kLargestFirstDraw})));
  settings.dimension = combinatorial_dimension(data, cols, points, form);
  settings.delta =
      std::clamp(std::sqrt(static_cast<double>(settings.first_draw) / 6), 1.0, settings.dimension);
  // Both hulls need k points at least, and some choice.
  if (!options.opt_margin.draw)
    settings.first_draw = std::max(settings.first_draw, static_cast<Index>(std::ceil(4 * form.k)));
  return settings;
}

// What margin-k and nu say; hard for opt-margin.
MarginForm wanted_form(const MarginPoints& points, bool is_regression, bool is_hard,
                       const TrainOptions& options) {
  if (is_hard) return {MarginForm::Kind::hard, 1, 0};
  const double all = weight_of(points, 1) + weight_of(points, -1);
  const double rows = is_regression ? all / 2 : all;
  const MarginK& asked = options.opt_margin.margin_k;
  const double nu = options.opt_margin.nu.value_or(is_regression ? kTubeNu : 0);
  const bool by_nu = asked.rule == MarginK::Rule::automatic && nu > 0;
  if (asked.rule == MarginK::Rule::automatic && !by_nu) {
    return {options.loss == SlackLoss::l2 ? MarginForm::Kind::squared_cost : MarginForm::Kind::cost,
            0, options.cost_or_default()};
  }
  if (options.loss == SlackLoss::l2)
    throw InvalidArgument("loss is l2: reduced hulls (margin-k, nu, tubes) have linear slacks, l1");
  if (asked.rule == MarginK::Rule::smallest) return {MarginForm::Kind::hulls, 1, 0};
  const double k = by_nu ? std::max(1.0, nu * rows / 2) : asked.value;
  const double largest = std::min(weight_of(points, 1), weight_of(points, -1));
  if (k > largest) {
    throw InvalidArgument(
        fmt::format("k is {:.6g} ({}): it can be at most {:.6g}, the weight of the smaller class",
                    k, by_nu ? "nu times half the rows" : "margin-k", largest));
  }
  return {MarginForm::Kind::hulls, k, 0};
}

[[noreturn]] void throw_not_separated(const MarginForm& form, bool is_regression,
                                      const TrainOptions& options) {
  if (form.kind == MarginForm::Kind::hulls) {
    throw DataError(fmt::format(
        "k = {:.6g} is too small: the reduced hulls meet, so there is no margin; give a larger "
        "margin-k{}, or margin-k smallest to have it found",
        form.k, is_regression ? " or tube" : ""));
  }
  if (is_regression) {
    throw DataError(fmt::format(
        "no tube of half-width {} holds all rows: give a wider tube, another kernel or gamma, or "
        "use the method opt-soft-margin, which lets some rows outside",
        options.tube_or_default()));
  }
  throw DataError(
      "the classes cannot be separated without error by this kernel: use the method "
      "opt-soft-margin, "
      "or another kernel, gamma or degree");
}

// Which rows are outliers follows from the classes, and for a given k: where k is looked for, its
// limits would change under it.
void check_discounts(bool is_regression, const TrainOptions& options) {
  if (!options.opt_margin.discount_outliers) return;
  if (is_regression) throw InvalidArgument("discount-outliers is for classification");
  if (options.opt_margin.margin_k.rule == MarginK::Rule::smallest)
    throw InvalidArgument("discount-outliers needs C, nu or a margin-k, not margin-k smallest");
}

// Smallest k, or the form asked for. Throws when nothing separates.
Outcome run_sampling(Reweighting& sampling, const MarginPoints& points, bool is_regression,
                     const TrainOptions& options, MarginForm* form) {
  Outcome outcome = Outcome::stopped;
  const double largest = std::min(weight_of(points, 1), weight_of(points, -1));
  if (options.opt_margin.margin_k.rule == MarginK::Rule::smallest &&
      form->kind != MarginForm::Kind::hard) {
    const MarginSearch found = find_smallest_k(sampling, largest);
    *form = {MarginForm::Kind::hulls, found.k > 0 ? found.k : largest, 0};
    outcome = found.outcome;
  } else {
    outcome = sampling.run(*form);
    // Nobody asked for this k: half of what is missing to the largest is added until it is enough.
    const bool is_free =
        options.opt_margin.margin_k.rule == MarginK::Rule::automatic && !options.opt_margin.nu;
    while (is_free && outcome == Outcome::not_separated && form->kind == MarginForm::Kind::hulls &&
           largest - form->k > 0.001 * largest) {
      form->k = (form->k + largest) / 2;
      outcome = sampling.run(*form);
    }
  }
  if (outcome == Outcome::not_separated) throw_not_separated(*form, is_regression, options);
  return outcome;
}

// Fills in what does not depend on the task.
SampledMachine describe(const Reweighting& sampling, const MarginForm& form, bool is_listed) {
  const DrawMargin& margin = sampling.answer().margin;
  SampledMachine machine;
  const std::vector<ReweightingRound>& rounds = sampling.rounds();
  machine.num_rounds = std::ssize(rounds);
  machine.successful_rounds = std::count_if(rounds.begin(), rounds.end(),
                                            [](const auto& round) { return round.is_successful; });
  if (is_listed) machine.rounds = rounds;
  machine.bound = sampling.theorem_bound();
  machine.cost = form.is_hull() ? form.limit() / margin.half_margin : form.cost;
  machine.margin = margin.squared_norm > 0 ? 1 / std::sqrt(margin.squared_norm) : 0;
  if (form.kind == MarginForm::Kind::hulls) machine.k = form.k;
  if (form.kind == MarginForm::Kind::cost) {  // the coefficients of a sign sum to C / D
    for (const double c : margin.w.coefficients) machine.k += std::abs(c) / (2 * form.cost);
  }
  MachineStats& stats = machine.result.stats;
  stats.iterations = sampling.iterations();
  stats.kernel_evaluations = sampling.counts().computed;
  stats.cached_evaluations = sampling.counts().cached;
  stats.bounded_support_vectors = margin.bounded;
  stats.stop_reason = sampling.stop_reason();
  stats.violation = sampling.answer().violation;
  return machine;
}

// Objective and gap as `certify` computes them: of the C-SVC with the C that this answer stands
// for.
void set_class_objectives(const MarginPoints& points, const CheckedMargin& answer,
                          const MarginForm& form, SampledMachine* machine) {
  MachineStats& stats = machine->result.stats;
  const double half_square = answer.margin.squared_norm / 2;
  const bool is_squared = form.kind == MarginForm::Kind::squared_cost;
  stats.objective = half_square;
  for (std::size_t s = 0; s < answer.margin.w.points.size(); ++s) {
    const double c = std::abs(answer.margin.w.coefficients[s]);
    stats.objective += form.ridge() / points.weight(answer.margin.w.points[s]) * c * c / 2 - c;
  }
  double slacks = 0;
  double smallest = std::numeric_limits<double>::infinity();
  for (Index p = 0; p < static_cast<Index>(answer.values.size()); ++p) {
    const double value = points.sign(p) * answer.values[usize(p)];
    const double slack = std::max(0.0, 1 - value);
    smallest = std::min(smallest, value);
    slacks += points.weight(p) * (is_squared ? slack * slack : slack);
  }
  if (std::isfinite(machine->cost))
    stats.gap = std::max(0.0, half_square + machine->cost * slacks + stats.objective);
  else if (smallest > 0)  // f / smallest keeps every margin
    stats.gap = std::max(0.0, half_square / (smallest * smallest) + stats.objective);
  else
    stats.gap = std::numeric_limits<double>::infinity();
}

RowVector<double> relative_costs(const TrainingSet& data, const RowVector<Index>& rows,
                                 double cost) {
  RowVector<double> weights(rows.get_allocator());
  weights.reserve(rows.size());
  for (const Index row : rows) weights.push_back(data.cost[usize(row)] / cost);
  return weights;
}

/// Everything a machine of this run needs.
struct SamplingRun {
  const AllRows& all;
  const PointWork& work;
  const TrainContext& context;
  bool is_hard;
  RowRoom room;
  TrainProgress& progress;

  std::shared_ptr<const PointRows> rows_of(const BinaryTask& task, Decision decision) const {
    const TrainingSet& data = all.facts();
    const bool are_all = std::ssize(task.rows) == data.rows();
    if (all.is_alone()) {
      return std::make_shared<const LocalPointRows>(
          are_all
              ? data.features
              : copy_rows(data.features, task.rows, "the rows of two classes", context.control));
    }
    std::vector<std::int32_t> classes;
    if (decision == Decision::one_vs_one) {
      const auto [first, second] = class_pair(task.index, data.num_classes);
      classes = {static_cast<std::int32_t>(first), static_cast<std::int32_t>(second)};
    }
    return std::make_shared<const SpreadPointRows>(all, work, task.rows, std::move(classes));
  }
};

SampledMachine train_classes(const SamplingRun& run, const BinaryTask& task) {
  const TrainingSet& data = run.all.facts();
  const TrainOptions& options = run.context.options;
  ClassPoints points(data.kernel, run.rows_of(task, decision_for(data, options)), task.targets,
                     relative_costs(data, task.rows, options.cost_or_default()),
                     run.room.cache_bytes);
  MarginForm form = wanted_form(points, false, run.is_hard, options);
  ReweightingSettings settings =
      sampling_settings(data, run.all.cols(), points, options, form, task.index);
  settings.store = run.room.store;
  settings.on_status = [&](const qp::Status& status) { run.progress.update(status); };
  Reweighting sampling(points, run.context, settings);
  run_sampling(sampling, points, false, options, &form);
  const bool is_listed = task.index < kListedMachines;
  SampledMachine machine = describe(sampling, form, is_listed);
  machine.nu = 2 * machine.k / (weight_of(points, 1) + weight_of(points, -1));
  const DrawMargin& margin = sampling.answer().margin;
  machine.result.machine.offset = margin.offset;
  machine.result.machine.coefficients = margin.w.coefficients;
  for (const Index point : margin.w.points)
    machine.result.machine.rows.push_back(task.rows[usize(point)]);
  for (std::size_t p = 0; is_listed && p < sampling.discounts().size(); ++p) {
    const std::int8_t halvings = sampling.discounts()[p];  // >= 0
    if (halvings > 0) machine.discounts.emplace_back(task.rows[p], std::ldexp(1.0, -halvings));
  }
  set_class_objectives(points, sampling.answer(), form, &machine);
  return machine;
}

// Objective and gap of the epsilon-SVR with the tube and C that this answer stands for. The value
// of point i is sigma (y_i + tube - f(x_i)), in margins.
void set_tube_objectives(const TubePoints& points, const CheckedMargin& answer,
                         const TrainingSet& data, double tube, SampledMachine* machine) {
  MachineStats& stats = machine->result.stats;
  const double sigma = points.slope(answer.margin.w);
  const double squared_norm = answer.margin.squared_norm / (sigma * sigma) - 1;
  const TrainedMachine& trained = machine->result.machine;
  stats.objective = squared_norm / 2;
  for (std::size_t s = 0; s < trained.rows.size(); ++s) {
    stats.objective += machine->fitted_tube * std::abs(trained.coefficients[s]) -
                       data.targets[usize(trained.rows[s])] * trained.coefficients[s];
  }
  double primal = squared_norm / 2;
  for (Index i = 0; i < static_cast<Index>(answer.values.size()) / 2; ++i) {
    const double residual = answer.values[usize(i)] / sigma - tube;
    const double slack = std::max(0.0, std::abs(residual) - machine->fitted_tube);
    if (std::isfinite(machine->cost)) primal += machine->cost * points.weight(i) * slack;
  }
  stats.gap = std::max(0.0, primal + stats.objective);
  stats.violation = answer.violation / sigma;
}

SampledMachine train_tube(const SamplingRun& run, const BinaryTask& task) {
  const TrainingSet& data = run.all.facts();
  const TrainOptions& options = run.context.options;
  const double mean = std::accumulate(data.targets.begin(), data.targets.end(), 0.0) /
                      static_cast<double>(data.rows());
  RowVector<double> centred(data.targets.begin(), data.targets.end(), run.room.store);
  for (double& number : centred) number -= mean;
  TubePoints points(data.kernel, run.rows_of(task, Decision::single), std::move(centred),
                    relative_costs(data, task.rows, options.cost_or_default()),
                    options.tube_or_default(), run.room.cache_bytes);
  MarginForm form = wanted_form(points, true, run.is_hard, options);
  ReweightingSettings settings = sampling_settings(data, run.all.cols(), points, options, form, 0);
  settings.store = run.room.store;
  settings.on_status = [&](const qp::Status& status) { run.progress.update(status); };
  Reweighting sampling(points, run.context, settings);
  run_sampling(sampling, points, true, options, &form);
  const DrawMargin& margin = sampling.answer().margin;
  const double sigma = points.slope(margin.w);
  SampledMachine machine = describe(sampling, form, true);
  if (sigma <= 0) {  // stopped before there was a tube
    machine.result.machine.offset = mean;
    machine.result.stats.gap = std::numeric_limits<double>::infinity();
    return machine;
  }
  machine.nu = 2 * machine.k / weight_of(points, 1);
  machine.cost /= sigma;
  // Where k is more than half the rows, points on both sides of the tube are at their limit and
  // cancel out: the fit is then that of the tube turned inside out.
  machine.fitted_tube = std::abs(options.tube_or_default() - 1 / sigma);
  machine.margin = 0;  // of the separation in the space of features and response: of no use here
  const Direction features = points.feature_part(margin.w);
  machine.result.machine.rows = features.points;
  for (const double c : features.coefficients)
    machine.result.machine.coefficients.push_back(-c / sigma);
  machine.result.machine.offset = mean - margin.offset / sigma;
  set_tube_objectives(points, sampling.answer(), data, options.tube_or_default(), &machine);
  return machine;
}

// Numbers for each row: those of its task, target and weight; and for each of its points, of which
// a tube has two, sign, value and a place in the urn.
RowRoom room_for_points(const TrainingSet& data, const TrainContext& context, Index at_once) {
  constexpr Index kRowBytes = 40;
  constexpr Index kPointBytes = 72;
  const Index each = kRowBytes + (data.is_regression() ? 2 : 1) * kPointBytes;
  return room_for_rows(fmt::format("sampling from {}", counted(data.rows(), "row")),
                       checked_product(data.rows(), each * at_once), 0, context, at_once);
}

// On the first rank.
MethodResult train_problems(const AllRows& all, const PointWork& work, const TrainContext& context,
                            bool is_hard) {
  const TrainingSet& data = all.facts();
  const Decision decision = decision_for(data, context.options);
  const Index count = num_machines(decision, data.num_classes);
  require_room_for_results(count, kSampledBytes, context);
  TrainProgress progress(context.control, count, context.options.eps);
  const Index at_once = std::min<Index>(count, resolve_threads(context.control.threads));
  const SamplingRun run{all,     work, context, is_hard, room_for_points(data, context, at_once),
                        progress};
  std::vector<SampledMachine> machines(usize(count));
  const BinaryTrainer trainer = [&](const BinaryTask& task) {
    SampledMachine& own = machines[usize(task.index)];
    own = data.is_regression() ? train_tube(run, task) : train_classes(run, task);
    progress.machine_done();
    return std::move(own.result);
  };
  std::vector<BinaryResult> results =
      train_machines_in_turn(all, decision, while_it_may_run(context, trainer), run.room.store);
  KernelMachine trained;
  trained.decision = decision;
  trained.report.machines = 0;
  for (BinaryResult& one : results) {
    add_machine(one.stats, &trained.report);
    trained.machines.push_back(std::move(one.machine));
  }
  MethodResult result = expansion_result(all, std::move(trained), context.control);
  report_sampling(machines, data.is_regression(), &result.report);
  return result;
}

MethodResult train_sampled(const TrainingSet& data, const TrainContext& context, bool is_hard) {
  check_discounts(data.is_regression(), context.options);
  const LocalContext local(context);
  Coordinator coordinator(group_of(context.control));
  const AllRows all(data, coordinator);
  const PointWork work(all, local.context());
  MethodResult result;
  coordinator.run([&] { result = train_problems(all, work, local.context(), is_hard); });
  result.report.stop_reason = std::max(result.report.stop_reason, coordinator.stopped());
  return result;
}

}  // namespace

MethodResult train_opt_margin(const TrainingSet& data, const TrainContext& context) {
  return train_sampled(data, context, true);
}

MethodResult train_opt_soft_margin(const TrainingSet& data, const TrainContext& context) {
  return train_sampled(data, context, false);
}

Method opt_margin_method() {
  return {.info = {.name = "opt-margin",
                   .summary = "hard margin by random sampling that ends in a provable optimum",
                   .kind = MethodKind::exact,
                   .trains_together = true,
                   .options = {"multiclass", "draw", "carry-support", "stalled-delta"},
                   .unused = {"cost", "loss", "class-weight"}},
          .train = train_opt_margin,
          .promises = {.is_optimum = true, .needs_separable = true},
          .tuning = {.cost = false}};
}

Method opt_soft_margin_method() {
  return {
      .info = {.name = "opt-soft-margin",
               .summary = "soft margin or tube by random sampling that ends in a provable optimum",
               .kind = MethodKind::exact,
               .trains_together = true,
               .options = {"multiclass", "margin-k", "nu", "draw", "carry-support", "stalled-delta",
                           "discount-outliers"},
               .unused_in_regression = {"cost", "loss", "discount-outliers"}},
      .train = train_opt_soft_margin,
      .promises = {.is_optimum = true}};
}

}  // namespace tamis
