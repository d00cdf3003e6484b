#include "model/weighted_ensemble.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>
#include <set>

#include "base/checked.hpp"
#include "model/ensemble_fixtures.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

TEST(WeightedEnsemble, IsTheSumItIsDefinedAs) {
  EXPECT_TRUE(rc::check("values", [] {
    Random random(*rc::gen::arbitrary<std::uint64_t>());
    const auto decision =
        *rc::gen::element(Decision::single, Decision::one_vs_one, Decision::one_vs_rest);
    const Index machines = num_machines(decision, 3);
    const Index cols = *rc::gen::inRange<Index>(1, 9);
    Matrix vectors = random_rows(*rc::gen::inRange<Index>(0, 90), cols, random);
    Matrix rows = random_rows(*rc::gen::inRange<Index>(1, 300), cols, random);
    if (*rc::gen::arbitrary<bool>()) vectors = vectors.to_sparse();
    if (*rc::gen::arbitrary<bool>()) rows = rows.to_sparse();
    EnsembleParts parts =
        random_ensemble(*rc::gen::elementOf(all_kernels()), vectors, decision, machines, random);
    if (*rc::gen::arbitrary<bool>()) parts = with_kernels_and_sigmoids(parts, random);
    const WeightedEnsemble ensemble(parts);
    std::vector<double> values(usize(rows.rows() * machines));
    std::vector<std::int32_t> classes(usize(rows.rows()));
    ensemble.decision_values(rows, values, {});
    ensemble.classify(rows, classes, {});
    for (Index i = 0; i < rows.rows(); ++i) {
      for (Index p = 0; p < machines; ++p) {
        const double expected = naive_value(parts, p, rows, i);
        RC_ASSERT(std::abs(values[usize(i * machines + p)] - expected) < 1e-4);
      }
      std::vector<std::int32_t> votes(usize(num_voters(decision, machines)));
      RC_ASSERT(classes[usize(i)] ==
                winning_class(decision,
                              std::span(values).subspan(usize(i * machines), usize(machines)),
                              votes));
    }
  }));
}

TEST(WeightedEnsemble, CountsEachPairOfWidthAndVectorOnce) {
  Random random(1);
  for (int run = 0; run < 20; ++run) {
    const EnsembleParts parts =
        random_ensemble(Kernel{}, random_rows(40, 3, random), Decision::one_vs_one, 3, random);
    std::set<std::pair<double, Index>> pairs;
    for (std::size_t m = 0; m < parts.weights.size(); ++m) {
      for (Index t = parts.term_begin[m]; t < parts.term_begin[m + 1] && parts.weights[m] != 0; ++t)
        pairs.emplace(parts.gammas[m], parts.term_vectors[usize(t)]);
    }
    EXPECT_EQ(WeightedEnsemble(parts).evaluations_per_row(), static_cast<Index>(pairs.size()));
  }
}

// More members of one kernel than are held at once.
TEST(WeightedEnsemble, ManyMembersWithSigmoids) {
  Random random(5);
  EnsembleParts parts;
  parts.support_vectors = random_rows(10, 3, random);
  parts.member_begin = {0, 200};
  parts.term_begin = {0};
  parts.offsets = {0.5};
  for (Index m = 0; m < 200; ++m) {
    parts.weights.push_back(random.uniform(-1, 1));
    parts.gammas.push_back(0.5);
    parts.member_offsets.push_back(random.uniform(-1, 1));
    parts.sigmoid_slopes.push_back(random.uniform(-2, 0));
    parts.sigmoid_intercepts.push_back(random.uniform(-1, 1));
    parts.term_vectors.push_back(m % 10);
    parts.coefficients.push_back(random.uniform(-2, 2));
    parts.term_begin.push_back(m + 1);
  }
  const Matrix rows = random_rows(100, 3, random);
  std::vector<double> values(100);
  WeightedEnsemble(parts).decision_values(rows, values, {});
  for (Index i = 0; i < 100; ++i)
    EXPECT_NEAR(values[usize(i)], naive_value(parts, 0, rows, i), 1e-4);
}

TEST(WeightedEnsemble, ALinearKernelHasNoWidth) {
  Random random(2);
  EnsembleParts parts = random_ensemble({KernelType::linear}, random_rows(20, 3, random),
                                        Decision::single, 1, random);
  while (parts.weights.size() < 3)
    parts = random_ensemble({KernelType::linear}, random_rows(20, 3, random), Decision::single, 1,
                            random);
  EXPECT_LE(WeightedEnsemble(parts).evaluations_per_row(), 20);
}

TEST(WeightedEnsemble, RefusesPartsThatDoNotFit) {
  Random random(3);
  EnsembleParts good;
  do {
    good = random_ensemble(Kernel{}, random_rows(20, 3, random), Decision::one_vs_rest, 3, random);
  } while (good.coefficients.size() < 10 || good.weights.size() < 4);
  EXPECT_NO_THROW(WeightedEnsemble{good});
  const auto refused = [&](const auto& change) {
    EnsembleParts parts = good;
    change(parts);
    EXPECT_THROW(WeightedEnsemble{parts}, DataError);
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  refused([](EnsembleParts& p) { p.decision = Decision::single; });
  refused([](EnsembleParts& p) { p.kernel.type = KernelType::precomputed; });
  refused([](EnsembleParts& p) { p.offsets.clear(); });
  refused([](EnsembleParts& p) { p.offsets[0] = kInfinity; });
  refused([](EnsembleParts& p) { p.weights.pop_back(); });
  refused([](EnsembleParts& p) { p.weights[1] = -kInfinity; });
  refused([](EnsembleParts& p) { p.gammas[0] = 0; });
  refused([](EnsembleParts& p) { p.gammas.push_back(1); });
  refused([](EnsembleParts& p) { p.member_offsets[0] = kInfinity; });
  refused([](EnsembleParts& p) { p.member_begin.clear(); });
  refused([](EnsembleParts& p) { p.member_begin[1] = -1; });
  refused([](EnsembleParts& p) { p.member_begin.back() += 1; });
  refused([](EnsembleParts& p) { p.term_begin[0] = 1; });
  refused([](EnsembleParts& p) { p.term_begin.pop_back(); });
  refused([](EnsembleParts& p) { p.term_vectors[0] = 20; });
  refused([](EnsembleParts& p) { p.term_vectors[0] = -1; });
  refused([](EnsembleParts& p) { p.term_vectors.pop_back(); });
  refused([](EnsembleParts& p) { p.coefficients[0] = kInfinity; });
}

TEST(WeightedEnsemble, DescribesItself) {
  EnsembleParts parts;
  parts.support_vectors = Matrix::dense(3, 1, {0, 1, 2});
  parts.member_begin = {0, 2};
  parts.offsets = {0};
  parts.weights = {1, 1};
  parts.gammas = {0.5, 2};
  parts.member_offsets = {0, 0};
  parts.term_begin = {0, 2, 4};
  parts.term_vectors = {0, 1, 1, 2};
  parts.coefficients = {1, -1, 1, -1};
  EXPECT_EQ(WeightedEnsemble(parts).describe(),
            "rbf, gamma 0.5 to 2; 2 members, 3 support vectors, 4 kernel values per row");
  parts.gammas = {2, 2};
  EXPECT_EQ(WeightedEnsemble(parts).describe(),
            "rbf, gamma 2; 2 members, 3 support vectors, 3 kernel values per row");
}

}  // namespace
}  // namespace tamis
