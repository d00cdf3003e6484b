#include "methods/sampling/sampling_report.hpp"

#include <cmath>
#include <limits>

#include "methods/common/kernel_machine.hpp"

namespace tamis {

void report_sampling(std::span<const SampledMachine> machines, bool is_regression,
                     TrainReport* report) {
  ReportTable rounds{"rounds",
                     {"binary_svm", "round", "k", "drawn", "delta", "support_vectors", "violators",
                      "violator_share", "successful"},
                     {}};
  ReportTable each{"sampling",
                   {"binary_svm", "rounds", "successful_rounds", "round_bound", "k", "nu", "cost",
                    is_regression ? "fitted_tube" : "margin"},
                   {}};
  double largest_bound = 0;  // not a number: some machine has none
  double all_rounds = 0;
  double all_successful = 0;
  for (std::size_t m = 0; m < machines.size(); ++m) {
    const SampledMachine& machine = machines[m];
    const auto number = static_cast<double>(m + 1);
    for (std::size_t r = 0; r < machine.rounds.size(); ++r) {
      const ReweightingRound& round = machine.rounds[r];
      rounds.rows.push_back(
          {number, static_cast<double>(r + 1), round.k, static_cast<double>(round.drawn),
           round.delta, static_cast<double>(round.support), static_cast<double>(round.violators),
           round.violator_share, round.is_successful ? 1.0 : 0.0});
    }
    const auto count = static_cast<double>(machine.num_rounds);
    const auto successful = static_cast<double>(machine.successful_rounds);
    const double bound = machine.bound.value_or(std::numeric_limits<double>::quiet_NaN());
    if (std::ssize(each.rows) < kListedMachines) {
      each.rows.push_back({number, count, successful, bound, machine.k, machine.nu, machine.cost,
                           is_regression ? machine.fitted_tube : machine.margin});
    }
    all_rounds += count;
    all_successful += successful;
    largest_bound = bound > largest_bound || std::isnan(bound) ? bound : largest_bound;
  }
  report->details = {{"sampling_rounds", all_rounds}, {"successful_rounds", all_successful}};
  if (!std::isnan(largest_bound)) report->details.emplace_back("round_bound", largest_bound);
  if (machines.size() == 1) {
    report->details.emplace_back("k", machines[0].k);
    report->details.emplace_back("nu", machines[0].nu);
    report->details.emplace_back("equivalent_cost", machines[0].cost);
    report->details.emplace_back(is_regression ? "fitted_tube" : "margin",
                                 is_regression ? machines[0].fitted_tube : machines[0].margin);
  }
  note_listed(std::ssize(machines), report);
  report->tables = {std::move(each), std::move(rounds)};
  ReportTable discounts{"discounts", {"binary_svm", "row", "weight"}, {}};
  for (std::size_t m = 0; m < machines.size(); ++m) {
    for (const auto& [row, weight] : machines[m].discounts)
      discounts.rows.push_back({static_cast<double>(m + 1), static_cast<double>(row + 1), weight});
  }
  if (!discounts.rows.empty()) report->tables.push_back(std::move(discounts));
}

}  // namespace tamis
