// Exact training against LIBSVM, and linear training against LIBLINEAR, on random problems.
//   differential_fuzz COUNT [SEED [NUMBER]]    NUMBER: that problem alone, with its figures
//
// Both solve the same problem to the same tolerance. Who is right is decided by certify() of
// src/eval, which shares no code with the solvers: LIBSVM's model is read as any other and
// certified on the same rows. An answer is good when every row keeps its KKT condition to the
// tolerance (plus the rounding that is reported); where the kernel is not positive definite that
// is all there is to compare. If both are good, they agree. If neither is, the one nearer to the
// optimum is better: by its duality gap or, without convexity, by its violation. For LIBLINEAR the
// primal objectives are compared. Exit code 1: an oracle was better, or labels differ where they
// cannot.
#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "base/parallel.hpp"
#include "differential/bounded_oracles.hpp"
#include "io/libsvm_model.hpp"
#include "kernels/kernel_value.hpp"
#include "model/kernel_expansion.hpp"
#include "model/linear_machine.hpp"
#include "model/model_parts.hpp"
#include "tamis/certify.hpp"
#include "tamis/error.hpp"
#include "tamis/predict.hpp"
#include "tamis/train.hpp"

namespace tamis::testing {
namespace {

enum class Verdict {
  agree,
  tamis_better,
  oracle_better,
  oracle_unfinished,
  both_unfinished,
  beyond_float,
  precision_limit,
  refused,
  labels_differ
};
constexpr std::array<const char*, 9> kNames = {"agree",
                                               "tamis better",
                                               "oracle better",
                                               "oracle out of iterations",
                                               "both out of iterations",
                                               "sigmoid kernel beyond float32",
                                               "linear: told to scale the columns",
                                               "refused: kernel values overflow",
                                               "labels differ"};

struct Outcome {
  Verdict verdict = Verdict::agree;
  std::string figures;
};

// More than the oracles get: what is hard for both is not held against anyone.
constexpr std::int64_t kMaxPairs = 5'000'000;
constexpr std::int64_t kMaxEpochs = 20'000;

// The problems are too small for more.
RunControl one_thread() {
  RunControl control;
  control.threads = 1;
  return control;
}

// The problem's kernel on its rows: how long they are in feature space, and how exact values are.
class FeatureSpace {
 public:
  explicit FeatureSpace(const RandomProblem& problem)
      : kernel_{problem.options.kernel_or_default(), problem.options.gamma_or_default().value,
                problem.options.coef0, problem.options.degree} {
    for (Index i = 0; i < problem.features.rows(); ++i) {
      const double square = kernel_value(kernel_, problem.features, i, problem.features, i);
      lengths_.push_back(std::sqrt(std::abs(square)));
      const double product =
          kernel_value({KernelType::linear}, problem.features, i, problem.features, i);
      longest_product_ = std::max(longest_product_, product);
    }
    longest_ = *std::max_element(lengths_.begin(), lengths_.end());
  }
  double length(Index row) const { return lengths_[usize(row)]; }
  /// Error of a kernel value whose arithmetic has this relative error. tanh is so flat that its
  /// argument may be large, where rounding of the argument can be all of the value.
  double error(double relative) const {
    const double argument = kernel_.gamma * longest_product_ + std::abs(kernel_.coef0);
    if (kernel_.type == KernelType::sigmoid) return std::min(2.0, relative * (1 + argument));
    if (kernel_.type == KernelType::polynomial)
      return relative * kernel_.degree * std::pow(argument, kernel_.degree);
    return relative * longest_ * longest_;
  }
  static constexpr double kFloat = 1e-6;
  static constexpr double kDouble = 1e-15;

 private:
  Kernel kernel_;
  std::vector<double> lengths_;
  double longest_ = 0;
  double longest_product_ = 0;
};

double coefficient_sum(const Model& model) {
  double sum = 0;
  for (const double b :
       dynamic_cast<const KernelExpansion&>(machine_of(model)).parts().coefficients)
    sum += std::abs(b);
  return sum;
}

// An answer that was certified, with its figures.
struct Answer {
  Answer(const RandomProblem& problem, const Model& model)
      : certificate(certify(model, problem.data(), problem.options, one_thread())),
        coefficients(coefficient_sum(model)) {
    const FeatureSpace space(problem);
    const double eps = problem.options.eps;
    // Values of most kernels are refined to double where float32 is not enough.
    const double rounding = space.error(FeatureSpace::kDouble) * coefficients;
    // A coefficient may miss its bound by rounding: its row then counts as one that could move.
    is_good = certificate.certified || certificate.violation <= eps + rounding ||
              (problem.is_convex() && certificate.relative_gap <= 1e-6);
    is_beyond_float = problem.options.kernel_or_default() == KernelType::sigmoid &&
                      space.error(FeatureSpace::kFloat) * coefficients > eps;
    // How far from the optimum, for answers that are not good.
    distance = problem.is_convex() ? certificate.relative_gap : certificate.violation;
  }
  std::string text() const {
    return fmt::format("violation {:.3g} gap {:.3g} primal {:.6g} dual {:.6g}",
                       certificate.violation, certificate.relative_gap, certificate.primal,
                       certificate.dual);
  }
  double gap_root() const { return std::sqrt(2 * std::max(0.0, certificate.gap)); }

  Certificate certificate;
  double coefficients = 0;
  bool is_good = false;
  bool is_beyond_float = false;  ///< rounding of the sigmoid kernel in float32 exceeds eps
  double distance = 0;
};

Verdict judge(const Answer& ours, const Answer& theirs) {
  if (ours.is_good) return theirs.is_good ? Verdict::agree : Verdict::tamis_better;
  if (ours.is_beyond_float) return Verdict::beyond_float;
  if (ours.distance <= theirs.distance)
    return ours.distance < theirs.distance / 2 ? Verdict::tamis_better : Verdict::agree;
  if (theirs.is_good) return Verdict::oracle_better;
  return ours.distance > 2 * theirs.distance ? Verdict::oracle_better : Verdict::agree;
}

// Two models with small gaps have w's that are near, |w - w'| <= sqrt(2 gap) + sqrt(2 gap'), so
// that decision values of a row differ by no more than that times its length, and the difference of
// the intercepts, which the first row tells.
bool values_agree(const RandomProblem& problem, const Model& ours, const Model& theirs,
                  double gap_root, double rounding) {
  const DecisionValues own = decision_values(ours, problem.features, one_thread());
  const DecisionValues other = decision_values(theirs, problem.features, one_thread());
  const FeatureSpace space(problem);
  // A positive value means the first class of the model.
  const double sign = ours.classes() == theirs.classes() ? 1 : -1;
  const auto apart = [&](Index i) { return std::abs(own.at(i, 0) - sign * other.at(i, 0)); };
  const double intercepts = apart(0) + gap_root * space.length(0) + rounding;
  for (Index i = 0; i < own.rows; ++i) {
    const double allowed = gap_root * space.length(i) + intercepts + rounding;
    if (apart(i) > 1.001 * allowed + 1e-9 * std::abs(own.at(i, 0))) return false;
  }
  return true;
}

// svm_predict() and predict() of the same model: other labels only where rounding decides. With
// several classes votes can be equal, which the two settle by their own order of classes.
bool predictions_agree(const RandomProblem& problem, const Model& theirs, BoundedLibsvm& oracle,
                       double rounding) {
  const Labels labels = predict(theirs, problem.features, one_thread());
  const DecisionValues values = decision_values(theirs, problem.features, one_thread());
  for (Index i = 0; i < labels.size(); ++i) {
    const double difference = std::abs(oracle.prediction(i) - labels.number(i));
    const double value = std::abs(values.at(i, 0));
    const double allowed = rounding + 1e-9 * value;
    if (problem.is_regression() ? difference > allowed : difference > 0 && value > allowed)
      return false;
  }
  return true;
}

bool labels_agree(const RandomProblem& problem, const Model& model, const Answer& ours,
                  const Model& libsvm, const Answer& theirs, BoundedLibsvm& oracle) {
  if (problem.classes > 2) return true;
  const double rounding = FeatureSpace(problem).error(FeatureSpace::kFloat) *
                          std::max(ours.coefficients, theirs.coefficients);
  return predictions_agree(problem, libsvm, oracle, rounding) &&
         (!problem.is_convex() ||
          values_agree(problem, model, libsvm, ours.gap_root() + theirs.gap_root(), rounding));
}

Model read_model(const std::string& text) {
  return with_threads(1, [&] { return parse_libsvm_model("LIBSVM", {text, nullptr, 0}); });
}

Outcome unfinished(const TrainReport& report) {
  const bool both = report.stop_reason == StopReason::iteration_limit;
  return {both ? Verdict::both_unfinished : Verdict::oracle_unfinished,
          fmt::format("tamis {} violation {:.3g}", stop_reason_name(report.stop_reason),
                      report.violation)};
}

Outcome against_libsvm(const RandomProblem& problem) {
  const auto [model, report] = train(problem.data(), problem.options, one_thread());
  const auto oracle = BoundedLibsvm::train(problem);
  if (!oracle) return unfinished(report);
  const Model theirs = read_model(oracle->text());
  const Answer a(problem, model);
  const Answer b(problem, theirs);
  Outcome outcome{judge(a, b),
                  fmt::format("tamis {} {}; LIBSVM {}", stop_reason_name(report.stop_reason),
                              a.text(), b.text())};
  if (!labels_agree(problem, model, a, theirs, b, *oracle))
    outcome.verdict = Verdict::labels_differ;
  return outcome;
}

// 1/2 |w|^2 (the intercept's weight included) + the costs of the slacks, summed over the machines.
struct Primal {
  double value = 0;
  double tolerated = 0;  ///< more than that, if every row misses by eps more
};

Primal primal(const RandomProblem& p, const LinearWeights& weights) {
  const TrainOptions& options = p.options;
  const double eps = options.eps;
  double sum = 0;
  double tolerated = 0;
  for (std::size_t m = 0; m < weights.w.size(); ++m) {
    const std::vector<double>& w = weights.w[m];
    for (const double v : w) sum += v * v / 2;
    const double bias =
        options.bias.rule == Bias::Rule::penalized ? weights.offset[m] / options.bias.value : 0;
    sum += bias * bias / 2;
    for (Index i = 0; i < p.features.rows(); ++i) {
      const double label = p.labels[usize(i)];
      double f = weights.offset[m];
      for (std::size_t j = 0; j < w.size(); ++j)
        f += w[j] * static_cast<double>(p.features.at(i, static_cast<Index>(j)));
      const double y = p.classes == 2                        ? 2 * label - 3
                       : label == static_cast<double>(m + 1) ? 1
                                                             : -1;
      const double miss =
          p.is_regression() ? std::abs(f - label) - options.tube_or_default() : 1 - y * f;
      double cost = options.cost_or_default();
      for (const auto& [name, factor] : options.class_weights)
        if (std::stod(name) == label) cost *= factor;
      const double slack = std::max(0.0, miss);
      const bool squared = options.loss == SlackLoss::l2;
      sum += cost * (squared ? slack * slack : slack);
      tolerated += cost * (squared ? 2 * slack * eps + eps * eps : eps);
    }
  }
  return {sum, tolerated};
}

LinearWeights weights_of(const Model& model) {
  const LinearParts& parts = dynamic_cast<const LinearMachine&>(machine_of(model)).parts();
  LinearWeights result{{}, parts.offsets, true};
  for (auto from = parts.weights.begin(); from != parts.weights.end(); from += parts.num_features)
    result.w.emplace_back(from, from + parts.num_features);
  return result;
}

Outcome against_liblinear(const RandomProblem& problem) {
  const auto [model, report] = train(problem.data(), problem.options, one_thread());
  const LinearWeights theirs = train_liblinear(problem);
  const Primal own = primal(problem, weights_of(model));
  const Primal other = primal(problem, theirs);
  const double tolerance = 1e-2 * std::max(own.value, other.value) + own.tolerated;
  const bool cut_short = report.stop_reason == StopReason::iteration_limit;
  if (!theirs.converged && (cut_short || own.value <= other.value + tolerance))
    return unfinished(report);
  // Values so large that their products exceed double precision end a linear training with the
  // advice to scale the columns.
  const bool told = report.stop_reason == StopReason::precision_limit;
  return {own.value < other.value - tolerance    ? Verdict::tamis_better
          : own.value <= other.value + tolerance ? Verdict::agree
          : told                                 ? Verdict::precision_limit
                                                 : Verdict::oracle_better,
          fmt::format("tamis {} primal {:.6g} gap {:.3g}; LIBLINEAR primal {:.6g}",
                      stop_reason_name(report.stop_reason), own.value, report.gap, other.value)};
}

Outcome compare(RandomProblem problem) {
  const bool linear = problem.oracle == Oracle::liblinear;
  problem.options.max_iterations = linear ? kMaxEpochs : kMaxPairs;
  try {
    return linear ? against_liblinear(problem) : against_libsvm(problem);
  } catch (const DataError& error) {
    return {Verdict::refused, error.what()};
  }
}

bool is_finding(Verdict verdict) {
  return verdict == Verdict::oracle_better || verdict == Verdict::labels_differ;
}

int run(std::uint64_t count, std::uint64_t seed, std::uint64_t first, bool all) {
  std::array<std::array<std::uint64_t, kNames.size()>, 2> counts{};
  bool found = false;
  for (std::uint64_t number = first; number < first + count; ++number) {
    const RandomProblem problem = random_problem(seed, number);
    const Outcome outcome = compare(problem);
    const auto verdict = static_cast<std::size_t>(outcome.verdict);
    ++counts[problem.oracle == Oracle::libsvm ? 0 : 1][verdict];
    found = found || is_finding(outcome.verdict);
    if (all || is_finding(outcome.verdict))
      fmt::print("{} {}: {}: {}: {}\n", seed, number, kNames[verdict], problem.text(),
                 outcome.figures);
    std::fflush(stdout);
  }
  for (std::size_t verdict = 0; verdict < kNames.size(); ++verdict)
    fmt::print("{:32} LIBSVM {:6} LIBLINEAR {:6}\n", kNames[verdict], counts[0][verdict],
               counts[1][verdict]);
  return found ? 1 : 0;
}

}  // namespace
}  // namespace tamis::testing

int main(int argc, char** argv) {
  const auto number = [&](int at, std::uint64_t missing) {
    return argc > at ? std::strtoull(argv[at], nullptr, 10) : missing;
  };
  return tamis::testing::run(argc > 3 ? 1 : number(1, 100), number(2, 1), number(3, 0), argc > 3);
}
