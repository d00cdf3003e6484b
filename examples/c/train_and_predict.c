// Trains a model on arrays of the program, saves it, and predicts with the saved model.
#include <stdio.h>
#include <stdlib.h>

#include "tamis/tamis.h"

enum { ROWS = 1000, COLS = 2 };

// Points of the unit square, +1 above the parabola y = x^2 and -1 below.
static void fill(float* values, double* labels, unsigned seed) {
  for (int i = 0; i < ROWS; ++i) {
    for (int j = 0; j < COLS; ++j) {
      seed = seed * 1664525u + 1013904223u;
      values[i * COLS + j] = (float)(seed >> 8) / (float)(1u << 24);
    }
    const float x = values[i * COLS];
    labels[i] = values[i * COLS + 1] > x * x ? 1 : -1;
  }
}

static void require(int is_fine, tamis_error* error) {
  if (is_fine) return;
  fprintf(stderr, "%s\n", tamis_error_message(error));
  tamis_error_free(error);
  exit(1);
}

int main(void) {
  static float values[ROWS * COLS];
  static double labels[ROWS];
  static double predicted[ROWS];
  tamis_error* error = NULL;
  fill(values, labels, 1);

  tamis_data* data = tamis_data_dense(values, ROWS, COLS, &error);
  require(data != NULL, error);
  require(tamis_data_set_labels(data, labels, ROWS, &error) == TAMIS_OK, error);

  tamis_options* options = tamis_options_new();
  require(tamis_options_set(options, "cost", "10", &error) == TAMIS_OK, error);
  require(tamis_options_set(options, "gamma", "2", &error) == TAMIS_OK, error);

  tamis_report* report = NULL;
  tamis_model* model = tamis_train(data, options, NULL, &report, &error);
  require(model != NULL, error);
  double support_vectors = 0;
  require(tamis_report_number(report, "support_vectors", &support_vectors, &error) == TAMIS_OK,
          error);
  printf("%s: %.0f support vectors\n", tamis_report_stop_reason(report), support_vectors);
  require(tamis_model_save(model, "parabola.model", NULL, &error) == TAMIS_OK, error);
  tamis_model_free(model);

  model = tamis_model_load("parabola.model", NULL, &error);
  require(model != NULL, error);
  fill(values, labels, 2);  // other rows, in the same memory
  require(tamis_predict(model, data, NULL, predicted, ROWS, &error) == TAMIS_OK, error);
  int errors = 0;
  for (int i = 0; i < ROWS; ++i) errors += predicted[i] != labels[i];
  printf("error on %d new rows: %.1f %%\n", ROWS, 100.0 * errors / ROWS);

  const float point[COLS] = {0.5f, 0.9f};
  double label = 0;
  require(tamis_predict_row(model, point, COLS, &label, &error) == TAMIS_OK, error);
  printf("label of (0.5, 0.9): %g\n", label);

  tamis_model_free(model);
  tamis_report_free(report);
  tamis_options_free(options);
  tamis_data_free(data);
  return 0;
}
