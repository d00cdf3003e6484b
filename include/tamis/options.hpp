// How to train. One struct with a default for everything, and one table that describes each field:
// validate(), the command line, the Python arguments and the documentation all follow from it.
//
// An empty std::optional means "automatic": the method, or the method `auto`, chooses.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tamis/columns.hpp"
#include "tamis/dataset.hpp"
#include "tamis/export.hpp"
#include "tamis/kernel.hpp"
#include "tamis/methods.hpp"
#include "tamis/model.hpp"
#include "tamis/scaling.hpp"

namespace tamis {

enum class SlackLoss {
  l1,  ///< C times the slack: LIBSVM's C-SVC
  l2,  ///< C times the squared slack
};

enum class Multiclass { one_vs_one, one_vs_rest };

/// The width of the RBF and the Laplacian kernel (and the factor of polynomial and sigmoid): a
/// number, or a rule applied to the training data.
struct Gamma {
  enum class Rule {
    /// 1 / (features * variance of all values), after scaling; laplacian: standard deviation in
    /// place of the variance, because distances are not squared
    scale,
    per_features,  ///< 1 / features: scikit-learn's and LIBSVM's "auto"
    value,
  };
  constexpr Gamma() = default;
  constexpr Gamma(double number) : rule(Rule::value), value(number) {}  // NOLINT: a number is one
  constexpr Gamma(Rule of, double number = 0) : rule(of), value(number) {}  // NOLINT
  bool operator==(const Gamma&) const = default;

  Rule rule = Rule::scale;
  double value = 0;
};

/// The number that the rule gives for these rows, which are scaled already.
TAMIS_EXPORT double resolve_gamma(const Gamma& gamma, const Matrix& features,
                                  KernelType kernel = KernelType::rbf);

/// A label and a number: the weight of a class, for example.
using LabelNumbers = std::vector<std::pair<std::string, double>>;

/// Methods that train on a part of the rows, round by round.
struct SiftOptions {
  std::optional<double> delta = {};  ///< sampling fraction in (0, 1]; automatic: 0.05; for
                                     ///< local-sampling 20,000 rows, within 0.1 to 0.4
  Index neighbors = 5;               ///< rows added around each support vector, >= 0
  double validation_fraction = 0.1;  ///< fraction of the rows in the validation set, in (0, 0.5]
  Index patience = 3;                ///< rounds without improvement that end the search, >= 1
  double improvement = 0.01;         ///< relative fall of the validation error that counts; [0, 1)
  Index max_rounds = 20;             ///< >= 1
};

/// How many rows a ball contributes whose share among the balls is eta: proportional to 1 / rho,
/// rho the distance to the k-th nearest other support vector.
enum class Intensity {
  budget,   ///< the fraction eta of all rows that may be drawn, limited to those in the ball
  density,  ///< as budget, with eta proportional to 1 / rho^d for d features
  literal,  ///< the fraction eta of the rows in the ball: almost none
  all,      ///< every row in the ball
};

enum class DrawWeights {
  none,
  inverse,  ///< C of a drawn row is divided by the probability that it was drawn
};

struct LocalSamplingOptions {
  std::optional<Index> subsamples =
      {};                           ///< L; automatic: leaves 50 rows per class in each, at most 12
  std::optional<double> beta = {};  ///< radius over the median distance of support vectors;
                                    ///< automatic: searched
  std::optional<double> beta_start = {};  ///< first beta of the search, skipping none; automatic:
                                          ///< 0.1, skips those whose balls add too few rows
  Intensity intensity = Intensity::budget;
  double budget = 0.4;  ///< rows that may be drawn, as a fraction of those outside the subsamples
  DrawWeights weights = DrawWeights::none;
};

enum class LeaderWeights {
  none,
  cluster,  ///< a leader costs as much as the rows it leads together
};

/// Where leaders are refined.
enum class LeaderBoundary {
  model,    ///< around support vectors that the others would put on the wrong side, or nearly so
  leaders,  ///< around leaders that have a leader of another class within the threshold
};

struct LeaderOptions {
  /// Rows of a class within this distance in feature space share one leader, > 0; automatic: found
  /// from `leaders`.
  std::optional<double> threshold = {};
  LabelNumbers class_thresholds = {};  ///< classes with a threshold of their own
  std::optional<Index> leaders =
      {};                            ///< target number; automatic: 10 % of the rows, at most 20,000
  std::optional<double> gamma = {};  ///< of the RBF kernel's distance; automatic: gamma / features
  LeaderWeights weights = LeaderWeights::none;
  /// Times the threshold is halved around the leaders near the boundary; automatic: 1 if neither
  /// `threshold` nor `leaders` is given. Streamed rows are never refined.
  std::optional<Index> refine = {};
  LeaderBoundary boundary = LeaderBoundary::model;

  /// Whoever sets T or the number of leaders wants these leaders, as in the paper.
  Index refine_or_default() const {
    return refine.value_or(threshold || !class_thresholds.empty() || leaders ? 0 : 1);
  }
};

/// Which of the settings it tried falk-l takes.
enum class SelectionRule {
  lowest_error,  ///< the fewest errors (definition 5 of the paper)
  smoothest,     ///< of those not clearly worse: the smallest C, then the widest kernel
};

/// The local methods: falk, falk-c, falk-l, knn-svm, knn.
struct LocalOptions {
  std::optional<Index> k = {};  ///< rows of a neighborhood; automatic: 500, however many rows there
                                ///< are (knn: 15)
  std::optional<Index> k_prime = {};  ///< innermost rows covered by a center; automatic: k / 2
  std::string index = "auto";         ///< neighbor search; never changes the result
  /// falk and falk-c train more rows than this in cells of half to all of it, one after the other.
  Index cell_rows = 1'000'000;
  /// falk and falk-c: each neighborhood chooses C and gamma by its own inner validation.
  bool local_tuning = false;
  // falk-l: the selection rule, the neighborhoods used for it, and the values to try.
  SelectionRule selection_rule = SelectionRule::lowest_error;
  Index selection_centres = 20;
  Index selection_folds = 5;
  std::vector<double> k_grid = {500, 1000, 2000, 4000};
  std::vector<double> cost_grid = {1, 4, 16, 64};
  std::vector<double> percentiles = {1, 10, 50, 90};  ///< of local distances, for the kernel width
};

/// k = 1/D of reduced convex hulls.
struct MarginK {
  enum class Rule {
    automatic,  ///< what cost (classification) or nu (regression) asks for
    smallest,   ///< the smallest that separates
    value,
  };
  constexpr MarginK() = default;
  constexpr MarginK(double k) : rule(Rule::value), value(k) {}      // NOLINT
  constexpr MarginK(Rule of, double k = 0) : rule(of), value(k) {}  // NOLINT
  bool operator==(const MarginK&) const = default;

  Rule rule = Rule::automatic;
  double value = 0;  ///< >= 1
};

/// When random sampling stalls, it draws twice as many rows and changes delta, which decides
/// whether violators are few enough to double their weight.
enum class StalledDelta {
  halve,     ///< heavier violators pass: fewer rounds
  doubling,  ///< as the paper proposes
};

/// Random sampling with a certificate: opt-margin, opt-soft-margin.
struct OptMarginOptions {
  MarginK margin_k = {};
  std::optional<double> nu = {};   ///< k as a fraction: k = nu * rows / 2, in (0, 1]
  std::optional<Index> draw = {};  ///< rows of the first draw; automatic: by the number of features
  bool carry_support = true;       ///< keep the support vectors of one draw in the next
  StalledDelta stalled_delta = StalledDelta::halve;
  /// Halve D (C) of a misclassified row whenever its sampling weight is doubled. The answer is the
  /// optimum of the problem with the row weights of the report's table `discounts`.
  bool discount_outliers = false;
};

/// How the members of an ensemble are combined.
enum class Combination {
  average,      ///< equal weights
  linear,       ///< weights by a linear SVM on the members' values
  nonnegative,  ///< the same, no weight below 0
};

/// How likely each row is drawn into a subset.
enum class SubsetSampling {
  uniform,
  balanced,  ///< each class as often as the others
  weights,   ///< in proportion to the weight of the row, which then is no factor on its C
};

/// What a member of an ensemble contributes for a row.
enum class MemberValue {
  decision,     ///< its decision value: the ensemble is one sum of kernel values
  probability,  ///< 2 p - 1, p by a sigmoid fitted to rows the member was not trained on
};

/// SVMs on random subsets of the rows: random-subset, ransac.
struct EnsembleOptions {
  Index members = 100;         ///< M, per binary problem (random-subset)
  Index candidates = 1;        ///< subsets of which one becomes a member (random-subset)
  Index parameter_draws = 1;   ///< pairs of C and gamma tried on each subset (random-subset)
  bool mixed_kernels = false;  ///< draw linear, polynomial and RBF kernels (random-subset)
  SubsetSampling subset_sampling = SubsetSampling::uniform;  ///< random-subset
  MemberValue member_value = MemberValue::decision;          ///< random-subset
  std::optional<Index> trials = 200;                         ///< ransac; empty: until max_seconds
  std::optional<Index> subset_rows = {};  ///< Q; automatic: 2 % of the rows, 100 to 2000
  // Factors on C and gamma, lowest and highest; each member draws its own.
  std::vector<double> cost_range = {0.5, 2};
  std::vector<double> gamma_range = {0.25, 2};
  std::optional<Index> search_trials = {};  ///< SVMs tried first, to center these ranges;
                                            ///< automatic: 64 if neither cost nor gamma is set
  std::optional<Index> score_rows = {};  ///< rows that candidates are scored on; automatic: all, up
                                         ///< to 20,000
  Combination combine = Combination::nonnegative;
  double combine_cost = 100;  ///< C of the linear SVM that combines, divided among its rows
};

/// The intercept of a linear SVM.
struct Bias {
  enum class Rule {
    none,       ///< f(x) = w'x
    penalized,  ///< LIBLINEAR's -B: a column of this value, whose weight counts in |w|
    free,       ///< not penalized, as LIBSVM's
  };
  Rule rule = Rule::none;
  double value = 1;  ///< penalized: > 0
};

/// What metric rounds learn.
enum class MetricForm {
  diagonal,  ///< a weight for each column
  full,      ///< a matrix that mixes the columns too, for at most Scaling::kMaxMatrixColumns
};

struct TrainOptions {
  // What is learned.
  // If kernel, cost, gamma, tube, scaling or metric_rounds is empty, the method `auto` chooses it,
  // and every other method takes the default named here.
  std::string method{kDefaultMethod};  ///< exact up to 100,000 rows, auto above
  Task task = Task::classification;
  std::optional<KernelType> kernel = {};  ///< default: KernelType::rbf
  std::optional<Gamma> gamma = {};        ///< default: Gamma::Rule::scale
  double coef0 = 0;
  int degree = 3;
  std::optional<double> cost = {};  ///< C > 0, the training error penalty; default: 1
  SlackLoss loss = SlackLoss::l1;
  /// Linear SVMs; the others have an intercept without penalty. The default is that of
  /// scikit-learn's LinearSVC.
  Bias bias = {Bias::Rule::penalized, 1};
  std::optional<double> tube = {};  ///< epsilon >= 0 of epsilon-SVR; default: 0.1
  LabelNumbers class_weights = {};  ///< factors on C per class; classes not named: 1
  bool balanced = false;  ///< weight classes by rows / (classes * rows of the class); a factor
                          ///< of class_weights multiplies this
  Multiclass multiclass = Multiclass::one_vs_one;
  /// What becomes of missing values (NaN), and of text columns; kept in the model.
  MissingValues missing = MissingValues::refuse;
  TextColumns text_columns = TextColumns::refuse;
  /// Categories of a text column with a column of their own, 1 to 10,000; the others share one.
  Index max_categories = 32;
  std::optional<ScalingMethod> scaling = {};  ///< of the columns, kept in the model; default: none
  /// Rounds of learning feature weights, which become part of the scaling; default: 0.
  std::optional<int> metric_rounds = {};
  MetricForm metric = MetricForm::diagonal;  ///< what these rounds learn
  /// Feature weights that are known already, one per column, not negative; empty: all 1. Learning
  /// starts from them.
  std::vector<float> feature_weights = {};
  /// A full metric that is known already (Scaling::matrix), columns x columns numbers; empty: none.
  /// Not together with feature_weights or metric_rounds.
  std::vector<float> metric_matrix = {};
  std::uint64_t seed = 1;

  /// Continue from the model of a method that used a part of the rows to the optimum on all rows.
  bool polish = false;

  // When to stop.
  double eps = 1e-3;                ///< KKT tolerance > 0, as LIBSVM's -e
  std::int64_t max_iterations = 0;  ///< pair updates (linear: epochs) per SVM; 0 for no limit
  double max_seconds = 0;           ///< wall time of the training; 0 for no limit

  // How fast; never changes the result.
  std::optional<std::int64_t> cache_bytes = {};  ///< kernel cache; automatic: what the memory
                                                 ///< budget leaves

  // For some methods only; the option table says which.
  SiftOptions sift = {};
  LocalSamplingOptions local_sampling = {};
  LeaderOptions leader = {};
  LocalOptions local = {};
  OptMarginOptions opt_margin = {};
  EnsembleOptions ensemble = {};

  // The values in force, for every method but auto.
  KernelType kernel_or_default() const { return kernel.value_or(KernelType::rbf); }
  double cost_or_default() const { return cost.value_or(1.0); }
  Gamma gamma_or_default() const { return gamma.value_or(Gamma()); }
  double tube_or_default() const { return tube.value_or(0.1); }
  ScalingMethod scaling_or_default() const { return scaling.value_or(ScalingMethod::none); }
  int metric_rounds_or_default() const { return metric_rounds.value_or(0); }

  /// Throws InvalidArgument naming the option, its value and what is allowed.
  TAMIS_EXPORT void validate() const;
};

/// The value of an option. std::monostate: automatic.
using OptionValue = std::variant<std::monostate, bool, std::int64_t, double, std::string,
                                 std::vector<double>, LabelNumbers>;

enum class OptionType {
  flag,     ///< bool
  integer,  ///< std::int64_t, or one of the choices
  number,   ///< double, or one of the choices
  choice,   ///< std::string: one of the choices
  numbers,  ///< std::vector<double>
  labels,   ///< LabelNumbers (a number for all has an empty label), or one of the choices
};

enum class OptionGroup {
  common,  ///< of every method
  kernel,  ///< of every method with a kernel
  method,  ///< of some methods
};

/// One field of TrainOptions, for anyone who builds an interface on it.
struct OptionDescription {
  std::string_view name;    ///< "cost"
  std::string_view letter;  ///< LIBSVM's, "c", or empty
  OptionType type = OptionType::number;
  OptionGroup group = OptionGroup::method;
  std::string_view value;  ///< what stands for the value in texts: "NUMBER"; empty for a flag
  std::string_view help;   ///< a noun phrase: what it is, and what it does
  std::string range;       ///< what is allowed: "greater than 0"; may be empty
  std::vector<std::string_view> choices;  ///< allowed words
  std::string_view unset;  ///< the word for an empty value, "automatic"; empty: there is none
  std::string_view default_help;  ///< what an empty value means: "10 % of the rows"; may be empty
  std::vector<std::string_view> methods = {};  ///< that may use it; empty: all
  std::optional<Task> task = {};               ///< that it is for; empty: both

  /// Stores a value. Throws InvalidArgument when it has another type; the range is checked by
  /// TrainOptions::validate().
  std::function<void(TrainOptions&, const OptionValue&)> set;
  /// The value in force.
  std::function<OptionValue(const TrainOptions&)> get;
  /// Throws InvalidArgument unless the value is in its range.
  std::function<void(const TrainOptions&)> check;

  /// Parses and stores; a flag takes "", "true", "yes", "false" or "no". Throws InvalidArgument.
  TAMIS_EXPORT void set_text(TrainOptions& options, std::string_view text) const;
  /// The value in the form set_text() reads.
  TAMIS_EXPORT std::string text(const TrainOptions& options) const;
};

/// Whether the method uses the option, for some task or for this one.
TAMIS_EXPORT bool applies_to(const OptionDescription& option, std::string_view method);
TAMIS_EXPORT bool applies_to(const OptionDescription& option, std::string_view method, Task task);
/// The methods that do, `auto` among them.
TAMIS_EXPORT std::vector<std::string_view> methods_with(const OptionDescription& option, Task task);

TAMIS_EXPORT const std::vector<OptionDescription>& train_option_table();

/// The option of this name. Throws InvalidArgument with the nearest name for an unknown one.
TAMIS_EXPORT const OptionDescription& find_option(std::string_view name);

/// Sets an option by name, for configuration files and tests.
TAMIS_EXPORT void set_option(TrainOptions& options, std::string_view name, std::string_view value);

}  // namespace tamis
