// Large models are mapped: opened without memory of their own, and an error when the file changes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "base/memory.hpp"
#include "model/kernel_expansion.hpp"
#include "model/model_parts.hpp"
#include "tamis/error.hpp"
#include "tamis/io.hpp"
#include "tamis/predict.hpp"

namespace tamis {
namespace {

constexpr Index kVectors = 60'000;
constexpr Index kCols = 100;  // 23 MiB

Model large_model() {
  std::vector<float> values(static_cast<std::size_t>(kVectors * kCols));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 101) / 100;
  ExpansionParts parts;
  parts.kernel = {KernelType::rbf, 0.1, 0, 3};
  parts.support_vectors = Matrix::dense(kVectors, kCols, std::move(values));
  parts.offsets = {0.25};
  for (Index i = 0; i < kVectors; ++i) parts.coefficients.push_back(i % 2 == 0 ? 1 : -1);
  return make_model(Task::classification, Labels::numeric({1, -1}), {},
                    std::make_shared<const KernelExpansion>(std::move(parts)), "exact");
}

TEST(MappedModel, PredictsAsTheOneThatWasSaved) {
  const std::string path = testing::TempDir() + "tamis-large.model";
  const Model saved = large_model();
  save_model(saved, path);
  const Matrix rows = Matrix::dense(3, kCols, std::vector<float>(3 * kCols, 0.5F));
  const std::vector<double> expected = decision_values(saved, rows).values;
  const Model read = load_model(path);
  EXPECT_EQ(decision_values(read, rows).values, expected);
  // A new file of that name is another one: the model keeps what it was opened with.
  save_model(read, path);
  EXPECT_EQ(decision_values(read, rows).values, expected);
  unlink(path.c_str());
  EXPECT_EQ(decision_values(read, rows).values, expected);
}

TEST(MappedModel, ChangedFilesAreAnError) {
  const std::string path = testing::TempDir() + "tamis-cut.model";
  save_model(large_model(), path);
  const Model read = load_model(path);
  const Matrix rows = Matrix::dense(3, kCols, std::vector<float>(3 * kCols, 0.5F));
  ASSERT_EQ(truncate(path.c_str(), 100'000), 0);
  try {
    decision_values(read, rows);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_EQ(std::string(error.what()),
              path + ": the file changed while it was read; run again when it is complete");
  }
  EXPECT_THROW(load_model(path), DataError);
  unlink(path.c_str());
}

}  // namespace
}  // namespace tamis
