#include "selection/trials.hpp"

#include <algorithm>
#include <utility>

#include "base/checked.hpp"
#include "base/deadline.hpp"
#include "base/progress.hpp"
#include "selection/auto_budget.hpp"
#include "tamis/error.hpp"
#include "tamis/evaluate.hpp"
#include "training/run_method.hpp"

namespace tamis {
namespace {

constexpr Index kMostInRuns = 10000;  // held-out rows, and half as many one by one
constexpr Index kRunsShare = 6;       // at most one row of so many

// Random numbers that no method draws.
constexpr std::uint64_t kHoldOutStream = 0xA070;
constexpr std::uint64_t kTrialStream = kHoldOutStream + 1;
constexpr std::uint64_t kTrainingStream = kHoldOutStream + 2;

std::uint64_t stream_of(std::size_t drawing) {
  return drawing == 0 ? kHoldOutStream : kTrainingStream + drawing;
}

}  // namespace

TrialHoldOut draw_hold_out(const Dataset& data, const Strata& strata, Random random) {
  const Index in_runs = std::min(kMostInRuns, data.rows() / kRunsShare);
  std::vector<Index> held = draw_runs(strata, in_runs, random);
  const std::vector<Index> single = draw_rows(without(strata, held), in_runs / 2, random);
  held.insert(held.end(), single.begin(), single.end());
  std::sort(held.begin(), held.end());
  TrialHoldOut result{std::move(held), {}, {}, 0};
  result.validation = data.select(result.held);
  result.rest = without(strata, result.held);
  for (const std::vector<Index>& rows : result.rest) result.rest_rows += std::ssize(rows);
  return result;
}

double held_out_error(const Model& model, const Dataset& rows, const RunControl& control) {
  const Evaluation found = evaluate(model, rows, control);
  return model.task() == Task::regression ? found.mse : found.error_rate;
}

Trials::Trials(const Dataset& data, const Strata& strata, const TrainOptions& asked,
               const RunControl& control)
    : data_(data), strata_(strata), seed_(asked.seed), control_(control), first_(draw(0)) {}

std::shared_ptr<const TrialHoldOut> Trials::draw(std::size_t drawing) const {
  return std::make_shared<const TrialHoldOut>(
      draw_hold_out(data_, strata_, Random(seed_, stream_of(drawing))));
}

TrialSeries Trials::series(std::size_t drawing) {
  const std::shared_ptr<const TrialHoldOut> held_out = drawing == 0 ? first_ : draw(drawing);
  const auto run_one = [this, held_out](const TrainOptions& options, Index rows, double seconds) {
    return run(*held_out, options, rows, seconds);
  };
  return {run_one, held_out->rest_rows, held_out->validation.rows()};
}

Dataset Trials::sample_to_train(Index rows) const {
  Random random(seed_, kTrialStream);
  return data_.select(draw_rows(first_->rest, std::min(rows, first_->rest_rows), random));
}

std::optional<Trial> Trials::run(const TrialHoldOut& held_out, TrainOptions options, Index rows,
                                 double seconds) {
  if (control_.cancelled()) return std::nullopt;  // before rows are copied
  // The same rows for every candidate and all parameters, so that errors can be compared.
  Random random(seed_, kTrialStream);
  const std::vector<Index> drawn = draw_rows(held_out.rest, rows, random);
  const Dataset part = data_.select(drawn);
  options.max_seconds = seconds;
  const Deadline deadline(quiet(control_), AutoBudget::kTrialGrace * seconds);
  try {
    const std::optional<KernelMachine> start = starts_.find(options, drawn);
    TrainResult trained = run_method(part, options, deadline.control(), start ? &*start : nullptr);
    if (trained.report.stop_reason >= StopReason::time_limit) return std::nullopt;
    const double error = held_out_error(trained.model, held_out.validation, deadline.control());
    const Trial trial{part.rows(), trained.report.train_seconds, error};
    starts_.keep(options, trained, drawn);
    keep(std::move(trained), error, drawn);
    return trial;
  } catch (const Error&) {
    return std::nullopt;
  }
}

void Trials::keep(TrainResult trained, double error, std::span<const Index> rows) {
  if (best_ && !(error < best_->error)) return;
  best_ = {std::move(trained), error, std::ssize(rows)};
  renumber_rows(rows, &best_->result.report);
}

std::vector<Index> draw_training_rows(const Strata& strata, Index rows, std::uint64_t seed) {
  Random random(seed, kTrainingStream);
  return draw_rows(strata, rows, random);
}

void renumber_rows(std::span<const Index> places, TrainReport* report) {
  for (Index& row : report->support_rows) row = places[usize(row)];
  std::vector<Index>& chosen = report->chosen_rows;
  if (chosen.empty()) {
    chosen.assign(places.begin(), places.end());
  } else {
    for (Index& row : chosen) row = places[usize(row)];
  }
  std::sort(chosen.begin(), chosen.end());
}

}  // namespace tamis
