#include "base/cholesky.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace tamis {
namespace {

using Rows = std::vector<std::vector<double>>;

// Positive definite: products of random vectors of `rank` values, and `ridge` on the diagonal.
Rows random_matrix(std::size_t size, std::size_t rank, double ridge, Random& random) {
  Rows vectors(size);
  for (auto& vector : vectors) {
    for (std::size_t k = 0; k < rank; ++k) vector.push_back(random.normal());
  }
  Rows matrix(size, std::vector<double>(size));
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j)
      matrix[i][j] = dot(vectors[i].data(), vectors[j].data(), rank) + (i == j ? ridge : 0);
  }
  return matrix;
}

void add(const Rows& matrix, std::size_t i, std::vector<std::size_t>* members,
         ChangingCholesky* factor) {
  std::vector<double> values;
  for (const std::size_t j : *members) values.push_back(matrix[i][j]);
  values.push_back(matrix[i][i]);
  factor->add(values, 1e-13 * matrix[i][i]);
  members->push_back(i);
}

// A x = b, found out by multiplying.
double residual(const Rows& matrix, const std::vector<std::size_t>& members,
                const std::vector<double>& x, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    double sum = -b[i];
    for (std::size_t j = 0; j < members.size(); ++j) sum += matrix[members[i]][members[j]] * x[j];
    largest = std::max(largest, std::abs(sum));
  }
  return largest;
}

TEST(ChangingCholesky, SolvesWhateverCameAndWent) {
  Random random(3);
  for (const std::size_t rank : {5U, 40U}) {
    const Rows matrix = random_matrix(40, rank, 1e-6, random);
    std::vector<std::size_t> members;
    ChangingCholesky factor;
    for (int step = 0; step < 400; ++step) {
      const auto i = static_cast<std::size_t>(random.below(std::ssize(matrix)));
      const auto found = std::find(members.begin(), members.end(), i);
      if (found == members.end()) {
        add(matrix, i, &members, &factor);
      } else {
        factor.remove(static_cast<std::size_t>(found - members.begin()));
        members.erase(found);
      }
      ASSERT_EQ(factor.size(), members.size());
      std::vector<double> b(members.size());
      for (double& value : b) value = random.normal();
      EXPECT_LT(residual(matrix, members, factor.solve(b), b), 1e-6) << rank << ' ' << step;
    }
  }
}

TEST(ChangingCholesky, AgreesWithOneFactoredAtOnce) {
  Random random(4);
  const Rows matrix = random_matrix(12, 12, 0.1, random);
  std::vector<std::size_t> members;
  ChangingCholesky changing;
  std::vector<double> values;
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    add(matrix, i, &members, &changing);
    values.insert(values.end(), matrix[i].begin(), matrix[i].end());
  }
  Cholesky whole;
  ASSERT_TRUE(whole.factor(values, matrix.size()));
  std::vector<double> b(matrix.size());
  for (double& value : b) value = random.normal();
  const std::vector<double> expected = whole.solve(b);
  const std::vector<double> x = changing.solve(b);
  for (std::size_t i = 0; i < b.size(); ++i) EXPECT_NEAR(x[i], expected[i], 1e-9);
}

// A copy of a point leaves a pivot of 0: the least one takes its place.
TEST(ChangingCholesky, CopiesLeaveItFinite) {
  ChangingCholesky factor;
  factor.add({2}, 1e-12);
  factor.add({2, 2}, 1e-12);
  factor.add({2, 2, 2}, 1e-12);
  for (const double value : factor.solve({1, 1, 1})) EXPECT_TRUE(std::isfinite(value));
  factor.remove(0);
  EXPECT_NEAR(factor.solve({1, 1})[0] + factor.solve({1, 1})[1], 0.5, 1e-3);
}

}  // namespace
}  // namespace tamis
