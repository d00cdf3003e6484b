// The methods that `auto` thinks of, what trials tell about each, and which is best.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "selection/forecast.hpp"
#include "selection/metric_choice.hpp"
#include "selection/trials.hpp"
#include "selection/tries.hpp"

namespace tamis {

/// A way to train, and what is known about it.
struct Candidate {
  std::string method;
  Growth growth;
  double handicap = 1;  ///< on its error, when candidates are compared
  TrainOptions options = {};
  std::string metric_remark = {};  ///< what feature weights gained; empty: it has none
  std::vector<Trial> trials = {};  ///< on ever more rows
  std::vector<Try> tries = {};     ///< of other parameters, all on as many rows
  Index rows = 0;                  ///< it would be trained on
  Forecast forecast = {};

  double judged_error() const { return handicap * forecast.error; }
};

/// The methods worth a trial, each with the parameters as it wants them: once for each kernel, and
/// those without a kernel once, with the parameters of the first. `asked` is what the user set.
std::vector<Candidate> candidates(const Dataset& data, const TrainOptions& asked,
                                  std::span<const MetricChoice> of_kernels);

/// The choice when there was no time for a trial: the plainest method, on all rows.
Candidate plainest_candidate(const Dataset& data, const TrainOptions& asked,
                             const TrainOptions& parameters);

/// Forecasts for all rows, or for as many as fit into the seconds. There was a trial.
void look_ahead(double seconds, Index all_rows, Candidate* candidate);

/// Goes on with the parameters of a try.
void settle(const Try& best, Candidate* candidate);

/// Lowest judged error first; ties stay in order.
void sort_by_error(std::vector<Candidate>* candidates);

/// How many of the sorted candidates are worth parameters of their own: the best, and the second
/// when it is close.
std::size_t count_promising(std::span<const Candidate> sorted);

}  // namespace tamis
