// Error measures of a model on labeled rows.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/export.hpp"
#include "tamis/model.hpp"
#include "tamis/predict.hpp"

namespace tamis {

struct ClassScore {
  std::string label;
  Index rows = 0;       ///< rows of this class
  Index predicted = 0;  ///< rows given this label
  Index correct = 0;
  double precision = 0;  ///< correct / predicted; 0 when nothing was predicted
  double recall = 0;     ///< correct / rows; 0 when there are none
};

struct Evaluation {
  Task task = Task::classification;
  Index rows = 0;
  // Classification.
  Index errors = 0;
  double error_rate = 0;  ///< 0..1, row weights are not used
  double accuracy = 0;
  /// The model's classes, then labels that only the data has.
  std::vector<ClassScore> classes;
  /// confusion[i * classes + j]: rows of class i given label j.
  std::vector<Index> confusion;
  /// Models with probabilities. log_loss: mean of -log of the true class's probability (at least
  /// 1e-15, also for classes the model does not know). brier: mean squared error of the
  /// probability of the first class when there are two, summed over the classes when there are
  /// more.
  bool has_probabilities = false;
  double log_loss = 0;
  double brier = 0;
  // Regression.
  double mse = 0;
  double mae = 0;
  double r2 = 0;  ///< 1 - mse / variance of the targets; 0 when the targets are constant
};

/// Throws DataError when the data has no labels, or words where numbers are needed.
TAMIS_EXPORT Evaluation evaluate(const Model& model, const Dataset& data,
                                 const RunControl& control = {});
/// The same from the model's decision values of these rows, without evaluating it again.
TAMIS_EXPORT Evaluation evaluate(const Model& model, const Dataset& data,
                                 const DecisionValues& values, const RunControl& control = {});

/// For each eps > 0, the fraction of the rows whose decision value is less than eps away from 0:
/// the empirical probability of eps-indecision (Barcenas, Gonzalez-Lima and Quiroz, eq. 17). Throws
/// InvalidArgument for another eps, or a model that is not a classifier of two classes.
TAMIS_EXPORT std::vector<double> indecision(const Model& model, const Matrix& features,
                                            std::span<const double> eps,
                                            const RunControl& control = {});
/// The same from decision values of the model.
TAMIS_EXPORT std::vector<double> indecision(const Model& model, const DecisionValues& values,
                                            std::span<const double> eps);

/// ||w||, w the weight vector in the kernel's feature space.
struct DecisionNorm {
  std::optional<double> value;  ///< greater than 0; none: see why_none
  std::string why_none;
};

/// |decision value| / ||w|| is a row's distance from the boundary in feature space; so indecision()
/// with eps * ||w|| is the fraction of the rows that lie nearer to the boundary than eps, which is
/// what the paper tabulates. Costs a prediction of the support vectors. Throws InvalidArgument for
/// a model that is not a classifier of two classes, Cancelled.
TAMIS_EXPORT DecisionNorm decision_norm(const Model& model, const RunControl& control = {});

}  // namespace tamis
