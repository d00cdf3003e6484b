// Finds C and gamma by cross-validation, trains with them, and gives the model probabilities.
#include <cstdio>
#include <exception>

#include "tamis/calibrate.hpp"
#include "tamis/evaluate.hpp"
#include "tamis/generate.hpp"
#include "tamis/split.hpp"
#include "tamis/train.hpp"
#include "tamis/tune.hpp"

int main() {
  try {
    const auto rows = tamis::generate("checkerboard", {.rows = 3000, .seed = 1}).data;
    const auto test = tamis::generate("checkerboard", {.rows = 1000, .seed = 2}).data;
    // Probabilities are fitted on rows that the model was not trained on.
    const auto [train, held_out] = tamis::split_dataset(rows, 0.3, tamis::Task::classification);

    tamis::TuneOptions search;
    search.axes = {{"cost", {1, 10, 100}}, {"gamma", {10, 100, 1000}}};
    const tamis::TuneResult found = tamis::tune(train, search);
    std::printf("best of %zu points: C %g, gamma %g, error %.1f %%\n", found.points.size(),
                found.points[found.best].values[0], found.points[found.best].values[1],
                100 * found.points[found.best].error);

    const tamis::Model model = tamis::train(train, found.options).model;
    const tamis::Model calibrated = tamis::calibrate(model, held_out);
    const tamis::Evaluation result = tamis::evaluate(calibrated, test);
    std::printf("test error %.1f %%, log loss %.3f\n", 100 * result.error_rate, result.log_loss);

    const tamis::Probabilities sure = tamis::probabilities(calibrated, test.features());
    std::printf("P(class %s) of the first test row: %.2f\n", calibrated.classes().name(0).c_str(),
                sure.at(0, 0));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
