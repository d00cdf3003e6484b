// All that the rounds of the solver depend on, by the keys of the points: a run that continues from
// it ends with the same bits, on any number of ranks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "qp/problem.hpp"

namespace tamis::qp {

struct SolverState {
  struct Point {
    std::uint64_t key = 0;
    double beta = 0;
    double sum = 0;         ///< F, as the solver knows it
    std::int64_t rest = 0;  ///< 0: active; else one more than the number of its rest
  };
  /// A coefficient that a rest remembers.
  struct Remembered {
    std::uint64_t key = 0;
    double value = 0;
    std::int64_t rest = 0;  ///< its number
  };
  struct Progress {
    std::int64_t iterations = 0;
    double objective = 0;
    double share = 0;
    double tolerance = 0;
    std::int64_t participants = 0;
    std::int64_t float_is_enough = 0;
    std::int64_t num_rests = 0;
    double stage_gap = 0;
  };

  Progress progress;                  ///< the same on all ranks
  std::vector<std::uint64_t> newest;  ///< of the last block; the same on all ranks
  std::vector<Point> points;          ///< of this rank
  std::vector<Remembered> remembered;
};

std::string to_bytes(const SolverState& state);
/// Throws DataError when the bytes are no state.
SolverState state_from_bytes(std::string_view bytes);

/// Where a solver leaves its state from time to time.
class StateKeeper {
 public:
  virtual ~StateKeeper() = default;
  /// What the ranks of an earlier run left; empty: nothing.
  virtual std::vector<SolverState> load() = 0;
  /// Asked on one rank only. `at_end`: the problem is solved, and others may follow.
  virtual bool is_due(bool at_end) = 0;
  virtual void save(const SolverState& state) = 0;
};

}  // namespace tamis::qp
