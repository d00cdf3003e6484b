#include "selection/tries.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "selection/parameters.hpp"

namespace tamis {
namespace {

constexpr double kIndifference = 0.5;  // standard errors within which errors count as equal

}  // namespace

double standard_error(double error, Task task, Index held_out_rows) {
  const double variance = task == Task::regression ? 2 * error * error : error * (1 - error);
  return std::sqrt(variance / static_cast<double>(held_out_rows));
}

std::vector<Try> close_to_best(std::span<const Try> tries, double standard_errors,
                               Index held_out_rows) {
  double lowest = tries.front().trial.error;
  for (const Try& one : tries) lowest = std::min(lowest, one.trial.error);
  const Task task = tries.front().options.task;
  const double most = lowest + standard_errors * standard_error(lowest, task, held_out_rows);
  std::vector<Try> result(tries.begin(), tries.end());
  std::erase_if(result, [&](const Try& one) { return one.trial.error > most; });
  return result;
}

Try smoothest_of_best(std::span<const Try> tries, Index held_out_rows) {
  const std::vector<Try> best = close_to_best(tries, kIndifference, held_out_rows);
  return *std::min_element(best.begin(), best.end(), [](const Try& a, const Try& b) {
    return std::pair(gamma_of(a.options), a.trial.error) <
           std::pair(gamma_of(b.options), b.trial.error);
  });
}

}  // namespace tamis
