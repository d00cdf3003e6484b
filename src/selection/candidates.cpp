#include "selection/candidates.hpp"

#include <algorithm>

#include "selection/parameters.hpp"
#include "training/registry.hpp"

namespace tamis {
namespace {

// Times the lowest forecast error, within which parameters of its own may still make the second
// candidate the best.
constexpr double kPromising = 1.3;

// Local models live on the nearest rows, so random hold-out rows flatter them wherever rows come
// in runs of near copies (ijcnn1: forecast 1.1 %, later rows 1.8 %). They must be better by this.
constexpr double kLocalHandicap = 1.05;

double stored_per_row(const Dataset& data) {
  const auto features = static_cast<double>(data.cols());
  if (!data.features().is_sparse()) return features;
  const double cells = static_cast<double>(data.rows()) * features;
  const double density = static_cast<double>(data.features().num_stored()) / std::max(1.0, cells);
  return density * features;
}

TrainOptions with_method(const std::string& method, const TrainOptions& asked,
                         TrainOptions options) {
  options.method = method;
  if (uses_kernel(options)) return options;
  options.bias.rule = Bias::Rule::free;  // as the others have it
  // C was chosen for a kernel; a linear model needs less, and takes long with more.
  return keeps_cost(asked) ? options : with_default_cost(options);
}

bool has_lower_error(const Candidate& a, const Candidate& b) {
  return a.judged_error() < b.judged_error();
}

}  // namespace

std::vector<Candidate> candidates(const Dataset& data, const TrainOptions& asked,
                                  std::span<const MetricChoice> of_kernels) {
  const DataFacts facts{data.rows(), stored_per_row(data)};
  std::vector<Candidate> result;
  for (const Method& method : method_registry()) {
    for (const MetricChoice& choice : of_kernels) {
      if (method.worth_a_trial == nullptr || !method.worth_a_trial(facts, choice.options)) continue;
      Candidate one{std::string(method.info.name), method.growth};
      if (method.info.kind == MethodKind::local) one.handicap = kLocalHandicap;
      one.options = with_method(one.method, asked, choice.options);
      if (method.info.uses_kernel) one.metric_remark = choice.remark;
      result.push_back(std::move(one));
      if (!method.info.uses_kernel) break;
    }
  }
  return result;
}

Candidate plainest_candidate(const Dataset& data, const TrainOptions& asked,
                             const TrainOptions& parameters) {
  Candidate result{"linear", {}};
  result.options = with_method(result.method, asked, parameters);
  result.rows = data.rows();
  return result;
}

void look_ahead(double seconds, Index all_rows, Candidate* candidate) {
  candidate->rows = affordable_rows(candidate->trials, seconds, all_rows, candidate->growth);
  candidate->forecast = forecast(candidate->trials, candidate->rows, candidate->growth);
}

void settle(const Try& best, Candidate* candidate) {
  candidate->options = best.options;
  // Earlier trials had other parameters: they tell the growth of the time, this one where it is.
  if (best.trial.rows > candidate->trials.back().rows)
    candidate->trials.push_back(best.trial);
  else
    candidate->trials.back() = best.trial;
}

void sort_by_error(std::vector<Candidate>* candidates) {
  std::stable_sort(candidates->begin(), candidates->end(), has_lower_error);
}

std::size_t count_promising(std::span<const Candidate> sorted) {
  if (sorted.size() < 2) return sorted.size();
  return sorted[1].judged_error() <= kPromising * sorted[0].judged_error() ? 2 : 1;
}

}  // namespace tamis
