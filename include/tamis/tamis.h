// Tamis from C, and from every language that calls C functions. C11; nothing else is included.
//
// Handles are opaque. What a function returns as a handle belongs to the caller, who frees it with
// the function of its type; NULL may be freed. Texts returned as `const char*` belong to the handle
// that they were asked of, and live as long as it does.
//
// A call that can fail takes `tamis_error** error`, which may be NULL. It returns NULL or a code
// other than TAMIS_OK, and sets `*error`: initialize it with NULL, and free it. An error that is
// there already is replaced. A call that succeeds leaves `*error` alone.
//
// Different handles can be used by different threads at once. Models and data that are only read
// can be used by many threads at once, without locks.
#ifndef TAMIS_TAMIS_H
#define TAMIS_TAMIS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TAMIS_API __attribute__((visibility("default")))
#else
#define TAMIS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// "0.1.0": of the library that is linked.
TAMIS_API const char* tamis_version(void);

// Errors

/// What functions that return `int` return. Numbers keep their meaning; new ones may be added.
enum tamis_code {
  TAMIS_OK = 0,
  TAMIS_INVALID_ARGUMENT = 1,  ///< an option or argument is not allowed, or NULL
  TAMIS_DATA_ERROR = 2,        ///< the content of a file or an array is not acceptable
  TAMIS_IO_ERROR = 3,          ///< a file cannot be opened, read or written
  TAMIS_OUT_OF_MEMORY = 4,     ///< the work does not fit into the memory budget, or into memory
  TAMIS_CANCELLED = 5,         ///< by tamis_control_cancel() or the progress function
  TAMIS_INTERNAL_ERROR = 6     ///< a bug in the library
};

/// Why a call failed.
typedef struct tamis_error tamis_error;

/// One of tamis_code; TAMIS_OK for NULL.
TAMIS_API int tamis_error_code(const tamis_error* error);
/// One line: where, what was found, what is allowed. Empty for NULL.
TAMIS_API const char* tamis_error_message(const tamis_error* error);
TAMIS_API void tamis_error_free(tamis_error* error);

// Threads, memory, progress, cancelling

/// Settings of long calls. NULL in its place: all threads, 80 % of the free memory, no progress.
typedef struct tamis_control tamis_control;

/// Called about ten times a second, from one thread at a time, which need not be the caller's. It
/// must not call back into the library with the same control, nor leave by an exception or longjmp.
/// `done_fraction` is negative when unknown. Any value but 0 cancels the call.
typedef int (*tamis_progress_function)(const char* phase, double done_fraction,
                                       double elapsed_seconds, void* user);

/// NULL when out of memory.
TAMIS_API tamis_control* tamis_control_new(void);
TAMIS_API void tamis_control_free(tamis_control* control);
/// At most 4096; 0 (default) means all that this process may use. Results do not depend on it.
TAMIS_API int tamis_control_set_threads(tamis_control* control, int threads, tamis_error** error);
/// Budget for data, caches and work space in bytes; 0 (default) means 80 % of the free memory.
TAMIS_API int tamis_control_set_memory(tamis_control* control, int64_t bytes, tamis_error** error);
/// `user` is handed to the function. NULL: no progress.
TAMIS_API void tamis_control_set_progress(tamis_control* control, tamis_progress_function function,
                                          void* user);
/// Stops the calls that use this control within about 100 ms, from any thread or a signal handler.
/// Training then returns the model that it has; everything else fails with TAMIS_CANCELLED.
TAMIS_API void tamis_control_cancel(tamis_control* control);
/// Allows calls again after tamis_control_cancel().
TAMIS_API void tamis_control_resume(tamis_control* control);

// Options

/// How to read and train: the options of `tamis train` by name, with their defaults.
typedef struct tamis_options tamis_options;

/// NULL when out of memory.
TAMIS_API tamis_options* tamis_options_new(void);
TAMIS_API void tamis_options_free(tamis_options* options);
/// Sets an option as the command line does, without dashes: "cost", "10". Names are those of `tamis
/// train`: all training options, `probability-folds`, `calibration`, and how data are read
/// (`format`: "svmlight", "csv", "npy" or "csr"; `index-base`, `label`, `labels`, `weight`,
/// `text-labels`). A flag takes "yes" or "no". Ranges are checked by tamis_train().
TAMIS_API int tamis_options_set(tamis_options* options, const char* name, const char* value,
                                tamis_error** error);

// Data

/// Rows of float32 features, dense or sparse, with labels and weights if they were given.
typedef struct tamis_data tamis_data;
/// A trained model.
typedef struct tamis_model tamis_model;

/// A view of `rows * cols` values, row after row. Not copied: they must stay as they are while the
/// handle lives. Models never refer to them.
TAMIS_API tamis_data* tamis_data_dense(const float* values, int64_t rows, int64_t cols,
                                       tamis_error** error);
/// A view of compressed sparse rows: row i has the entries row_begin[i] to row_begin[i + 1] - 1,
/// their columns, counted from 0, strictly ascending. `row_begin` has rows + 1 numbers, the first
/// is 0. Checked, not copied: see tamis_data_dense().
TAMIS_API tamis_data* tamis_data_csr(const int64_t* row_begin, const int32_t* columns,
                                     const float* values, int64_t rows, int64_t cols,
                                     tamis_error** error);
/// Reads a data file: svmlight, CSV or .npy, compressed or not; "-" is standard input. `options` or
/// NULL: how. `model` or NULL: the model that these rows are for, whose columns they get.
TAMIS_API tamis_data* tamis_data_read(const char* path, const tamis_options* options,
                                      const tamis_model* model, const tamis_control* control,
                                      tamis_error** error);
TAMIS_API void tamis_data_free(tamis_data* data);
/// Classes or targets, one per row; copied. Not while another thread uses the handle.
TAMIS_API int tamis_data_set_labels(tamis_data* data, const double* labels, int64_t count,
                                    tamis_error** error);
/// Classes as text in UTF-8, one per row; copied. Not while another thread uses the handle.
TAMIS_API int tamis_data_set_text_labels(tamis_data* data, const char* const* labels, int64_t count,
                                         tamis_error** error);
/// At least 0, one per row; copied. Not while another thread uses the handle.
TAMIS_API int tamis_data_set_weights(tamis_data* data, const double* weights, int64_t count,
                                     tamis_error** error);
/// 0 for NULL.
TAMIS_API int64_t tamis_data_rows(const tamis_data* data);
/// 0 for NULL.
TAMIS_API int64_t tamis_data_cols(const tamis_data* data);
/// The label of a row if labels are numbers; NaN if not, or there is no such row.
TAMIS_API double tamis_data_label(const tamis_data* data, int64_t row);

// Training

/// Report of a training.
typedef struct tamis_report tamis_report;

/// Trains a model. `options` or NULL: the defaults. `report` may be NULL; otherwise `*report` is
/// set, and to be freed. A limit or a cancelled training still gives a usable model:
/// tamis_report_stop_reason() says which. Options that the method or task does not use are an
/// error.
TAMIS_API tamis_model* tamis_train(const tamis_data* data, const tamis_options* options,
                                   const tamis_control* control, tamis_report** report,
                                   tamis_error** error);
TAMIS_API void tamis_report_free(tamis_report* report);
/// "converged", "precision limit", "iteration limit", "time limit" or "interrupted".
TAMIS_API const char* tamis_report_stop_reason(const tamis_report* report);
/// A number of the report by the name that it has in the JSON of `tamis train`: "support_vectors",
/// "objective", "gap", "violation", "iterations", "kernel_evaluations", "train_seconds",
/// "peak_memory_bytes", and those of the method.
TAMIS_API int tamis_report_number(const tamis_report* report, const char* name, double* value,
                                  tamis_error** error);
TAMIS_API int64_t tamis_report_num_warnings(const tamis_report* report);
/// One sentence; NULL if there is no such warning.
TAMIS_API const char* tamis_report_warning(const tamis_report* report, int64_t number);
/// The model with probabilities, fitted on labeled rows that it was not trained on. `method`:
/// "sigmoid", "isotonic", or NULL for "sigmoid".
TAMIS_API tamis_model* tamis_calibrate(const tamis_model* model, const tamis_data* held_out,
                                       const char* method, const tamis_control* control,
                                       tamis_error** error);

// Models

/// Reads a model of Tamis or of LIBSVM.
TAMIS_API tamis_model* tamis_model_load(const char* path, const tamis_control* control,
                                        tamis_error** error);
/// Writes a model under a temporary name and renames it. `format`: "native", "libsvm", or NULL for
/// "native".
TAMIS_API int tamis_model_save(const tamis_model* model, const char* path, const char* format,
                               tamis_error** error);
TAMIS_API void tamis_model_free(tamis_model* model);
/// 1: it predicts numbers. 0: it predicts classes.
TAMIS_API int tamis_model_is_regression(const tamis_model* model);
/// 1 or 0.
TAMIS_API int tamis_model_has_probabilities(const tamis_model* model);
TAMIS_API int64_t tamis_model_num_features(const tamis_model* model);
TAMIS_API int64_t tamis_model_num_support_vectors(const tamis_model* model);
/// 0 for a regression.
TAMIS_API int64_t tamis_model_num_classes(const tamis_model* model);
/// The label of a class as text; NULL if there is no such class. Positions count from 0.
TAMIS_API const char* tamis_model_class_name(const tamis_model* model, int64_t position);
/// The label of a class if labels are numbers; NaN if not, or there is no such class.
TAMIS_API double tamis_model_class_number(const tamis_model* model, int64_t position);
/// Decision values per row: 1 for two classes or a regression.
TAMIS_API int64_t tamis_model_num_decision_columns(const tamis_model* model);
/// "a/b" for a pair of classes, "a" for one against the rest, "value" for a regression; positive
/// values favor a. NULL if there is no such column.
TAMIS_API const char* tamis_model_decision_column(const tamis_model* model, int64_t column);
/// The method that trained it.
TAMIS_API const char* tamis_model_method(const tamis_model* model);
/// One line for people.
TAMIS_API const char* tamis_model_description(const tamis_model* model);

// Predicting many rows
//
// `count` is the number of values that there is room for: exactly the number that is written.

/// One label per row, for labels that are numbers, and for a regression.
TAMIS_API int tamis_predict(const tamis_model* model, const tamis_data* rows,
                            const tamis_control* control, double* labels, int64_t count,
                            tamis_error** error);
/// One class per row, by its position.
TAMIS_API int tamis_predict_classes(const tamis_model* model, const tamis_data* rows,
                                    const tamis_control* control, int32_t* positions, int64_t count,
                                    tamis_error** error);
/// Row after row, tamis_model_num_decision_columns() values each.
TAMIS_API int tamis_decision_values(const tamis_model* model, const tamis_data* rows,
                                    const tamis_control* control, double* values, int64_t count,
                                    tamis_error** error);
/// Row after row, tamis_model_num_classes() values each, in the order of the classes.
TAMIS_API int tamis_probabilities(const tamis_model* model, const tamis_data* rows,
                                  const tamis_control* control, double* values, int64_t count,
                                  tamis_error** error);

// Predicting a single row
//
// `features` are `num_features` values of a dense row. The work is done by the calling thread.

/// The label, if labels are numbers, or the value of a regression.
TAMIS_API int tamis_predict_row(const tamis_model* model, const float* features,
                                int64_t num_features, double* label, tamis_error** error);
/// The position of the class.
TAMIS_API int tamis_predict_class_row(const tamis_model* model, const float* features,
                                      int64_t num_features, int32_t* position, tamis_error** error);
/// tamis_model_num_decision_columns() values.
TAMIS_API int tamis_decision_values_row(const tamis_model* model, const float* features,
                                        int64_t num_features, double* values, int64_t count,
                                        tamis_error** error);
/// tamis_model_num_classes() values.
TAMIS_API int tamis_probabilities_row(const tamis_model* model, const float* features,
                                      int64_t num_features, double* values, int64_t count,
                                      tamis_error** error);

#ifdef __cplusplus
}
#endif

#endif
