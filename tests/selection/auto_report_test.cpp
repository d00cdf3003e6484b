// What auto tells, from candidates made by hand.
#include "selection/auto_report.hpp"

#include <gtest/gtest.h>

#include "fake_series.hpp"

namespace tamis::testing {
namespace {

Candidate made(const char* method, Index rows, double seconds, double error) {
  Candidate candidate{method, {}};
  candidate.options = at(4, 0.5);
  candidate.options.method = method;
  candidate.rows = rows;
  candidate.forecast = {seconds, error};
  return candidate;
}

TEST(AutoReport, ParametersAsTheProgramTakesThem) {
  TrainOptions options = at(4, 0.5);
  EXPECT_EQ(parameter_words(options), ", cost 4, gamma 0.5");
  options.scaling = ScalingMethod::minmax;
  options.method = "linear";
  EXPECT_EQ(parameter_words(options), ", cost 4, scale minmax");
  options.task = Task::regression;
  options.tube = 0.25;
  EXPECT_EQ(parameter_words(options), ", cost 4, tube 0.25, scale minmax");
}

TEST(AutoReport, SaysWhatAndWhy) {
  std::vector<std::string> heard;
  RunControl control;
  control.on_remark = [&](const std::string& line) { heard.push_back(line); };
  TrainOptions asked;
  asked.max_seconds = 60;
  const std::vector<Candidate> all{made("exact", 800, 12, 0.05), made("linear", 1000, 0.5, 0.2)};
  AutoReport report(asked, 1000, control);
  report.announce(all[0], all, 3);
  TrainReport result;
  result.rows = 800;
  report.complete(all[0], 0.07, 3, 13, &result);
  const std::vector<std::string> expected{
      "auto: exact, cost 4, gamma 0.5, on 800 of 1000 rows",
      "forecast: 12 s of training, error 5.00 %; choosing took 3 s",
      "why: lowest forecast error within 60 s of exact 5.00 % on 800 rows in 12 s; linear 20.00 % "
      "in "
      "0.5 s",
      "training took 10 s, forecast 12 s"};
  EXPECT_EQ(heard, expected);
  EXPECT_EQ(result.remarks, expected);
  const std::vector<std::pair<std::string, double>> details{{"rows_used", 800},
                                                            {"chosen_cost", 4},
                                                            {"chosen_gamma", 0.5},
                                                            {"pilot_seconds", 3},
                                                            {"cross_validation_error", 0.07},
                                                            {"forecast_seconds", 12},
                                                            {"actual_seconds", 10},
                                                            {"forecast_error", 0.05}};
  ASSERT_EQ(result.details.size(), details.size());
  for (std::size_t d = 0; d < details.size(); ++d) {
    EXPECT_EQ(result.details[d].first, details[d].first);
    EXPECT_EQ(result.details[d].second, details[d].second);
  }
  EXPECT_EQ(result.rows, 1000);
  EXPECT_EQ(result.train_seconds, 13);
}

TEST(AutoReport, SaysWhenThereWasNoTrial) {
  std::vector<std::string> heard;
  RunControl control;
  control.on_remark = [&](const std::string& line) { heard.push_back(line); };
  const TrainOptions asked;
  AutoReport report(asked, 1000, control);
  report.announce(made("linear", 1000, 0, 0), {}, 1);
  EXPECT_EQ(heard[0], "auto: linear, cost 4, on all 1000 rows");
  EXPECT_EQ(heard[2], "why: lowest forecast error of methods that had time for a trial: none");
}

TEST(AutoReport, RowsUsedByATrialStay) {
  const TrainOptions asked;
  const RunControl control;
  AutoReport report(asked, 1000, control);
  TrainReport result;
  result.details.emplace_back("rows_used", 50);
  report.complete(made("exact", 1000, 1, 0.1), 0.1, 1, 2, &result);
  EXPECT_EQ(std::count_if(result.details.begin(), result.details.end(),
                          [](const auto& entry) { return entry.first == "rows_used"; }),
            1);
  EXPECT_EQ(result.details[0].second, 50);
}

}  // namespace
}  // namespace tamis::testing
