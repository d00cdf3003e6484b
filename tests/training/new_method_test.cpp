// The method of examples/new_method goes through the engine as it stands in CONTRIBUTING.md: a file
// pair is all that it takes.
#include <gtest/gtest.h>

#include "every_other.hpp"
#include "support/random_data.hpp"
#include "tamis/predict.hpp"
#include "training/run_method.hpp"

namespace tamis::testing {
namespace {

TEST(NewMethod, RunsOnceItHasADescriptor) {
  const Clouds data = clouds(200, 3, 3, 1, 6);
  const Dataset given = named(data, {1.0, 2.0, 3.0});
  const TrainResult result = run_method(every_other_method(), given, {}, {});
  EXPECT_EQ(result.report.method, "every-other");
  EXPECT_EQ(result.model.method(), "every-other");
  const Labels labels = predict(result.model, data.features);
  Index right = 0;
  for (Index i = 0; i < 200; ++i) right += labels.name(i) == given.labels().name(i) ? 1 : 0;
  EXPECT_GT(right, 190);
}

TEST(NewMethod, PolishesLikeEveryMethodOnAPartOfTheRows) {
  const Dataset given = named(clouds(300, 3, 2, 2), {-1.0, 1.0});
  TrainOptions options;
  options.polish = true;
  const double polished = run_method(every_other_method(), given, options, {}).report.objective;
  options.polish = false;
  options.method = "exact";
  const double exact = run_method(given, options, {}).report.objective;
  EXPECT_NEAR(polished, exact, 1e-3 * std::abs(exact));
}

}  // namespace
}  // namespace tamis::testing
