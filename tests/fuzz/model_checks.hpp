// What holds for every model that was read or trained, wherever it came from.
#pragma once

#include <bit>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "fuzz_input.hpp"
#include "tamis/calibrate.hpp"
#include "tamis/error.hpp"
#include "tamis/io.hpp"
#include "tamis/predict.hpp"

namespace tamis::fuzz {

inline RunControl model_control(int threads) {
  RunControl control;
  control.threads = threads;
  control.memory_bytes = std::int64_t{256} << 20;
  return control;
}

/// Four rows for a model of this many columns: zeros, ones, a sparse one, large values.
inline Matrix tiny_rows(Index cols) {
  if (cols > 4096) return Matrix::sparse(cols, {0, 0, 1, 2}, {0, 4096}, {1.0F, -2.5F});
  std::vector<float> values(static_cast<std::size_t>(4 * cols), 0.0F);
  const float per_row[] = {0.0F, 1.0F, -0.5F, 1e6F};
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = i / static_cast<std::size_t>(cols) == 2 && i % 2 == 0
                    ? 0.0F
                    : per_row[i / static_cast<std::size_t>(cols)];
  return Matrix::dense(4, cols, std::move(values));
}

inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

inline void check_probabilities(const Model& model, const DecisionValues& values) {
  if (!model.has_probabilities()) return;
  const Probabilities found = probabilities(model, values);
  for (Index i = 0; i < found.rows; ++i) {
    double sum = 0;
    for (Index j = 0; j < found.cols; ++j) sum += found.at(i, j);
    require(std::abs(sum - 1) < 1e-6, "probabilities do not sum to 1");
  }
}

/// Labels, decision values and probabilities of these rows. Throws Error as predict() does.
inline DecisionValues check_predictions(const Model& model, const Matrix& rows) {
  require(!model.describe().empty(), "a model without a description");
  const DecisionValues values = decision_values(model, rows, model_control(1));
  const Labels labels = predict(model, rows, model_control(2));
  require(labels.size() == rows.rows(), "a label for each row");
  require(labels == predict(model, values, model_control(1)),
          "labels from rows differ from those of decision values");
  check_probabilities(model, values);
  return values;
}

/// A model that was written and read again gives the same decision values.
inline void check_round_trip(const Model& model, const Matrix& rows, const DecisionValues& values) {
  const std::string bytes = model_to_bytes(model);
  const Model again = model_from_bytes(bytes);
  require(model_to_bytes(again) == bytes, "the model read is written differently");
  require(same_bits(decision_values(again, rows, model_control(2)).values, values.values),
          "the model read gives other decision values");
}

}  // namespace tamis::fuzz
