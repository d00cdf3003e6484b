// LIBSVM and LIBLINEAR with a limit on their iterations, so that no random problem takes for ever.
#pragma once

#include <libsvm/svm.h>
#include <linear.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "differential/random_problem.hpp"

namespace tamis::testing {

/// Weights of the classes as both libraries take them.
struct OracleWeights {
  explicit OracleWeights(const TrainOptions& options) {
    for (const auto& [label, factor] : options.class_weights) {
      labels.push_back(std::stoi(label));
      factors.push_back(factor);
    }
  }
  std::vector<int> labels;
  std::vector<double> factors;
};

/// The rows as both libraries take them: numbered from 1, ended by -1.
template <typename Node>
class OracleRows {
 public:
  OracleRows(const Matrix& features, double bias) : nodes_(usize(features.rows())) {
    for (Index i = 0; i < features.rows(); ++i) {
      std::vector<Node>& row = nodes_[usize(i)];
      for (Index j = 0; j < features.cols(); ++j)
        row.push_back({static_cast<int>(j) + 1, static_cast<double>(features.at(i, j))});
      if (bias > 0) row.push_back({static_cast<int>(features.cols()) + 1, bias});
      row.push_back({-1, 0});
      pointers_.push_back(row.data());
    }
  }
  Node** rows() { return pointers_.data(); }

 private:
  std::vector<std::vector<Node>> nodes_;
  std::vector<Node*> pointers_;
};

struct OutOfIterations {};

/// LIBSVM prints a dot every min(rows, 1000) iterations: there it can be stopped, by an exception.
class DotCounter {
 public:
  static constexpr std::int64_t kMostIterations = 300'000;
  static void start(Index rows) { left() = kMostIterations / std::min<Index>(rows, 1000); }
  static void print(const char* text) {
    if (std::string_view(text) == "." && --left() < 0) throw OutOfIterations();
  }

 private:
  static std::int64_t& left() {
    static std::int64_t dots = 0;
    return dots;
  }
};

class BoundedLibsvm {
 public:
  /// Nothing, if the iterations did not suffice. What LIBSVM holds at that moment is lost: it has
  /// no way to stop.
  static std::unique_ptr<BoundedLibsvm> train(const RandomProblem& problem) {
    auto result = std::unique_ptr<BoundedLibsvm>(new BoundedLibsvm(problem));
    svm_set_print_string_function(DotCounter::print);
    DotCounter::start(problem.features.rows());
    try {
      result->model_ = svm_train(&result->given_, &result->wanted_);
    } catch (const OutOfIterations&) {
      return nullptr;
    }
    return result;
  }
  ~BoundedLibsvm() {
    if (model_ != nullptr) svm_free_and_destroy_model(&model_);
  }
  BoundedLibsvm(const BoundedLibsvm&) = delete;
  BoundedLibsvm& operator=(const BoundedLibsvm&) = delete;

  double prediction(Index row) { return svm_predict(model_, rows_.rows()[row]); }

  /// The model as text, with all digits: svm_save_model() writes eight of a feature, after which a
  /// support vector is no training row any more.
  std::string text() {
    static constexpr const char* kKernels[] = {"linear", "polynomial", "rbf", "sigmoid"};
    const bool regression = wanted_.svm_type == EPSILON_SVR;
    std::string out = fmt::format(
        "svm_type {}\nkernel_type {}\ndegree {}\ngamma {}\ncoef0 {}\nnr_class {}\ntotal_sv {}\nrho",
        regression ? "epsilon_svr" : "c_svc", kKernels[wanted_.kernel_type], wanted_.degree,
        wanted_.gamma, wanted_.coef0, model_->nr_class, model_->l);
    const int pairs = model_->nr_class * (model_->nr_class - 1) / 2;
    for (int m = 0; m < pairs; ++m) out += fmt::format(" {}", model_->rho[m]);
    if (!regression) {
      out += "\nlabel";
      for (int c = 0; c < model_->nr_class; ++c) out += fmt::format(" {}", model_->label[c]);
      out += "\nnr_sv";
      for (int c = 0; c < model_->nr_class; ++c) out += fmt::format(" {}", model_->nSV[c]);
    }
    out += "\nSV\n";
    for (int s = 0; s < model_->l; ++s) {
      for (int c = 0; c < model_->nr_class - 1; ++c)
        out += fmt::format("{} ", model_->sv_coef[c][s]);
      for (const svm_node* node = model_->SV[s]; node->index != -1; ++node)
        out += fmt::format("{}:{} ", node->index, node->value);
      out += "\n";
    }
    return out;
  }

 private:
  explicit BoundedLibsvm(const RandomProblem& problem)
      : labels_(problem.labels), weights_(problem.options), rows_(problem.features, 0) {
    const TrainOptions& options = problem.options;
    given_ = {static_cast<int>(labels_.size()), labels_.data(), rows_.rows()};
    wanted_.svm_type = problem.is_regression() ? EPSILON_SVR : C_SVC;
    wanted_.kernel_type = static_cast<int>(options.kernel_or_default());
    wanted_.degree = options.degree;
    wanted_.gamma = options.gamma_or_default().value;
    wanted_.coef0 = options.coef0;
    wanted_.cache_size = 50;
    wanted_.eps = options.eps;
    wanted_.C = options.cost_or_default();
    wanted_.p = options.tube_or_default();
    wanted_.shrinking = 1;
    wanted_.nr_weight = static_cast<int>(weights_.labels.size());
    wanted_.weight_label = weights_.labels.data();
    wanted_.weight = weights_.factors.data();
  }

  std::vector<double> labels_;
  OracleWeights weights_;
  OracleRows<svm_node> rows_;  // the model points into them
  svm_problem given_{};
  svm_parameter wanted_{};
  svm_model* model_ = nullptr;
};

/// The weights of LIBLINEAR's machines in the order of tamis's classes.
struct LinearWeights {
  std::vector<std::vector<double>> w;
  std::vector<double> offset;
  bool converged = true;  ///< within the 1000 epochs that LIBLINEAR allows itself
};

inline std::string& liblinear_text() {
  static std::string text;
  return text;
}

inline LinearWeights train_liblinear(const RandomProblem& p) {
  const TrainOptions& options = p.options;
  set_print_string_function([](const char* text) { liblinear_text() += text; });
  liblinear_text().clear();
  std::srand(1);  // it draws from rand(): every problem from the same state
  const bool has_bias = options.bias.rule == Bias::Rule::penalized;
  const double bias = has_bias ? options.bias.value : -1;
  OracleRows<feature_node> rows(p.features, bias);
  OracleWeights weights(options);
  std::vector<double> labels = p.labels;
  const int cols = static_cast<int>(p.features.cols());
  problem given{static_cast<int>(labels.size()), cols + (has_bias ? 1 : 0), labels.data(),
                rows.rows(), bias};
  const bool l1 = options.loss == SlackLoss::l1;
  parameter wanted{};
  wanted.solver_type = p.is_regression() ? (l1 ? L2R_L1LOSS_SVR_DUAL : L2R_L2LOSS_SVR_DUAL)
                                         : (l1 ? L2R_L1LOSS_SVC_DUAL : L2R_L2LOSS_SVC_DUAL);
  wanted.eps = options.eps;
  wanted.C = options.cost_or_default();
  wanted.p = options.tube_or_default();
  wanted.nr_weight = static_cast<int>(weights.labels.size());
  wanted.weight_label = weights.labels.data();
  wanted.weight = weights.factors.data();
  model* trained = ::train(&given, &wanted);
  LinearWeights result;
  const int machines = p.classes > 2 ? p.classes : 1;
  for (int m = 0; m < machines; ++m) {
    // Its order of classes is that of their first rows; of two, the first is the positive one.
    int column = 0;
    while (machines > 1 && trained->label[column] != m + 1) ++column;
    const double sign = p.classes == 2 && trained->label[0] == 1 ? -1 : 1;
    std::vector<double> w;
    for (int j = 0; j < cols; ++j) w.push_back(sign * trained->w[j * machines + column]);
    result.offset.push_back(has_bias ? sign * bias * trained->w[cols * machines + column] : 0);
    result.w.push_back(std::move(w));
  }
  free_and_destroy_model(&trained);
  result.converged = liblinear_text().find("WARNING") == std::string::npos;
  return result;
}

}  // namespace tamis::testing
