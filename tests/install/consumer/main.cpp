#include <tamis/generate.hpp>
#include <tamis/predict.hpp>
#include <tamis/train.hpp>

int main() {
  const tamis::Dataset data = tamis::generate("checkerboard", {.rows = 200}).data;
  const tamis::TrainResult trained = tamis::train(data, {.gamma = 20.0});
  return tamis::predict(trained.model, data.features()).size() == data.rows() ? 0 : 1;
}
