// What `auto` does with time that is left over once it has chosen.
#pragma once

#include <string>
#include <vector>

#include "selection/auto_budget.hpp"
#include "selection/candidates.hpp"
#include "selection/trials.hpp"

namespace tamis {

/// Who is better on held-out rows that neither of the two was chosen by: both are trained on `rows`
/// rows and judged by other hold-out sets, as long as the challenger is ahead.
struct Duel {
  double champion_error = 0;  ///< mean over the hold-out sets
  double challenger_error = 0;
  Index drawings = 0;  ///< hold-out sets; 0: the time was not enough for one

  /// Ahead by a standard error of the mean: the best of many starts is ahead by chance too.
  bool is_won(const Candidate& champion, const Candidate& challenger, Index held_out_rows) const;
};
Duel duel(Trials* trials, const Candidate& champion, const Candidate& challenger, Index rows,
          double seconds);

/// Other starts for the search, in the time that a limit leaves over: candidates that had no climb
/// yet, feature weights and a full metric learned with the chosen parameters, and shorter strides.
/// Each that wins a duel takes the place of the best. `sorted` has the lowest error first, and is
/// sorted again. Returns what came of it, in words; empty: there was no time for it, or no limit.
std::string search_on(const Dataset& data, const TrainOptions& asked, const AutoBudget& budget,
                      const RunControl& control, Trials* trials, std::vector<Candidate>* sorted);

}  // namespace tamis
