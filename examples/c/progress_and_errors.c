// Text labels, probabilities, progress and cancelling, and what an error says.
#include <stdio.h>

#include "tamis/tamis.h"

enum { ROWS = 300, COLS = 1 };

// Called about ten times a second during long calls; any value but 0 cancels.
static int show(const char* phase, double done_fraction, double elapsed_seconds, void* user) {
  fprintf((FILE*)user, "%s: %.0f %% after %.0f s\n", phase, 100 * done_fraction, elapsed_seconds);
  return 0;
}

int main(void) {
  static float values[ROWS];
  static const char* labels[ROWS];
  for (int i = 0; i < ROWS; ++i) {
    values[i] = (float)(i % 100);
    labels[i] = i % 100 < 30 ? "cold" : i % 100 < 70 ? "mild" : "hot";
  }
  tamis_error* error = NULL;
  tamis_data* data = tamis_data_dense(values, ROWS, COLS, &error);
  tamis_data_set_text_labels(data, labels, ROWS, &error);
  tamis_options* options = tamis_options_new();

  // An error has a code for programs and a message for people.
  if (tamis_options_set(options, "csot", "10", &error) != TAMIS_OK)
    printf("code %d: %s\n", tamis_error_code(error), tamis_error_message(error));
  tamis_error_free(error);
  error = NULL;

  tamis_options_set(options, "scale", "standard", &error);
  tamis_options_set(options, "cost", "100", &error);
  tamis_options_set(options, "probability-folds", "3", &error);
  tamis_model* model = tamis_train(data, options, NULL, NULL, &error);
  if (model == NULL) {
    fprintf(stderr, "%s\n", tamis_error_message(error));
    return 1;
  }
  const float today = 20;
  int32_t position = 0;
  double probabilities[3];
  tamis_predict_class_row(model, &today, COLS, &position, &error);
  tamis_probabilities_row(model, &today, COLS, probabilities, 3, &error);
  printf("%g degrees: %s\n", (double)today, tamis_model_class_name(model, position));
  for (int c = 0; c < 3; ++c)
    printf("  %s: %.0f %%\n", tamis_model_class_name(model, c), 100 * probabilities[c]);

  // Prediction that is cancelled is an error; training that is cancelled gives the model it has.
  tamis_control* control = tamis_control_new();
  tamis_control_set_progress(control, show, stderr);
  tamis_control_cancel(control);
  double values_of_rows[3 * ROWS];
  if (tamis_decision_values(model, data, control, values_of_rows, 3 * ROWS, &error) ==
      TAMIS_CANCELLED)
    printf("%s\n", tamis_error_message(error));

  tamis_error_free(error);
  tamis_control_free(control);
  tamis_model_free(model);
  tamis_options_free(options);
  tamis_data_free(data);
  return 0;
}
