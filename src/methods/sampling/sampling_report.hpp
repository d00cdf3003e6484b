// What random sampling says in the report: rounds, bound and margin of each binary machine.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "methods/sampling/reweighting.hpp"
#include "svm/binary_task.hpp"

namespace tamis {

/// One machine with what the report says about it.
struct SampledMachine {
  BinaryResult result;
  std::vector<ReweightingRound> rounds;  ///< of the first kListedMachines
  Index num_rounds = 0;
  Index successful_rounds = 0;
  std::optional<double> bound;  ///< the theorem's, 6 delta ln n; empty: it does not apply
  double k = 0;                 ///< 1/D; 0: none, the margin is hard
  double nu = 0;                ///< of the nu machine with this answer
  double cost = 0;              ///< C of the C machine with this answer; infinite: hard margin
  double margin = 0;            ///< distance of the boundary from the margins
  double fitted_tube = 0;       ///< regression
  std::vector<std::pair<Index, double>> discounts;  ///< rows that count less, and how much
};

/// Details and tables, of which `rounds` and `sampling` have the first kListedMachines.
void report_sampling(std::span<const SampledMachine> machines, bool is_regression,
                     TrainReport* report);

}  // namespace tamis
