// Trials: training on a part of the rows, judged by held-out ones.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "data/folds.hpp"
#include "selection/forecast.hpp"
#include "selection/warm_starts.hpp"
#include "tamis/train.hpp"

namespace tamis {

/// Rows to judge by, and the others, which trials are drawn from.
struct TrialHoldOut {
  std::vector<Index> held;  ///< ascending
  Dataset validation;       ///< these rows
  Strata rest;
  Index rest_rows = 0;
};

/// Up to 15,000 rows, a quarter of all at most. Two thirds come in runs that follow each other in
/// the file: they tell how a model does on rows that continue it. The others, drawn one by one,
/// tell how it does on rows like those anywhere in it.
TrialHoldOut draw_hold_out(const Dataset& data, const Strata& strata, Random random);

/// Trials that are judged by one hold-out set.
struct TrialSeries {
  /// Trains on that number of rows. Nothing when the method cannot do it, or not in the seconds.
  std::function<std::optional<Trial>(const TrainOptions& options, Index rows, double seconds)> run;
  Index most_rows = 0;      ///< that are left to train on
  Index held_out_rows = 0;  ///< that judge
};

/// Share of wrong rows, or mean squared error.
double held_out_error(const Model& model, const Dataset& rows, const RunControl& control);

/// Runs trials and keeps the best model they gave. Everything it is given must outlive it, and it
/// every series.
class Trials {
 public:
  /// `asked` has task and seed.
  Trials(const Dataset& data, const Strata& strata, const TrainOptions& asked,
         const RunControl& control);

  /// Drawing 0 is always there; others draw a hold-out set of their own.
  TrialSeries series(std::size_t drawing);

  /// At most that many of the rows that are not held out in drawing 0, at random.
  Dataset sample_to_train(Index rows) const;

  /// The hold-out set of drawing 0.
  const Dataset& validation() const { return first_->validation; }

  struct Best {
    TrainResult result;
    double error = 0;
    Index rows = 0;  ///< it was trained on
  };
  /// The lowest error of all trials.
  const std::optional<Best>& best() const { return best_; }

 private:
  std::shared_ptr<const TrialHoldOut> draw(std::size_t drawing) const;
  std::optional<Trial> run(const TrialHoldOut& held_out, TrainOptions options, Index rows,
                           double seconds);
  void keep(TrainResult trained, double error, std::span<const Index> rows);

  const Dataset& data_;
  const Strata& strata_;
  std::uint64_t seed_;
  const RunControl& control_;
  std::shared_ptr<const TrialHoldOut> first_;
  std::optional<Best> best_;
  WarmStarts starts_;
};

/// The rows that the last training is on when not all fit into its time.
std::vector<Index> draw_training_rows(const Strata& strata, Index rows, std::uint64_t seed);

/// Rows of the part that a model was trained on become rows of the whole, which the part has at
/// `places`; the part was chosen, if nothing else was.
void renumber_rows(std::span<const Index> places, TrainReport* report);

}  // namespace tamis
