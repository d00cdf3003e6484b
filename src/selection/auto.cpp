#include "selection/auto.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

#include "base/checked.hpp"
#include "base/clock.hpp"
#include "base/deadline.hpp"
#include "data/folds.hpp"
#include "selection/forecast.hpp"
#include "selection/pilot_parameters.hpp"
#include "tamis/error.hpp"
#include "tamis/evaluate.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

constexpr std::uint64_t kAutoStream = 0xA070;
constexpr double kPatience = 600;         // seconds that training may take when nobody set a limit
constexpr double kPilotShare = 0.35;      // of the time, for parameters and trials
constexpr double kPilotSeconds = 30;      // the same when nobody set a limit
constexpr double kPolishShare = 0.35;     // of the time, for parameters on many rows
constexpr double kJudgeShare = 0.5;       // of what training leaves over, for judging again
constexpr double kTrainShare = 0.75;      // of the time left: forecasts err
constexpr double kReserve = 0.03;         // of the limit, for putting the model together
constexpr double kWorthPolishing = 1.3;   // times the lowest forecast error
constexpr Index kMostInRuns = 10000;      // rows held out, and half as many one by one
constexpr double kIndifference = 0.5;     // standard errors within which errors count as equal
constexpr std::size_t kFinalists = 8;     // tries that are judged again
constexpr std::size_t kMostDrawings = 5;  // of rows to hold out, for the tries that might be best
constexpr Index kFirstTrial = 1000;       // rows; the next ones have kTrialGrowth times as many
constexpr Index kTrialGrowth = 4;

// Local machines live on the nearest rows, so rows held out at random flatter them wherever rows
// come in runs of near copies (ijcnn1: forecast 1.1 %, later rows 1.8 %). They must be better by
// this.
constexpr double kLocalHandicap = 1.05;

struct Try {
  TrainOptions options;
  Trial trial;
};

// A way to train, and what is known about it. A new method that `auto` should think of gets a line
// in candidates().
struct Candidate {
  std::string method;
  Growth growth;
  double handicap = 1;  // on its error, when candidates are compared
  std::vector<Trial> trials;
  Index rows = 0;  // it would be trained on
  Forecast forecast;
  TrainOptions options;
  std::vector<Try> tries;  // of other parameters, all on as many rows

  double judged_error() const { return handicap * forecast.error; }
};

struct Facts {
  Index rows = 0;
  Index features = 0;
  double density = 1;
};

Facts facts_of(const Dataset& data) {
  Facts facts{data.rows(), data.cols(), 1};
  if (data.features().is_sparse()) {
    const double cells = static_cast<double>(data.rows()) * static_cast<double>(data.cols());
    facts.density = static_cast<double>(data.features().num_stored()) / std::max(1.0, cells);
  }
  return facts;
}

// The rule: which methods are worth a trial.
std::vector<Candidate> candidates(const Facts& facts, const TrainOptions& options) {
  std::vector<Candidate> result{{"exact", {1, 2.5}, 1, {}, 0, {}, {}, {}}};
  if (options.kernel == KernelType::precomputed) return result;
  result.push_back({"linear", {1, 1.5}, 1, {}, 0, {}, {}, {}});
  // Neighbours mean little among hundreds of features, and small data need no parts.
  const double stored = facts.density * static_cast<double>(facts.features);
  if (options.kernel == KernelType::rbf && facts.rows > 5000 && stored <= 300)
    result.push_back({"falk", {1, 1.5}, kLocalHandicap, {}, 0, {}, {}, {}});
  return result;
}

std::string error_text(double error, Task task) {
  return task == Task::regression ? fmt::format("{:.4g}", error)
                                  : fmt::format("{:.2f} %", 100 * error);
}

// Rows of a part become rows of the whole, which the part has at `places`.
void map_rows(std::span<const Index> places, std::vector<Index>* rows) {
  for (Index& row : *rows) row = places[usize(row)];
}

// A regression whose tube nobody chose: a share of how much the numbers differ, since 0.1 is all or
// nothing depending on their unit.
TrainOptions with_tube(const Dataset& data, TrainOptions options) {
  constexpr double kTubeShare = 0.1;  // of the standard deviation
  const bool keeps_tube = options.automatic.keep_tube || options.tube != TrainOptions().tube;
  if (options.task != Task::regression || keeps_tube || data.labels().kind() != LabelKind::numeric)
    return options;
  const double rows = static_cast<double>(data.rows());
  double mean = 0;
  for (Index i = 0; i < data.rows(); ++i) mean += data.labels().number(i) / rows;
  double variance = 0;
  for (Index i = 0; i < data.rows(); ++i) {
    const double off = data.labels().number(i) - mean;
    variance += off * off / rows;
  }
  if (variance > 0 && std::isfinite(variance)) options.tube = kTubeShare * std::sqrt(variance);
  return options;
}

class Chooser {
 public:
  Chooser(const Dataset& data, const TrainOptions& options, const RunControl& control)
      : data_(data),
        options_(options),
        control_(control),
        facts_(facts_of(data)),
        strata_(row_strata(data, options.task == Task::regression)) {}

  TrainResult run() {
    const PilotParameters parameters = choose_parameters();
    const Candidate best = choose_method(parameters.options);
    chosen_ = best.options;
    announce(best);
    const double pilot_seconds = watch_.seconds();
    TrainResult result = train_final(best);
    add_to_report(best, parameters, pilot_seconds, &result.report);
    return result;
  }

 private:
  double limit() const {
    return options_.max_seconds > 0 ? options_.max_seconds * (1 - kReserve)
                                    : std::numeric_limits<double>::infinity();
  }
  double seconds_left() const { return limit() - watch_.seconds(); }
  double pilot_left() const {
    const double share =
        options_.max_seconds > 0 ? kPilotShare * options_.max_seconds : kPilotSeconds;
    return share - watch_.seconds();
  }
  // A share of what training, and as much again, leaves over of the time. On small data far more
  // than it takes: what is chosen must not depend on how busy the computer is.
  double judge_left(const Candidate& candidate) const {
    const double spare = seconds_left() - 2 * candidate.forecast.seconds;
    return kJudgeShare * std::clamp(spare, 0.0, kPilotSeconds);
  }
  bool is_regression() const { return options_.task == Task::regression; }

  PilotParameters choose_parameters() const {
    return pilot_parameters(data_, options_, 0.6 * pilot_left(), control_);
  }

  // Trials on growing parts, each candidate as far as the time goes, judged on rows held out; then
  // the best, and the second when it is close, with parameters of their own.
  Candidate choose_method(const TrainOptions& parameters) {
    held_out_ = hold_out(kAutoStream);
    std::vector<Candidate> all = candidates(facts_, options_);
    const double share = std::max(0.05, pilot_left()) / static_cast<double>(all.size());
    for (Candidate& candidate : all) {
      candidate.options = with_method(candidate.method, parameters);
      try_growing(share, &candidate);
    }
    std::erase_if(all, [](const Candidate& candidate) { return candidate.trials.empty(); });
    if (all.empty()) {
      if (control_.cancelled()) throw Cancelled();
      // Not one trial: the plainest choice, on all rows, with what is left of the time.
      return {"linear", {}, 1, {}, data_.rows(), {}, with_method("linear", parameters), {}};
    }
    for (Candidate& candidate : all) look_ahead(&candidate);
    const auto better = [](const Candidate& a, const Candidate& b) {
      return a.judged_error() < b.judged_error();
    };
    std::stable_sort(all.begin(), all.end(), better);
    const std::size_t polished =
        all.size() > 1 && all[1].judged_error() <= kWorthPolishing * all[0].judged_error() ? 2 : 1;
    const double most =
        options_.max_seconds > 0 ? kPolishShare * options_.max_seconds : kPilotSeconds;
    const Stopwatch watch;
    for (std::size_t c = 0; c < polished; ++c)
      polish(&all[c], (most - watch.seconds()) / static_cast<double>(polished - c));
    for (std::size_t c = 0; c < polished; ++c)
      judge_again(&all[c], judge_left(all[c]) / static_cast<double>(polished - c));
    explain(all);
    return *std::min_element(all.begin(), all.end(), better);
  }

  // Rows to judge by, and the others, which trials are drawn from.
  struct HeldOut {
    Dataset validation;
    Strata rest;
    Index rest_rows = 0;
  };

  // Runs of rows tell how a machine does on rows that continue the file, rows drawn one by one how
  // it does on rows like those anywhere in it.
  HeldOut hold_out(std::uint64_t stream) const {
    Random random(options_.seed, stream);
    const Index in_runs = std::min(kMostInRuns, data_.rows() / 6);
    std::vector<Index> held = draw_runs(strata_, in_runs, random);
    const std::vector<Index> single = draw_rows(without(strata_, held), in_runs / 2, random);
    held.insert(held.end(), single.begin(), single.end());
    std::sort(held.begin(), held.end());
    HeldOut result{data_.select(held), without(strata_, held), 0};
    for (const std::vector<Index>& rows : result.rest) result.rest_rows += std::ssize(rows);
    return result;
  }

  void try_growing(double share, Candidate* candidate) {
    const Stopwatch watch;
    const Index most = held_out_.rest_rows;
    Index rows = std::min(kFirstTrial, most);
    while (true) {
      const std::optional<Trial> trial =
          try_on(held_out_, candidate->options, rows, std::max(0.05, share - watch.seconds()));
      if (!trial) return;
      candidate->trials.push_back(*trial);
      if (rows == most) return;
      rows = std::min(rows * kTrialGrowth, most);
      const Forecast next = forecast(candidate->trials, rows, candidate->growth);
      if (next.seconds > 0.7 * (share - watch.seconds())) return;
    }
  }

  // Nothing when the method cannot do it, or not in time.
  std::optional<Trial> try_on(const HeldOut& held_out, TrainOptions options, Index rows,
                              double seconds) {
    Random random(options_.seed, kAutoStream + 1);
    const std::vector<Index> drawn = draw_rows(held_out.rest, rows, random);
    const Dataset part = data_.select(drawn);
    options.max_seconds = seconds;
    const Deadline deadline(quiet(), 1.5 * seconds);
    try {
      TrainResult trained = train(part, options, deadline.control());
      if (trained.report.stop_reason >= StopReason::time_limit) return std::nullopt;
      const double error = error_on(held_out.validation, trained.model, deadline.control());
      if (fallback_.model.empty() || error < fallback_error_) {
        fallback_error_ = error;
        fallback_rows_ = part.rows();
        fallback_ = trained;
        map_rows(drawn, &fallback_.report.support_rows);
      }
      return Trial{part.rows(), trained.report.train_seconds, error};
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  double error_on(const Dataset& rows, const Model& model, const RunControl& control) const {
    const Evaluation found = evaluate(model, rows, control);
    return is_regression() ? found.mse : found.error_rate;
  }

  // Of a mean error over so many drawings of rows held out; for a mean of squares, as if residuals
  // were normal.
  double standard_error(double error, std::size_t drawings) const {
    const double variance = is_regression() ? 2 * error * error : error * (1 - error);
    const double rows =
        static_cast<double>(drawings) * static_cast<double>(held_out_.validation.rows());
    return std::sqrt(variance / rows);
  }

  TrainOptions with_method(const std::string& method, TrainOptions options) const {
    options.method = method;
    if (method != "linear") return options;
    // C was chosen for a kernel; a linear machine needs less, and takes long with more.
    if (!keeps_cost(options_)) options.cost = TrainOptions().cost;
    options.bias.rule = Bias::Rule::free;  // as the others have it
    return options;
  }

  // How many rows the time allows, and what they will take and bring.
  void look_ahead(Candidate* candidate) const {
    const double budget = kTrainShare * std::min(seconds_left(), kPatience);
    candidate->rows = affordable_rows(candidate->trials, budget, data_.rows(), candidate->growth);
    candidate->forecast = forecast(candidate->trials, candidate->rows, candidate->growth);
  }

  // Parameters that are best for few rows are not for many. Goes on from them with one
  // method, downhill by the error on the rows held out: in long steps on rows that many tries can
  // afford, then in short ones on more rows.
  void polish(Candidate* candidate, double seconds) {
    const Stopwatch watch;
    climb(candidate, {.tries = 16, .cost_step = 8, .gamma_step = 4}, seconds / 2);
    climb(candidate, {.tries = 8, .cost_step = 4, .gamma_step = 2}, seconds - watch.seconds());
    look_ahead(candidate);
  }

  struct Climb {
    double tries;  // that the time is to be enough for
    double cost_step;
    double gamma_step;
  };

  // Factors on cost and gamma to try. A narrower kernel wants a lower cost, so both move at once
  // too. Steps of twice the length come last: they cross what is flat but for the noise of the
  // rows held out.
  std::vector<std::pair<double, double>> moves(const TrainOptions& options,
                                               const Climb& climb) const {
    const bool moves_cost = !keeps_cost(options_);
    const bool moves_gamma = options.method != "linear" && !keeps_gamma(options_) &&
                             options.gamma.rule == Gamma::Rule::value;
    std::vector<std::pair<double, double>> result;
    for (const double length : {1.0, 2.0}) {
      const double c = std::pow(climb.cost_step, length);
      const double g = std::pow(climb.gamma_step, length);
      if (moves_gamma && moves_cost) result.insert(result.end(), {{1 / c, g}, {c, 1 / g}});
      if (moves_gamma) result.insert(result.end(), {{1, g}, {1, 1 / g}});
      if (moves_cost) result.insert(result.end(), {{1 / c, 1}, {c, 1}});
    }
    return result;
  }

  void climb(Candidate* candidate, const Climb& way, double seconds) {
    const std::vector<std::pair<double, double>> all = moves(candidate->options, way);
    if (all.empty()) return;
    const Stopwatch watch;
    const Index rows = affordable_rows(candidate->trials, seconds / way.tries, held_out_.rest_rows,
                                       candidate->growth);
    std::vector<Try>& tries = candidate->tries;
    std::erase_if(tries, [&](const Try& one) { return one.trial.rows != rows; });
    std::optional<std::size_t> here = place_of(candidate->options, rows, seconds, &tries);
    if (!here) return;
    std::size_t failed = 0;  // moves in a row that did not help
    for (std::size_t m = 0; failed < all.size();) {
      if (watch.seconds() + 2 * tries[*here].trial.seconds > seconds || control_.cancelled()) break;
      TrainOptions there = tries[*here].options;
      there.cost *= all[m].first;
      there.gamma.value *= all[m].second;
      const auto next = place_of(there, rows, seconds - watch.seconds(), &tries);
      if (next && tries[*next].trial.error < tries[*here].trial.error) {
        here = next;
        failed = 0;
      } else {
        ++failed;
        m = (m + 1) % all.size();
      }
    }
    settle(smoothest_of_best(tries, 1), candidate);
  }

  // Where among the tries these parameters are: tries them when they are new. Nothing when they
  // cannot be tried in time.
  std::optional<std::size_t> place_of(const TrainOptions& options, Index rows, double seconds,
                                      std::vector<Try>* tries) {
    for (std::size_t t = 0; t < tries->size(); ++t) {
      const TrainOptions& old = (*tries)[t].options;
      if (old.cost == options.cost && old.gamma.value == options.gamma.value) return t;
    }
    const std::optional<Trial> trial = try_on(held_out_, options, rows, seconds);
    if (!trial) return std::nullopt;
    tries->push_back({options, *trial});
    return tries->size() - 1;
  }

  static void settle(const Try& best, Candidate* candidate) {
    candidate->options = best.options;
    // Earlier trials had other parameters: they tell the growth of the time, this one where it is.
    if (best.trial.rows > candidate->trials.back().rows)
      candidate->trials.push_back(best.trial);
    else
      candidate->trials.back() = best.trial;
  }

  // The lowest of many errors on the same rows is low by luck too. The best tries race on: each
  // round draws other rows to hold out, and who is behind by a standard error of the mean drops
  // out.
  void judge_again(Candidate* candidate, double seconds) {
    const Stopwatch watch;
    std::vector<Try> finalists = candidate->tries;
    std::stable_sort(finalists.begin(), finalists.end(),
                     [](const Try& a, const Try& b) { return a.trial.error < b.trial.error; });
    if (finalists.size() > kFinalists) finalists.resize(kFinalists);
    std::size_t drawings = 1;
    while (finalists.size() > 1 && drawings < kMostDrawings && !control_.cancelled()) {
      const Stopwatch round;
      const std::optional<std::vector<Try>> judged =
          judge_once_more(finalists, drawings, seconds - watch.seconds());
      if (!judged) break;
      finalists = close_to_best(*judged, 1, ++drawings);
      if (watch.seconds() + 1.2 * round.seconds() > seconds) break;
    }
    if (drawings == 1) return;
    settle(smoothest_of_best(finalists, drawings), candidate);
    look_ahead(candidate);
  }

  // The tries with their mean errors over one drawing more. Nothing when the time is not enough for
  // all of them.
  std::optional<std::vector<Try>> judge_once_more(std::vector<Try> tries, std::size_t drawings,
                                                  double seconds) {
    const Stopwatch watch;
    double needed = 0;
    for (const Try& one : tries) needed += one.trial.seconds;
    if (needed > seconds) return std::nullopt;
    const HeldOut again = hold_out(kAutoStream + 2 + drawings);
    for (Try& one : tries) {
      const std::optional<Trial> trial =
          try_on(again, one.options, one.trial.rows, seconds - watch.seconds());
      if (!trial) return std::nullopt;
      one.trial.error += (trial->error - one.trial.error) / static_cast<double>(drawings + 1);
    }
    return tries;
  }

  // Those whose error is at most so many standard errors above the lowest.
  std::vector<Try> close_to_best(std::span<const Try> tries, double standard_errors,
                                 std::size_t drawings) const {
    double lowest = tries.front().trial.error;
    for (const Try& one : tries) lowest = std::min(lowest, one.trial.error);
    const double most = lowest + standard_errors * standard_error(lowest, drawings);
    std::vector<Try> result(tries.begin(), tries.end());
    std::erase_if(result, [&](const Try& one) { return one.trial.error > most; });
    return result;
  }

  // Of the tries that are as good as the best, the widest kernel: rows to come are hardly ever
  // closer to the training rows than those held out.
  Try smoothest_of_best(std::span<const Try> tries, std::size_t drawings) const {
    const std::vector<Try> best = close_to_best(tries, kIndifference, drawings);
    return *std::min_element(best.begin(), best.end(), [](const Try& a, const Try& b) {
      return std::pair(a.options.gamma.value, a.trial.error) <
             std::pair(b.options.gamma.value, b.trial.error);
    });
  }

  RunControl quiet() const {
    RunControl own = control_;
    own.on_progress = nullptr;
    own.on_remark = nullptr;
    return own;
  }

  void explain(std::span<const Candidate> all) {
    for (const Candidate& candidate : all) {
      reason_ +=
          fmt::format("{}{} {}{} in {:.3g} s", reason_.empty() ? "" : ", ", candidate.method,
                      error_text(candidate.forecast.error, options_.task),
                      candidate.rows < data_.rows() ? " on " + counted(candidate.rows, "row") : "",
                      candidate.forecast.seconds);
    }
  }

  void announce(const Candidate& best) {
    say(fmt::format("auto: {}{} on {}", best.method, parameter_words(),
                    best.rows < data_.rows()
                        ? fmt::format("{} of {}", best.rows, counted(data_.rows(), "row"))
                        : "all " + counted(data_.rows(), "row")));
    say(fmt::format("forecast: {:.3g} s of training, error {}; choosing took {:.3g} s",
                    best.forecast.seconds, error_text(best.forecast.error, options_.task),
                    watch_.seconds()));
    say(fmt::format(
        "why: lowest forecast error{} of {}",
        options_.max_seconds > 0 ? fmt::format(" within {:g} s", options_.max_seconds) : "",
        reason_.empty() ? "methods that had time for a trial: none" : reason_));
  }

  std::string parameter_words() const {
    std::string words = fmt::format(" --cost {:.4g}", chosen_.cost);
    if (chosen_.method != "linear" && chosen_.gamma.rule == Gamma::Rule::value)
      words += fmt::format(" --gamma {:.4g}", chosen_.gamma.value);
    if (is_regression()) words += fmt::format(" --tube {:.4g}", chosen_.tube);
    if (chosen_.scaling != ScalingMethod::none)
      words += fmt::format(" --scale {}", scaling_name(chosen_.scaling));
    return words;
  }

  void say(std::string line) {
    if (control_.on_remark) control_.on_remark(line);
    remarks_.push_back(std::move(line));
  }

  TrainResult train_final(const Candidate& best) {
    Dataset rows = data_;
    std::vector<Index> drawn;
    if (best.rows < data_.rows()) {
      Random random(options_.seed, kAutoStream + 2);
      drawn = draw_rows(strata_, best.rows, random);
      rows = data_.select(drawn);
    }
    TrainOptions options = chosen_;
    const double left = seconds_left();
    options.max_seconds = std::isfinite(left) ? std::max(0.01, left) : 0;
    const Deadline deadline(control_,
                            std::isfinite(left) ? std::max(0.02, left + 0.01 * limit()) : left);
    std::optional<TrainResult> result;
    try {
      result = train(rows, options, deadline.control());
    } catch (const Cancelled&) {
      if (fallback_.model.empty()) throw;
    }
    if (result && !drawn.empty()) map_rows(drawn, &result->report.support_rows);
    if (result && result->report.stop_reason == StopReason::interrupted && !control_.cancelled())
      result->report.stop_reason = StopReason::time_limit;
    if (!result || (result->report.stop_reason >= StopReason::time_limit && is_worse(*result)))
      return use_fallback();
    return *std::move(result);
  }

  // The stopped machine saw the validation rows, the trial's did not: that favours the former, so
  // it must really be bad to lose.
  bool is_worse(const TrainResult& stopped) const {
    if (fallback_.model.empty()) return false;
    RunControl unstopped = quiet();
    unstopped.cancel = nullptr;
    return error_on(held_out_.validation, stopped.model, unstopped) > fallback_error_;
  }

  TrainResult use_fallback() {
    TrainResult result = fallback_;
    result.report.stop_reason =
        control_.cancelled() ? StopReason::interrupted : StopReason::time_limit;
    result.report.warnings.push_back(
        fmt::format("the training was stopped: this is the model of a trial, {} on {}",
                    result.report.method, counted(fallback_rows_, "row")));
    result.report.details.emplace_back("rows_used", static_cast<double>(fallback_rows_));
    return result;
  }

  void add_to_report(const Candidate& best, const PilotParameters& parameters, double pilot_seconds,
                     TrainReport* report) {
    say(fmt::format("training took {:.3g} s, forecast {:.3g} s", watch_.seconds() - pilot_seconds,
                    best.forecast.seconds));
    auto& details = report->details;
    const auto has = [&](std::string_view name) {
      return std::any_of(details.begin(), details.end(),
                         [&](const auto& entry) { return entry.first == name; });
    };
    if (!has("rows_used")) details.emplace_back("rows_used", static_cast<double>(report->rows));
    details.emplace_back("chosen_cost", chosen_.cost);
    if (chosen_.gamma.rule == Gamma::Rule::value)
      details.emplace_back("chosen_gamma", chosen_.gamma.value);
    if (is_regression()) details.emplace_back("chosen_tube", chosen_.tube);
    details.emplace_back("pilot_seconds", pilot_seconds);
    details.emplace_back("cross_validation_error", parameters.error);
    details.emplace_back("forecast_seconds", best.forecast.seconds);
    details.emplace_back("actual_seconds", watch_.seconds() - pilot_seconds);
    details.emplace_back("forecast_error", best.forecast.error);
    report->phase_seconds.insert(report->phase_seconds.begin(), {"choose", pilot_seconds});
    report->rows = data_.rows();
    report->train_seconds = watch_.seconds();
    report->remarks = remarks_;
  }

  const Dataset& data_;
  const TrainOptions& options_;
  const RunControl& control_;
  Facts facts_;
  Strata strata_;
  Stopwatch watch_;
  TrainOptions chosen_;
  HeldOut held_out_;
  TrainResult fallback_;  // the best model of a trial
  double fallback_error_ = 0;
  Index fallback_rows_ = 0;
  std::string reason_;
  std::vector<std::string> remarks_;
};

}  // namespace

TrainResult train_auto(const Dataset& data, const TrainOptions& options,
                       const RunControl& control) {
  if (data.labels().kind() == LabelKind::none) throw DataError("the data has no labels to learn");
  const TrainOptions with_units = with_tube(data, options);
  return Chooser(data, with_units, control).run();
}

}  // namespace tamis
