// One model, many threads of the caller.
#include <algorithm>
#include <thread>

#include "contract/fixtures.hpp"

namespace tamis::testing {
namespace {

struct Answer {
  std::vector<std::int32_t> codes;
  std::vector<double> values;
  bool operator==(const Answer&) const = default;
};

Answer ask(const Model& model, const Matrix& rows, int threads) {
  RunControl control;
  control.threads = threads;
  return {predict_codes(model, rows, control), decision_values(model, rows, control).values};
}

class ManyThreads : public MethodContract {};

// Fresh from memory, so that what a model makes when it is first asked is made by all at once.
TEST_P(ManyThreads, PredictTheSameWithOneModel) {
  const Dataset data = named(clouds(300, 3, 3, 5), std::vector<std::string>{"a", "b", "c"});
  const std::string bytes = model_to_bytes(train(data, options()).model);
  const Answer alone = ask(model_from_bytes(bytes), data.features(), 1);
  const Model shared = model_from_bytes(bytes);
  std::vector<Answer> answers(8);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < answers.size(); ++t) {
    threads.emplace_back(
        [&, t] { answers[t] = ask(shared, data.features(), static_cast<int>(t % 3)); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::count(answers.begin(), answers.end(), alone), std::ssize(answers));
}

INSTANTIATE_TEST_SUITE_P(Methods, ManyThreads, ::testing::ValuesIn(all_methods()),
                         method_test_name);

}  // namespace
}  // namespace tamis::testing
