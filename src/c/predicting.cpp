#include <algorithm>

#include "c/handles.hpp"
#include "tamis/predict.hpp"

namespace tamis::c {
namespace {

// Labels that are words have no place in an array of numbers.
void require_numbers(const Model& model) {
  if (model.task() == Task::classification && model.classes().kind() != LabelKind::numeric)
    throw InvalidArgument("the labels of this model are words: predict positions of classes");
}

void write_labels(const Model& model, const Matrix& rows, const RunControl& control,
                  double* labels) {
  require_numbers(model);
  if (model.task() == Task::regression) {
    std::ranges::copy(decision_values(model, rows, control).values, labels);
    return;
  }
  for (const std::int32_t position : predict_codes(model, rows, control))
    *labels++ = model.classes().number(position);
}

Matrix single_row(const float* features, Index num_features) {
  if (num_features < 0) throw InvalidArgument("the number of features is negative");
  if (num_features > 0) required(features, "features");
  return Matrix::dense_view(1, num_features, features, nullptr);
}

// Where there is nothing to write, there need be no room.
template <typename Value>
Value* room_for(Value* values, Index count, const char* name) {
  if (count > 0) required(values, name);
  return values;
}

// On the calling thread: to wake another takes longer than a row.
RunControl on_this_thread() {
  RunControl control;
  control.threads = 1;
  return control;
}

void write_values(const tamis_model& model, const Matrix& rows, const RunControl& control,
                  double* values, Index count) {
  require_count("value", count, rows.rows() * std::ssize(model.decision_columns()));
  double* const room = room_for(values, count, "values");
  std::ranges::copy(decision_values(model.model, rows, control).values, room);
}

void write_probabilities(const tamis_model& model, const Matrix& rows, const RunControl& control,
                         double* values, Index count) {
  require_count("value", count, rows.rows() * std::ssize(model.class_names));
  double* const room = room_for(values, count, "values");
  std::ranges::copy(probabilities(model.model, rows, control).values, room);
}

}  // namespace
}  // namespace tamis::c

using tamis::c::guarded;
using tamis::c::required;

extern "C" {

int tamis_predict(const tamis_model* model, const tamis_data* rows, const tamis_control* control,
                  double* labels, int64_t count, tamis_error** error) {
  return guarded(error, [&] {
    const tamis::Model& of = required(model, "model").model;
    const tamis::Matrix& features = required(rows, "rows").rows.features();
    tamis::c::require_count("label", count, features.rows());
    double* const room = tamis::c::room_for(labels, count, "labels");
    tamis::c::write_labels(of, features, tamis::c::run_control(control), room);
  });
}

int tamis_predict_classes(const tamis_model* model, const tamis_data* rows,
                          const tamis_control* control, int32_t* positions, int64_t count,
                          tamis_error** error) {
  return guarded(error, [&] {
    const tamis::Model& of = required(model, "model").model;
    const tamis::Matrix& features = required(rows, "rows").rows.features();
    tamis::c::require_count("position", count, features.rows());
    int32_t* const room = tamis::c::room_for(positions, count, "positions");
    std::ranges::copy(tamis::predict_codes(of, features, tamis::c::run_control(control)), room);
  });
}

int tamis_decision_values(const tamis_model* model, const tamis_data* rows,
                          const tamis_control* control, double* values, int64_t count,
                          tamis_error** error) {
  return guarded(error, [&] {
    tamis::c::write_values(required(model, "model"), required(rows, "rows").rows.features(),
                           tamis::c::run_control(control), values, count);
  });
}

int tamis_probabilities(const tamis_model* model, const tamis_data* rows,
                        const tamis_control* control, double* values, int64_t count,
                        tamis_error** error) {
  return guarded(error, [&] {
    tamis::c::write_probabilities(required(model, "model"), required(rows, "rows").rows.features(),
                                  tamis::c::run_control(control), values, count);
  });
}

int tamis_predict_row(const tamis_model* model, const float* features, int64_t num_features,
                      double* label, tamis_error** error) {
  return guarded(error, [&] {
    tamis::c::write_labels(required(model, "model").model,
                           tamis::c::single_row(features, num_features), tamis::c::on_this_thread(),
                           &required(label, "label"));
  });
}

int tamis_predict_class_row(const tamis_model* model, const float* features, int64_t num_features,
                            int32_t* position, tamis_error** error) {
  return guarded(error, [&] {
    required(position, "position") = tamis::predict_codes(
        required(model, "model").model, tamis::c::single_row(features, num_features),
        tamis::c::on_this_thread())[0];
  });
}

int tamis_decision_values_row(const tamis_model* model, const float* features, int64_t num_features,
                              double* values, int64_t count, tamis_error** error) {
  return guarded(error, [&] {
    tamis::c::write_values(required(model, "model"), tamis::c::single_row(features, num_features),
                           tamis::c::on_this_thread(), values, count);
  });
}

int tamis_probabilities_row(const tamis_model* model, const float* features, int64_t num_features,
                            double* values, int64_t count, tamis_error** error) {
  return guarded(error, [&] {
    tamis::c::write_probabilities(required(model, "model"),
                                  tamis::c::single_row(features, num_features),
                                  tamis::c::on_this_thread(), values, count);
  });
}

}  // extern "C"
