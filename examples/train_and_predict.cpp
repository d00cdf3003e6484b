// Trains a model, evaluates it on new rows, saves it, and predicts with the saved model.
#include <cstdio>
#include <exception>

#include "tamis/evaluate.hpp"
#include "tamis/generate.hpp"
#include "tamis/io.hpp"
#include "tamis/predict.hpp"
#include "tamis/train.hpp"

int main() {
  try {
    // Or tamis::read_dataset("train.svm"): svmlight, CSV or npy, compressed or not.
    const auto rows = tamis::generate("checkerboard", {.rows = 4000, .seed = 1}).data;
    const auto test = tamis::generate("checkerboard", {.rows = 1000, .seed = 2}).data;

    tamis::TrainOptions options;
    options.cost = 10;
    options.gamma = 100.0;
    const auto [model, report] = tamis::train(rows, options);
    std::printf("%s after %.3f s: %s\n", tamis::stop_reason_name(report.stop_reason).data(),
                report.train_seconds, model.describe().c_str());

    const tamis::Evaluation result = tamis::evaluate(model, test);
    std::printf("error on %lld new rows: %.2f %%\n", static_cast<long long>(result.rows),
                100 * result.error_rate);

    tamis::save_model(model, "checkerboard.model");
    const tamis::Labels labels =
        tamis::predict(tamis::load_model("checkerboard.model"), test.features());
    std::printf("label of the first: %s\n", labels.name(0).c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
