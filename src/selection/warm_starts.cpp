#include "selection/warm_starts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/checked.hpp"
#include "model/kernel_expansion.hpp"
#include "model/model_parts.hpp"
#include "selection/parameters.hpp"

namespace tamis {
namespace {

constexpr std::size_t kMostKept = 16;

// Of the distance in logarithms, next to gamma's: a kernel changes everything, C only bounds.
constexpr double kCostShare = 0.5;
constexpr double kTubeShare = 0.5;

bool have_same_rows(const TrainOptions& a, const TrainOptions& b) {
  return a.method == b.method && a.kernel_or_default() == b.kernel_or_default() &&
         scaling_of(a) == scaling_of(b) && a.feature_weights == b.feature_weights &&
         a.metric_matrix == b.metric_matrix;
}

double log_ratio(double a, double b) { return a == b ? 0 : std::abs(std::log(a / b)); }

double distance(const TrainOptions& a, const TrainOptions& b) {
  return log_ratio(gamma_of(a), gamma_of(b)) + kCostShare * log_ratio(cost_of(a), cost_of(b)) +
         kTubeShare * log_ratio(tube_of(a), tube_of(b));
}

std::uint64_t sum_of(std::span<const Index> rows) {
  return std::accumulate(rows.begin(), rows.end(), std::uint64_t{0});
}

// When C changes by `ratio`, coefficients at their bound usually stay there, and free ones stay
// where they are. Scaling all of them keeps their sum at zero, so the more numerous kind decides.
double factor_for(const TrainedMachine& machine, double ratio) {
  double largest = 0;
  for (const double c : machine.coefficients) largest = std::max(largest, std::abs(c));
  const auto bounded = std::count_if(machine.coefficients.begin(), machine.coefficients.end(),
                                     [&](double c) { return std::abs(c) >= (1 - 1e-6) * largest; });
  return 2 * bounded < std::ssize(machine.coefficients) ? 1 : ratio;
}

// Rows of the data become places among those drawn; others are left out.
void move_to(std::span<const Index> drawn, double factor, TrainedMachine* machine) {
  std::size_t kept = 0;
  for (std::size_t k = 0; k < machine->rows.size(); ++k) {
    const auto at = std::lower_bound(drawn.begin(), drawn.end(), machine->rows[k]);
    if (at == drawn.end() || *at != machine->rows[k]) continue;
    machine->rows[kept] = at - drawn.begin();
    machine->coefficients[kept++] = factor * machine->coefficients[k];
  }
  machine->rows.resize(kept);
  machine->coefficients.resize(kept);
}

}  // namespace

void WarmStarts::keep(const TrainOptions& options, const TrainResult& trained,
                      std::span<const Index> drawn) {
  if (options.method != "exact" || !gamma_is_number(options)) return;
  const auto* expansion = dynamic_cast<const KernelExpansion*>(&machine_of(trained.model));
  if (expansion == nullptr) return;
  std::vector<Index> rows = trained.report.support_rows;
  for (Index& row : rows) row = drawn[usize(row)];
  kept_.push_back({options, machine_on_rows(*expansion, rows), drawn.size(), sum_of(drawn)});
  if (kept_.size() > kMostKept) kept_.pop_front();
}

std::optional<KernelMachine> WarmStarts::find(const TrainOptions& options,
                                              std::span<const Index> drawn) const {
  const Kept* nearest = nullptr;
  const std::uint64_t sum = sum_of(drawn);
  for (const Kept& one : kept_) {
    const bool is_this_one = at_same_place(one.options, options) && one.rows_sum == sum;
    // Coefficients of fewer rows save nothing: most of the work is with the new ones.
    if (one.rows != drawn.size() || is_this_one || !have_same_rows(one.options, options)) continue;
    if (nearest == nullptr || distance(one.options, options) <= distance(nearest->options, options))
      nearest = &one;
  }
  if (nearest == nullptr) return std::nullopt;
  KernelMachine start = nearest->machine;
  const double ratio = cost_of(options) / cost_of(nearest->options);
  for (TrainedMachine& machine : start.machines)
    move_to(drawn, factor_for(machine, ratio), &machine);
  return start;
}

}  // namespace tamis
