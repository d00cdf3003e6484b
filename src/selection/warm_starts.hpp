// Solutions of earlier trials, for later ones to start from.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include "methods/common/kernel_machine.hpp"
#include "tamis/train.hpp"

namespace tamis {

/// Keeps the dual coefficients of the last trials of `exact`, by rows of all data. Which of them a
/// trial starts from depends on the order of the trials alone.
class WarmStarts {
 public:
  /// A trial that ended by itself, on the rows `drawn` of the data, ascending. Models that are not
  /// kernel expansions are not kept.
  void keep(const TrainOptions& options, const TrainResult& trained, std::span<const Index> drawn);

  /// Coefficients for a trial on these rows, ascending: those of the trial with the same kernel,
  /// scaling and metric, on as many rows, whose C, gamma and tube are nearest. Never those of the
  /// very same trial: a training that is over at once would make the forecast of its time too low.
  std::optional<KernelMachine> find(const TrainOptions& options,
                                    std::span<const Index> drawn) const;

 private:
  struct Kept {
    TrainOptions options;
    KernelMachine machine;  // by rows of the data
    std::size_t rows = 0;
    std::uint64_t rows_sum = 0;  // tells one drawing of rows from another
  };
  std::deque<Kept> kept_;  // the latest last
};

}  // namespace tamis
