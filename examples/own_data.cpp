// Trains on rows in memory of the program, without copying them, with text labels and scaling.
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "tamis/expansion.hpp"
#include "tamis/predict.hpp"
#include "tamis/train.hpp"

int main() {
  try {
    // Height in meters and weight in kilograms, row after row.
    const auto values = std::make_shared<std::vector<float>>(
        std::vector<float>{0.25F, 4, 0.23F, 3.6F, 0.24F, 4.4F, 0.6F, 30, 0.65F, 34, 0.58F, 25});
    const std::vector<std::string> names = {"cat", "cat", "cat", "dog", "dog", "dog"};
    const tamis::Matrix features = tamis::Matrix::dense_view(6, 2, values->data(), values);
    const tamis::Dataset data(features, tamis::Labels::text(names));

    tamis::TrainOptions options;
    options.cost = 10;
    options.scaling = tamis::ScalingMethod::standard;  // kept in the model
    const tamis::Model model = tamis::train(data, options).model;

    const tamis::Matrix animals = tamis::Matrix::dense(2, 2, {0.26F, 5, 0.7F, 40});
    const tamis::DecisionValues decisions = tamis::decision_values(model, animals);
    const tamis::Labels labels = tamis::predict(model, decisions);
    for (tamis::Index i = 0; i < animals.rows(); ++i) {
      std::printf("%s: decision value %s %.2f\n", labels.name(i).c_str(),
                  decisions.columns[0].c_str(), decisions.at(i, 0));
    }
    const tamis::ExpansionParts* parts = tamis::expansion_parts(model);
    std::printf("%lld support vectors, intercept %.2f\n",
                static_cast<long long>(parts->support_vectors.rows()), parts->offsets[0]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
