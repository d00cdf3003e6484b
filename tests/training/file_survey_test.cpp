#include "training/file_survey.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/checked.hpp"

namespace tamis {
namespace {

constexpr Index kBlockRows = 40;

// Row i has the value i + 1 in its first column, and the label i % 3. Later blocks are wider.
Dataset block(Index number) {
  const Index cols = 1 + number / 20;
  std::vector<float> values(usize(kBlockRows * cols), 0.5F);
  std::vector<double> labels;
  for (Index i = 0; i < kBlockRows; ++i) {
    const Index row = number * kBlockRows + i;
    values[usize(i * cols)] = static_cast<float>(row + 1);
    labels.push_back(static_cast<double>(row % 3));
  }
  return Dataset(Matrix::dense(kBlockRows, cols, std::move(values)), Labels::numeric(labels));
}

FileSurvey survey_of(Index blocks, Index most_sampled) {
  FileSurvey survey(most_sampled, Random(7));
  for (Index b = 0; b < blocks; ++b) survey.add(block(b));
  return survey;
}

TEST(FileSurvey, CountsAllRows) {
  const FileSurvey survey = survey_of(60, 100);
  EXPECT_EQ(survey.rows(), 2400);
  EXPECT_EQ(survey.cols(), 3);
  EXPECT_EQ(survey.class_rows(), (std::vector<Index>{800, 800, 800}));
}

TEST(FileSurvey, SamplesRowsOfAllBlocksWithTheirClasses) {
  FileSurvey survey = survey_of(60, 300);
  const TrainingSet sample = survey.take_sample();
  ASSERT_EQ(sample.rows(), 300);
  EXPECT_EQ(sample.features.cols(), 3);
  std::set<Index> rows;
  double sum = 0;
  for (Index i = 0; i < 300; ++i) {
    const auto row = static_cast<Index>(sample.features.at(i, 0)) - 1;
    rows.insert(row);
    sum += static_cast<double>(row);
    EXPECT_EQ(sample.codes[usize(i)], row % 3);
  }
  EXPECT_EQ(rows.size(), 300U) << "no row twice";
  // The deviation of such a mean is 37.
  EXPECT_NEAR(sum / 300, 1200, 150) << "early and late blocks alike";
}

TEST(FileSurvey, TakesAllRowsOfASmallFile) {
  FileSurvey survey = survey_of(2, 300);
  EXPECT_EQ(survey.take_sample().rows(), 80);
}

}  // namespace
}  // namespace tamis
