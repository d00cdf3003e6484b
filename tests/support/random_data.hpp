// Data sets for tests: small, seeded, the same everywhere.
#pragma once

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "base/checked.hpp"
#include "base/random.hpp"
#include "tamis/dataset.hpp"

namespace tamis::testing {

using tamis::usize;

inline std::vector<Index> iota_rows(Index count) {
  std::vector<Index> rows(usize(count));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

/// Normal values, a share `density` of them; the others are zero.
inline Matrix random_matrix(Index rows, Index cols, std::uint64_t seed, double density = 1) {
  Random random(seed);
  std::vector<float> values(usize(rows * cols));
  for (float& value : values)
    value = random.uniform() < density ? static_cast<float>(random.normal()) : 0.0F;
  return Matrix::dense(rows, cols, std::move(values));
}

struct Clouds {
  Matrix features;
  std::vector<int> classes;  ///< 0 .. classes - 1, each in turn
};

/// One normal cloud a class, centres at distance about `apart`, so that classes overlap a little.
inline Clouds clouds(Index rows, Index cols, int classes, std::uint64_t seed, double apart = 1.5) {
  Random random(seed, 7);
  std::vector<double> centres(usize(classes * cols));
  for (double& value : centres) value = apart * random.normal() / std::sqrt(2.0);
  Clouds result;
  std::vector<float> values;
  for (Index i = 0; i < rows; ++i) {
    const int c = static_cast<int>(i % classes);
    result.classes.push_back(c);
    for (Index j = 0; j < cols; ++j) {
      values.push_back(static_cast<float>(centres[usize(c * cols + j)] + random.normal()));
    }
  }
  result.features = Matrix::dense(rows, cols, std::move(values));
  return result;
}

/// Class k is called names[k].
inline Dataset named(const Clouds& data, const std::vector<double>& names,
                     std::vector<double> weights = {}) {
  std::vector<double> labels;
  for (const int c : data.classes) labels.push_back(names[usize(c)]);
  return Dataset(data.features, Labels::numeric(std::move(labels)), std::move(weights));
}
inline Dataset named(const Clouds& data, const std::vector<std::string>& names) {
  std::vector<std::string> labels;
  for (const int c : data.classes) labels.push_back(names[usize(c)]);
  return Dataset(data.features, Labels::text(labels));
}

/// y = sin of the first coordinate plus noise.
inline Dataset wave(Index rows, Index cols, std::uint64_t seed, double noise = 0.1) {
  Random random(seed, 9);
  std::vector<float> values;
  std::vector<double> targets;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) values.push_back(static_cast<float>(random.uniform(-2, 2)));
    targets.push_back(std::sin(2 * static_cast<double>(values[usize(i * cols)])) +
                      noise * random.normal());
  }
  return Dataset(Matrix::dense(rows, cols, std::move(values)), Labels::numeric(std::move(targets)));
}

/// y = 3 - 2 x plus noise.
inline Dataset line(Index rows, std::uint64_t seed) {
  Random random(seed, 9);
  std::vector<float> values;
  std::vector<double> targets;
  for (Index i = 0; i < rows; ++i) {
    values.push_back(static_cast<float>(random.uniform(-2, 2)));
    targets.push_back(3 - 2 * static_cast<double>(values.back()) + 0.1 * random.normal());
  }
  return Dataset(Matrix::dense(rows, 1, std::move(values)), Labels::numeric(std::move(targets)));
}

/// Two columns of twelve decide: the class is the sign of their product.
inline Dataset two_of_twelve(Index rows, std::uint64_t seed) {
  const Matrix features = random_matrix(rows, 12, seed);
  std::vector<double> labels;
  for (Index i = 0; i < rows; ++i)
    labels.push_back(features.at(i, 3) * features.at(i, 7) > 0 ? 1 : -1);
  return Dataset(features, Labels::numeric(std::move(labels)));
}

}  // namespace tamis::testing
