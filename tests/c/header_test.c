// The header as C11 sees it, with every warning on: training, prediction of many rows and of one,
// files. Ends with the line of the first thing that is not as it should be.
#include "tamis/tamis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define REQUIRE(what)                                                                    \
  do {                                                                                   \
    if (!(what)) {                                                                       \
      fprintf(stderr, "line %d: %s: %s\n", __LINE__, #what, tamis_error_message(error)); \
      return 1;                                                                          \
    }                                                                                    \
  } while (0)

enum { ROWS = 200 };

static int count_calls(const char* phase, double done, double seconds, void* user) {
  (void)done;
  (void)seconds;
  if (phase != NULL) ++*(int*)user;
  return 0;
}

static int dense(const char* path) {
  static float values[ROWS * 2];
  static double labels[ROWS];
  static double found[ROWS];
  static int32_t positions[ROWS];
  tamis_error* error = NULL;
  for (int i = 0; i < ROWS; ++i) {
    values[2 * i] = (float)(i % 20);
    values[2 * i + 1] = (float)(i / 20);
    labels[i] = i % 20 < 10 ? 1 : -1;
  }
  tamis_data* data = tamis_data_dense(values, ROWS, 2, &error);
  REQUIRE(data != NULL);
  REQUIRE(tamis_data_set_labels(data, labels, ROWS, &error) == TAMIS_OK);
  REQUIRE(tamis_data_rows(data) == ROWS && tamis_data_cols(data) == 2);
  REQUIRE(tamis_data_label(data, 0) == 1 && isnan(tamis_data_label(data, ROWS)));

  tamis_control* control = tamis_control_new();
  int calls = 0;
  REQUIRE(tamis_control_set_threads(control, 2, &error) == TAMIS_OK);
  REQUIRE(tamis_control_set_memory(control, (int64_t)1 << 30, &error) == TAMIS_OK);
  tamis_control_set_progress(control, count_calls, &calls);
  tamis_options* options = tamis_options_new();
  REQUIRE(tamis_options_set(options, "cost", "10", &error) == TAMIS_OK);
  tamis_report* report = NULL;
  tamis_model* model = tamis_train(data, options, control, &report, &error);
  REQUIRE(model != NULL);
  REQUIRE(strcmp(tamis_report_stop_reason(report), "converged") == 0);
  REQUIRE(tamis_model_num_classes(model) == 2);
  REQUIRE(strcmp(tamis_model_class_name(model, 0), "1") == 0);
  REQUIRE(tamis_model_class_number(model, 1) == -1);
  REQUIRE(strcmp(tamis_model_decision_column(model, 0), "1/-1") == 0);
  REQUIRE(strcmp(tamis_model_method(model), "exact") == 0);
  REQUIRE(strlen(tamis_model_description(model)) > 10);

  REQUIRE(tamis_predict(model, data, control, found, ROWS, &error) == TAMIS_OK);
  for (int i = 0; i < ROWS; ++i) REQUIRE(found[i] == labels[i]);
  REQUIRE(tamis_predict_classes(model, data, control, positions, ROWS, &error) == TAMIS_OK);
  for (int i = 0; i < ROWS; ++i)
    REQUIRE(tamis_model_class_number(model, positions[i]) == labels[i]);
  REQUIRE(tamis_decision_values(model, data, control, found, ROWS, &error) == TAMIS_OK);
  for (int i = 0; i < ROWS; ++i) {
    double one = 0;
    double label = 0;
    int32_t position = -1;
    REQUIRE(tamis_decision_values_row(model, values + 2 * i, 2, &one, 1, &error) == TAMIS_OK);
    REQUIRE(one == found[i]);
    REQUIRE(tamis_predict_row(model, values + 2 * i, 2, &label, &error) == TAMIS_OK);
    REQUIRE(label == labels[i]);
    REQUIRE(tamis_predict_class_row(model, values + 2 * i, 2, &position, &error) == TAMIS_OK);
    REQUIRE(position == positions[i]);
  }
  REQUIRE(tamis_model_save(model, path, "native", &error) == TAMIS_OK);
  tamis_model* loaded = tamis_model_load(path, control, &error);
  REQUIRE(loaded != NULL);
  static double again[ROWS];
  REQUIRE(tamis_decision_values(loaded, data, NULL, again, ROWS, &error) == TAMIS_OK);
  REQUIRE(memcmp(found, again, sizeof found) == 0);
  REQUIRE(error == NULL);

  tamis_model_free(loaded);
  tamis_model_free(model);
  tamis_report_free(report);
  tamis_options_free(options);
  tamis_control_free(control);
  tamis_data_free(data);
  return 0;
}

static int sparse(void) {
  // Row i has the value 1 in column i % 3.
  static int64_t row_begin[31];
  static int32_t columns[30];
  static float values[30];
  static double labels[30];
  tamis_error* error = NULL;
  for (int i = 0; i < 30; ++i) {
    row_begin[i + 1] = i + 1;
    columns[i] = i % 3;
    values[i] = 1;
    labels[i] = i % 3;
  }
  tamis_data* data = tamis_data_csr(row_begin, columns, values, 30, 3, &error);
  REQUIRE(data != NULL);
  REQUIRE(tamis_data_set_labels(data, labels, 30, &error) == TAMIS_OK);
  tamis_model* model = tamis_train(data, NULL, NULL, NULL, &error);
  REQUIRE(model != NULL);
  double found[30];
  REQUIRE(tamis_predict(model, data, NULL, found, 30, &error) == TAMIS_OK);
  for (int i = 0; i < 30; ++i) REQUIRE(found[i] == labels[i]);
  REQUIRE(tamis_model_num_decision_columns(model) == 3);
  tamis_model_free(model);
  tamis_data_free(data);
  return 0;
}

int main(int count, char** words) {
  if (count != 2 || strlen(tamis_version()) < 5) return 1;
  return dense(words[1]) || sparse();
}
