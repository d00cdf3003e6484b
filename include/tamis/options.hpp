// How to train. One struct with a default for everything, and one table that describes each field:
// the command line, the Python arguments and the documentation are made from that table.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tamis/dataset.hpp"
#include "tamis/kernel.hpp"
#include "tamis/model.hpp"
#include "tamis/scaling.hpp"

namespace tamis {

enum class SlackLoss {
  l1,  ///< C times the slack: LIBSVM's C-SVC
  l2,  ///< C times the squared slack
};

enum class Multiclass { one_vs_one, one_vs_rest };

/// The width of the RBF kernel (and the factor of polynomial and sigmoid): a number, or a rule
/// applied to the training data.
struct Gamma {
  enum class Rule {
    scale,      ///< 1 / (features * variance of all values), after scaling
    automatic,  ///< 1 / features
    value,
  };
  Rule rule = Rule::scale;
  double value = 0;
};

/// The number that the rule gives for these rows, which are scaled already.
double resolve_gamma(const Gamma& gamma, const Matrix& features);

/// Methods that train on a part of the rows, round by round.
struct SiftOptions {
  double delta = 0;     ///< share of the rows drawn, in (0, 1]; 0: 0.05, for local-sampling 0.1
  Index neighbors = 5;  ///< rows taken in around each support vector, >= 0
  double validation_fraction = 0.1;  ///< share held out to measure rounds, in (0, 0.5]
  Index patience = 3;                ///< rounds without improvement that end the search, >= 1
  double improvement = 0.01;         ///< of the validation error, relative, that counts; in [0, 1)
  Index max_rounds = 20;             ///< >= 1
};

/// How many rows a ball gives, whose share among the balls is eta.
enum class Intensity {
  budget,   ///< the share eta of all rows that may be drawn, as far as the ball has them
  literal,  ///< the share eta of the rows in the ball: next to none
};

enum class DrawWeights {
  none,
  inverse,  ///< C of a drawn row is divided by the probability that it was drawn
};

struct LocalSamplingOptions {
  Index subsamples = 0;  ///< L; 0: as many as leave 50 rows of each class in each, at most 12
  double beta = 0;       ///< radius over the median distance of support vectors; 0: searched for
  Intensity intensity = Intensity::budget;
  double budget = 0.4;  ///< rows that may be drawn, as a share of those outside the subsamples
  DrawWeights weights = DrawWeights::none;
};

enum class LeaderWeights {
  none,
  cluster,  ///< a leader costs what the rows it leads cost together
};

struct LeaderOptions {
  /// Rows of a class within this distance in feature space have one leader, > 0; 0: found from
  /// `leaders`.
  double threshold = 0;
  std::vector<std::pair<std::string, double>> class_thresholds;  ///< label and its own threshold
  Index leaders = 0;  ///< wanted, about; 0: a tenth of the rows, at most 20,000
  double gamma = 0;   ///< of the RBF kernel's distance; 0: gamma / features
  LeaderWeights weights = LeaderWeights::none;
  Index refine = 0;  ///< times the threshold is halved around the leaders near the boundary
};

/// The local machines: falk, falk-c, falk-l, knn-svm, knn.
struct LocalOptions {
  std::int64_t k = 0;  ///< rows of a neighbourhood; 0: 500 to 2000 by the number of rows (knn: 15)
  std::int64_t k_prime = 0;    ///< innermost rows that count as covered by a centre; 0: k / 2
  std::string index = "auto";  ///< neighbour search; never changes the result
  // falk-l: what is tried, on how many neighbourhoods.
  std::int64_t selection_centres = 20;
  std::int64_t selection_folds = 5;
  std::vector<double> k_grid = {500, 1000, 2000, 4000};
  std::vector<double> cost_grid = {1, 4, 16, 64};
  std::vector<double> percentiles = {1, 10, 50, 90};  ///< of local distances, for the kernel width
};

/// For OptMarginOptions::margin_k.
inline constexpr double kSmallestK = -1;

/// Random sampling with a certificate: opt-margin, opt-soft-margin.
struct OptMarginOptions {
  /// k = 1/D of the reduced hulls, at least 1; 0: what cost (classes) or nu (regression) asks for;
  /// kSmallestK: the smallest that separates.
  double margin_k = 0;
  double nu = 0;              ///< k as a share: k = nu * rows / 2, up to 1; 0: not given
  std::int64_t draw = 0;      ///< rows of the first draw; 0: chosen by the number of features
  bool carry_support = true;  ///< take the support vectors found into the next draw
};

/// How the members of an ensemble become one machine.
enum class Combination {
  average,      ///< each weighs as much
  linear,       ///< weights by a linear machine on the members' values
  nonnegative,  ///< the same, no weight below 0
};

/// Machines on random parts of the rows: random-subset, ransac.
struct EnsembleOptions {
  std::int64_t members = 100;    ///< M, of each machine (random-subset)
  std::int64_t candidates = 1;   ///< R, of which one becomes a member (random-subset)
  std::int64_t trials = 200;     ///< ransac; 0: until max_seconds
  std::int64_t subset_rows = 0;  ///< Q; 0: a 50th of the rows, 100 to 2000
  // Factors on C and gamma, lowest and highest; each machine draws its own.
  std::vector<double> cost_range = {0.5, 2};
  std::vector<double> gamma_range = {0.25, 2};
  std::int64_t search_trials = 0;  ///< machines tried first, to find the centre of these ranges
  std::int64_t score_rows = 0;     ///< rows that candidates are judged on; 0: all, up to 20,000
  Combination combine = Combination::nonnegative;
  double combine_cost = 100;  ///< C of the linear machine that combines, shared by its rows
};

/// The offset of a linear machine.
struct Bias {
  enum class Rule {
    none,       ///< f(x) = w'x
    penalised,  ///< LIBLINEAR's -B: a column of this value, whose weight counts in |w|
    free,       ///< not penalised, as LIBSVM's
  };
  Rule rule = Rule::none;
  double value = 1;  ///< penalised: > 0
};

/// The method auto chooses what nobody set. It leaves alone what differs from its default, and what
/// is named here.
struct AutoOptions {
  bool keep_cost = false;
  bool keep_gamma = false;
  bool keep_scaling = false;
  bool keep_tube = false;
};

struct TrainOptions {
  // What is learnt.
  std::string method = "exact";
  Task task = Task::classification;
  KernelType kernel = KernelType::rbf;
  Gamma gamma;
  double coef0 = 0;
  int degree = 3;
  double cost = 1;  ///< C > 0, the price of a slack
  SlackLoss loss = SlackLoss::l1;
  Bias bias;          ///< linear machines; the others have an offset that is not penalised
  double tube = 0.1;  ///< epsilon >= 0 of epsilon-SVR
  std::vector<std::pair<std::string, double>>
      class_weights;  ///< label and factor on its C; others 1
  /// Multiply C of each class by rows / (classes * rows of the class), row weights counted; on top
  /// of class_weights.
  bool balanced = false;
  Multiclass multiclass = Multiclass::one_vs_one;
  ScalingMethod scaling = ScalingMethod::none;
  std::uint64_t seed = 1;

  /// Go on from the machine of a method that looked at a part of the rows to the optimum on all.
  bool polish = false;

  // When it is good enough, or enough altogether.
  double eps = 1e-3;                ///< KKT tolerance > 0, as LIBSVM's -e
  std::int64_t max_iterations = 0;  ///< pair updates (linear: epochs) per machine; 0: none
  double max_seconds = 0;           ///< wall time of the training; 0: no limit

  // How fast; never changes the result.
  std::int64_t cache_bytes = 0;  ///< for kernel rows; 0: what the memory budget leaves

  // For some methods only; the option table says which.
  SiftOptions sift;
  LocalSamplingOptions local_sampling;
  LeaderOptions leader;
  LocalOptions local;
  OptMarginOptions opt_margin;
  EnsembleOptions ensemble;
  AutoOptions automatic;

  /// Throws InvalidArgument naming the option, its value and what is allowed.
  void validate() const;
};

/// One field of TrainOptions, for whoever builds an interface on it.
struct OptionDescription {
  std::string_view name;                  ///< "cost"
  std::string_view letter;                ///< LIBSVM's, "c", or empty
  std::string_view value;                 ///< what the value is: "NUMBER"; empty for a flag
  std::string_view help;                  ///< effect, unit and range
  std::vector<std::string_view> choices;  ///< when only these are allowed
  /// Parses and stores; throws InvalidArgument. A flag takes "" or "true" or "false".
  std::function<void(TrainOptions&, std::string_view)> set;
  /// The value as text, in the form `set` reads.
  std::function<std::string(const TrainOptions&)> get;
  std::vector<std::string_view> methods = {};  ///< that use it; empty: all
};

/// Whether the method uses the option.
bool applies_to(const OptionDescription& option, std::string_view method);

const std::vector<OptionDescription>& train_option_table();

/// Sets an option by name, for configuration files and tests. Throws InvalidArgument for an unknown
/// name.
void set_option(TrainOptions& options, std::string_view name, std::string_view value);

}  // namespace tamis
