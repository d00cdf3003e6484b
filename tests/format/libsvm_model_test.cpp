#include "io/libsvm_model.hpp"

#include <gtest/gtest.h>
#include <libsvm/svm.h>

#include <cmath>
#include <memory>

#include "format/temporary_file.hpp"
#include "model/expansion_fixtures.hpp"
#include "model/model_parts.hpp"
#include "tamis/calibrate.hpp"
#include "tamis/error.hpp"
#include "tamis/io.hpp"
#include "tamis/predict.hpp"

namespace tamis {
namespace {

// Rows as LIBSVM wants them: zeros left out, indices from 1 (precomputed: from 0).
class LibsvmRows {
 public:
  LibsvmRows(const Matrix& rows, int index_base) {
    for (Index i = 0; i < rows.rows(); ++i) {
      std::vector<svm_node> nodes;
      for (Index j = 0; j < rows.cols(); ++j) {
        const double value = static_cast<double>(rows.at(i, j));
        if (value != 0 || index_base == 0)
          nodes.push_back({static_cast<int>(j) + index_base, value});
      }
      nodes.push_back({-1, 0});
      nodes_.push_back(std::move(nodes));
    }
    for (auto& nodes : nodes_) rows_.push_back(nodes.data());
  }
  svm_node** rows() { return rows_.data(); }
  int size() const { return static_cast<int>(rows_.size()); }

 private:
  std::vector<std::vector<svm_node>> nodes_;
  std::vector<svm_node*> rows_;
};

struct ModelDeleter {
  void operator()(svm_model* model) const { svm_free_and_destroy_model(&model); }
};
using LibsvmModel = std::unique_ptr<svm_model, ModelDeleter>;

svm_parameter parameters(int svm_type, const Kernel& kernel) {
  svm_parameter p{};
  p.svm_type = svm_type;
  p.kernel_type = static_cast<int>(kernel.type);
  p.degree = kernel.degree;
  p.gamma = kernel.gamma;
  p.coef0 = kernel.coef0;
  p.cache_size = 10;
  p.eps = 1e-4;
  p.C = 2;
  p.nu = 0.1;
  p.p = 0.1;
  p.shrinking = 1;
  return p;
}

LibsvmModel libsvm_train(int svm_type, const Kernel& kernel, LibsvmRows& rows,
                         std::vector<double>& targets) {
  svm_set_print_string_function([](const char*) {});
  svm_problem problem{rows.size(), targets.data(), rows.rows()};
  const svm_parameter p = parameters(svm_type, kernel);
  EXPECT_EQ(svm_check_parameter(&problem, &p), nullptr);
  return LibsvmModel(svm_train(&problem, &p));
}

// Probabilities there and back, beside LIBSVM's own.
TEST(LibsvmModel, KeepsProbabilities) {
  Random random(21);
  const Matrix features = random_rows(120, 3, random);
  LibsvmRows rows(features, 1);
  for (const int classes : {2, 4}) {
    std::vector<double> targets;
    for (Index i = 0; i < features.rows(); ++i)
      targets.push_back(static_cast<double>(i % 5 == 0 ? i % classes : (features.at(i, 0) > 0)) +
                        1);
    svm_set_print_string_function([](const char*) {});
    svm_problem problem{rows.size(), targets.data(), rows.rows()};
    svm_parameter p = parameters(C_SVC, {});
    p.gamma = 0.5;
    p.probability = 1;
    const LibsvmModel trained(svm_train(&problem, &p));
    const TemporaryFile theirs;
    ASSERT_EQ(svm_save_model(theirs.path().c_str(), trained.get()), 0);
    const Model model = load_model(theirs.path());
    ASSERT_TRUE(model.has_probabilities());
    const TemporaryFile ours;
    save_model(model, ours.path(), ModelFormat::libsvm);
    const LibsvmModel back(svm_load_model(ours.path().c_str()));
    ASSERT_NE(back, nullptr);
    const Probabilities found = probabilities(model, features);
    std::vector<double> expected(static_cast<std::size_t>(classes));
    for (Index i = 0; i < features.rows(); ++i) {
      for (svm_model* libsvm : {trained.get(), back.get()}) {
        svm_predict_probability(libsvm, rows.rows()[i], expected.data());
        // LIBSVM couples pairs to 0.005 / classes.
        for (Index c = 0; c < classes; ++c)
          EXPECT_NEAR(found.at(i, c), expected[static_cast<std::size_t>(c)], 5e-3);
      }
    }
  }
}

// Labels equal and decision values near, on every row.
void expect_same(svm_model* libsvm, LibsvmRows& rows, const Model& model, const Matrix& features) {
  const Labels labels = predict(model, features);
  const DecisionValues values = decision_values(model, features);
  std::vector<double> expected(static_cast<std::size_t>(std::max<Index>(1, values.cols)));
  for (Index i = 0; i < features.rows(); ++i) {
    const double label = svm_predict_values(libsvm, rows.rows()[i], expected.data());
    double nearest = 1;
    for (Index m = 0; m < values.cols; ++m) {
      const double value = expected[static_cast<std::size_t>(m)];
      ASSERT_NEAR(values.at(i, m), value, 2e-4 * (1 + std::abs(value))) << i << ' ' << m;
      nearest = std::min(nearest, std::abs(value));
    }
    if (model.task() == Task::regression) {
      EXPECT_NEAR(labels.number(i), label, 2e-4 * (1 + std::abs(label)));
    } else if (nearest > 1e-5) {  // closer to 0 the float of kernel values may decide
      EXPECT_EQ(labels.number(i), label) << i;
    }
  }
}

struct Problem {
  Matrix train;
  Matrix test;
  std::vector<double> targets;
  int index_base = 1;
};

Problem make_problem(const Kernel& kernel, bool regression, int classes, std::uint64_t seed) {
  Random random(seed);
  Problem problem;
  constexpr Index kRows = 60;
  problem.train = random_rows(kRows, 4, random);
  problem.test = random_rows(40, 4, random);
  for (Index i = 0; i < kRows; ++i) {
    const double x = static_cast<double>(problem.train.at(i, 0) + problem.train.at(i, 1));
    const auto cell = static_cast<int>(std::floor((x + 2) * 0.25 * classes));
    problem.targets.push_back(regression ? std::sin(3 * x) : 3.0 - 2.0 * cell);
  }
  if (kernel.type != KernelType::precomputed) return problem;
  const auto gram = [&](const Matrix& rows) {
    std::vector<float> values;
    for (Index i = 0; i < rows.rows(); ++i) {
      values.push_back(static_cast<float>(i + 1));
      for (Index j = 0; j < kRows; ++j)
        values.push_back(static_cast<float>(kernel_value({}, rows, i, problem.train, j)));
    }
    return Matrix::dense(rows.rows(), kRows + 1, std::move(values));
  };
  const Matrix test = gram(problem.test);
  problem.train = gram(problem.train);
  problem.test = test;
  problem.index_base = 0;
  return problem;
}

std::vector<Kernel> libsvm_kernels() {
  auto kernels = all_kernels();
  std::erase_if(kernels, [](const Kernel& k) { return k.type == KernelType::laplacian; });
  kernels.push_back({KernelType::precomputed});
  return kernels;
}

struct Case {
  int svm_type;
  int classes;
};

class LibsvmOracle : public testing::TestWithParam<Case> {};

TEST_P(LibsvmOracle, ReadsAndWritesTheSameModel) {
  const auto [svm_type, classes] = GetParam();
  const bool regression = svm_type == EPSILON_SVR || svm_type == NU_SVR;
  std::uint64_t seed = 1;
  for (const Kernel& kernel : libsvm_kernels()) {
    SCOPED_TRACE(describe(kernel));
    Problem problem = make_problem(kernel, regression, classes, seed++);
    LibsvmRows train(problem.train, problem.index_base);
    LibsvmRows test(problem.test, problem.index_base);
    const LibsvmModel libsvm = libsvm_train(svm_type, kernel, train, problem.targets);
    const TemporaryFile file;
    ASSERT_EQ(svm_save_model(file.path().c_str(), libsvm.get()), 0);
    const Model model = load_model(file.path());
    EXPECT_EQ(model.num_support_vectors(), libsvm->l);
    expect_same(libsvm.get(), test, model, problem.test);
    expect_same(libsvm.get(), test, model, problem.test.to_sparse());

    const TemporaryFile ours;
    save_model(model, ours.path(), ModelFormat::libsvm);
    const LibsvmModel again(svm_load_model(ours.path().c_str()));
    ASSERT_NE(again, nullptr);
    expect_same(again.get(), test, model, problem.test);
    const TemporaryFile native;
    save_model(model, native.path());
    const Model reloaded = load_model(native.path());
    EXPECT_EQ(decision_values(reloaded, problem.test).values,
              decision_values(model, problem.test).values);
    EXPECT_EQ(decision_values(load_model(ours.path()), problem.test).values,
              decision_values(model, problem.test).values);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, LibsvmOracle,
                         testing::Values(Case{C_SVC, 2}, Case{C_SVC, 3}, Case{C_SVC, 4},
                                         Case{NU_SVC, 2}, Case{NU_SVC, 3}, Case{EPSILON_SVR, 2},
                                         Case{NU_SVR, 2}, Case{C_SVC, 1}));

const char kSmall[] =
    "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 3\nrho 0.25\nlabel 5 -7\n"
    "probA -1.5\nprobB 0.1\nnr_sv 2 1\nSV\n1 1:0.5 3:2 \n0.5 2:1 \n-1.5 \n";

TEST(LibsvmModel, ReadsWhatItSays) {
  const TemporaryFile file(kSmall);
  const Model model = load_model(file.path());
  EXPECT_EQ(model.classes(), Labels::numeric({5, -7}));
  EXPECT_EQ(model.num_support_vectors(), 3);
  EXPECT_EQ(model.num_features(), 3);
  EXPECT_EQ(model.method(), "libsvm c_svc");
  const Matrix row = Matrix::dense(1, 3, {0.5, 0, 2});
  const double expected = 1 + 0.5 * std::exp(-0.5 * 5.25) - 1.5 * std::exp(-0.5 * 4.25) - 0.25;
  EXPECT_NEAR(decision_values(model, row).at(0, 0), expected, 1e-6);
  // LIBSVM counts columns that no support vector has: the distance grows by 4.
  const Matrix wide = Matrix::dense(1, 4, {0.5, 0, 2, 2});
  for (const Matrix& rows : {wide, wide.to_sparse(), wide.with_cols(900)}) {
    EXPECT_NEAR(decision_values(model, rows).at(0, 0), (expected + 0.25) * std::exp(-2.0) - 0.25,
                1e-6);
  }
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(LibsvmModel, NamesThePlaceOfWhatIsWrong) {
  const auto message = [](const std::string& text) -> std::string {
    const TemporaryFile file(text);
    try {
      load_model(file.path());
    } catch (const DataError& error) {
      const std::string what = error.what();
      EXPECT_TRUE(what.starts_with(file.path() + ":")) << what;
      return what.substr(file.path().size() + 1);
    }
    return "no error";
  };
  const std::string small = kSmall;
  EXPECT_EQ(message(replaced(small, "c_svc", "one_class")),
            "1:10: svm_type 'one_class' is not supported: c_svc, nu_svc, epsilon_svr or nu_svr");
  EXPECT_EQ(message(replaced(small, "kernel_type rbf", "kernel_type x")).substr(0, 5), "2:13:");
  EXPECT_EQ(message(replaced(small, "gamma 0.5", "gamma 0.5x")), "3:7: '0.5x' is not a number");
  EXPECT_EQ(message(replaced(small, "gamma 0.5", "gamma inf")), "3:7: 'inf' is not finite");
  EXPECT_EQ(message(replaced(small, "total_sv 3", "total_sv 99999999999999")),
            "5:10: a count of 99999999999999 in a file of 158 bytes");
  EXPECT_EQ(message(replaced(small, "total_sv 3", "total_sv 4")),
            "11:1: nr_sv adds up to 3, but total_sv is 4");
  EXPECT_EQ(message(replaced(small, "rho 0.25", "rho 0.25 1")),
            "11:1: 2 classes need 1 rho, the model has 2");
  EXPECT_EQ(message(replaced(small, "label 5 -7", "label 5 5")),
            "11:1: two classes have the same label");
  EXPECT_EQ(message(replaced(small, "3:2", "1:2")),
            "12:9: '1:2' is not index:value with an index above 1");
  EXPECT_EQ(message(replaced(small, "1:0.5", "0:0.5")),
            "12:3: '0:0.5' is not index:value with an index above 0");
  EXPECT_EQ(message(replaced(small, "0.5 2:1", "x 2:1")),
            "13:1: 'x' where coefficient 1 of 1 should be");
  EXPECT_EQ(message(replaced(small, "0.5 2:1", "0.5 2:1e99")),
            "13:7: '1e99' is too large for a 32-bit float");
  EXPECT_EQ(message(small.substr(0, small.size() - 6)), "14:1: total_sv is 3, but the model has 2");
  EXPECT_EQ(message(small.substr(0, 30)), "2:1: the model ends before its SV line");
  EXPECT_EQ(message(replaced(small, "probA", "probX")),
            "8:1: 'probX' is not part of a LIBSVM model");
  EXPECT_NE(message(replaced(small, "kernel_type rbf", "kernel_type laplacian"))
                .find("LIBSVM models have no Laplacian kernel"),
            std::string::npos);
  EXPECT_EQ(message(replaced(small, "gamma 0.5", "gamma -1")),
            " gamma is -1: it must be finite and greater than 0");
}

TEST(LibsvmModel, RefusesToWriteWhatItCannotHold) {
  const TemporaryFile file;
  const TemporaryFile source(kSmall);
  const Model model = load_model(source.path());
  const auto expect_refused = [&](const Model& changed) {
    EXPECT_THROW(save_model(changed, file.path(), ModelFormat::libsvm), DataError);
    EXPECT_FALSE(std::filesystem::exists(file.path()));
  };
  const Scaling scaling =
      Scaling::fit(Matrix::dense(2, 3, {0, 0, 0, 1, 1, 1}), ScalingMethod::minmax);
  expect_refused(make_model(model.task(), model.classes(), scaling, shared_machine(model), ""));
  expect_refused(make_model(model.task(), Labels::text({"a", "b"}), {}, shared_machine(model), ""));
  expect_refused(
      make_model(model.task(), Labels::numeric({0.5, 1}), {}, shared_machine(model), ""));
  expect_refused(
      make_model(model.task(), Labels::numeric({1e10, 1}), {}, shared_machine(model), ""));
  Random random(1);
  auto rest = std::make_shared<const KernelExpansion>(
      random_parts({}, random_rows(3, 2, random), Decision::one_vs_rest, 3, random));
  expect_refused(make_model(model.task(), Labels::numeric({1, 2, 3}), {}, rest, ""));
  auto laplacian = std::make_shared<const KernelExpansion>(random_parts(
      {KernelType::laplacian, 1}, random_rows(3, 2, random), Decision::single, 2, random));
  expect_refused(make_model(model.task(), Labels::numeric({1, 2}), {}, laplacian, ""));
}

TEST(LibsvmModel, WritesSupportVectorsExactly) {
  Random random(2);
  for (const Decision decision : {Decision::single, Decision::one_vs_one}) {
    const Index classes = decision == Decision::single ? 2 : 5;
    std::vector<double> labels;
    for (Index c = 0; c < classes; ++c) labels.push_back(static_cast<double>(c));
    auto machine = std::make_shared<const KernelExpansion>(
        random_parts({}, random_rows(3000, 7, random), decision, classes, random));
    const Model model = make_model(Task::classification, Labels::numeric(labels), {}, machine, "");
    const TemporaryFile file;
    save_model(model, file.path(), ModelFormat::libsvm);
    const Model loaded = load_model(file.path());
    const Matrix rows = random_rows(50, 7, random);
    const auto before = decision_values(model, rows).values;
    const auto after = decision_values(loaded, rows).values;
    for (std::size_t k = 0; k < before.size(); ++k) {
      // One-vs-one keeps the order of the support vectors; two classes sort them by sign.
      if (decision == Decision::one_vs_one)
        EXPECT_EQ(after[k], before[k]);
      else
        EXPECT_NEAR(after[k], before[k], 1e-9);
    }
  }
}

}  // namespace
}  // namespace tamis
