// LIBSVM as the second opinion: trains with its own code; the objective is recomputed here, in
// double, from the coefficients it returns.
#pragma once

#include <libsvm/svm.h>

#include <memory>
#include <string>
#include <vector>

#include "support/naive_qp.hpp"
#include "tamis/options.hpp"

namespace tamis::testing {

class LibsvmOracle {
 public:
  struct Settings {
    Kernel kernel;
    bool regression = false;
    double cost = 1;
    double eps = 1e-3;
    double tube = 0.1;
  };

  LibsvmOracle(const Matrix& features, const std::vector<double>& labels, const Settings& settings)
      : labels_(labels), settings_(settings), nodes_(to_nodes(features)) {
    svm_set_print_string_function([](const char*) {});
    for (auto& row : nodes_) rows_.push_back(row.data());
    svm_problem problem{static_cast<int>(labels_.size()), labels_.data(), rows_.data()};
    svm_parameter p{};
    p.svm_type = settings.regression ? EPSILON_SVR : C_SVC;
    p.kernel_type = static_cast<int>(settings.kernel.type);
    p.degree = settings.kernel.degree;
    p.gamma = settings.kernel.gamma;
    p.coef0 = settings.kernel.coef0;
    p.cache_size = 50;
    p.eps = settings.eps;
    p.C = settings.cost;
    p.p = settings.tube;
    p.shrinking = 1;
    model_.reset(svm_train(&problem, &p));
  }

  std::vector<double> predictions(const Matrix& features) const {
    std::vector<double> result;
    for (auto& row : to_nodes(features)) result.push_back(svm_predict(model_.get(), row.data()));
    return result;
  }
  void save(const std::string& path) const { svm_save_model(path.c_str(), model_.get()); }
  Index num_support_vectors() const { return model_->l; }
  double rho(Index machine = 0) const { return model_->rho[machine]; }

  /// y alpha of every training row, for two classes (positive towards the first label LIBSVM met)
  /// or regression.
  std::vector<double> beta() const {
    std::vector<double> result(labels_.size(), 0.0);
    for (int s = 0; s < model_->l; ++s)
      result[usize(model_->sv_indices[s] - 1)] = model_->sv_coef[0][s];
    return result;
  }

  /// Dual objectives of all machines together, for a kernel matrix of the training rows.
  double objective(const Gram& k) const {
    if (settings_.regression)
      return naive_objective(svr_problem(labels_, settings_.cost, settings_.tube), k, beta());
    double sum = 0;
    std::vector<int> start{0};
    for (int c = 0; c < model_->nr_class; ++c) start.push_back(start.back() + model_->nSV[c]);
    for (int a = 0; a < model_->nr_class; ++a) {
      for (int b = a + 1; b < model_->nr_class; ++b) {
        std::vector<double> beta(labels_.size(), 0.0);
        std::vector<double> y(labels_.size(), 1.0);
        for (std::size_t i = 0; i < y.size(); ++i) y[i] = labels_[i] == model_->label[a] ? 1 : -1;
        for (int s = start[usize(a)]; s < start[usize(a + 1)]; ++s)
          beta[usize(model_->sv_indices[s] - 1)] = model_->sv_coef[b - 1][s];
        for (int s = start[usize(b)]; s < start[usize(b + 1)]; ++s)
          beta[usize(model_->sv_indices[s] - 1)] = model_->sv_coef[a][s];
        sum += naive_objective(svc_problem(y, settings_.cost), k, beta);
      }
    }
    return sum;
  }

 private:
  static std::vector<std::vector<svm_node>> to_nodes(const Matrix& features) {
    std::vector<std::vector<svm_node>> nodes(usize(features.rows()));
    for (Index i = 0; i < features.rows(); ++i) {
      for (Index j = 0; j < features.cols(); ++j) {
        const auto value = static_cast<double>(features.at(i, j));
        if (value != 0) nodes[usize(i)].push_back({static_cast<int>(j) + 1, value});
      }
      nodes[usize(i)].push_back({-1, 0});
    }
    return nodes;
  }
  struct Deleter {
    void operator()(svm_model* model) const { svm_free_and_destroy_model(&model); }
  };

  std::vector<double> labels_;
  Settings settings_;
  std::vector<std::vector<svm_node>> nodes_;  // the model points into them
  std::vector<svm_node*> rows_;
  std::unique_ptr<svm_model, Deleter> model_;
};

}  // namespace tamis::testing
