#include <fmt/format.h>

#include <cmath>

#include "c/handles.hpp"
#include "tamis/predict.hpp"

namespace tamis::c {
namespace {

Index classes_of(const tamis_model* model) {
  return model == nullptr ? 0 : std::ssize(model->class_names);
}

ModelFormat parse_model_format(std::string_view name) {
  if (name == "native") return ModelFormat::native;
  if (name == "libsvm") return ModelFormat::libsvm;
  throw InvalidArgument(fmt::format("the format is '{}': it must be native or libsvm", name));
}

}  // namespace
}  // namespace tamis::c

using tamis::c::guarded;
using tamis::c::made;
using tamis::c::required;

tamis_model::tamis_model(tamis::Model of) : model(std::move(of)), description(model.describe()) {
  for (tamis::Index c = 0; c < model.classes().size(); ++c)
    class_names.push_back(model.classes().name(c));
}

const std::vector<std::string>& tamis_model::decision_columns() const {
  std::call_once(columns_made_, [&] {
    decision_columns_ = tamis::decision_values(model, tamis::Matrix()).columns;
  });
  return decision_columns_;
}

extern "C" {

tamis_model* tamis_model_load(const char* path, const tamis_control* control, tamis_error** error) {
  return made(error, [&] {
    return new tamis_model(
        tamis::load_model(&required(path, "path"), tamis::c::run_control(control)));
  });
}

int tamis_model_save(const tamis_model* model, const char* path, const char* format,
                     tamis_error** error) {
  return guarded(error, [&] {
    tamis::save_model(required(model, "model").model, &required(path, "path"),
                      tamis::c::parse_model_format(format == nullptr ? "native" : format));
  });
}

void tamis_model_free(tamis_model* model) { delete model; }

int tamis_model_is_regression(const tamis_model* model) {
  return model != nullptr && model->model.task() == tamis::Task::regression ? 1 : 0;
}

int tamis_model_has_probabilities(const tamis_model* model) {
  return model != nullptr && model->model.has_probabilities() ? 1 : 0;
}

int64_t tamis_model_num_features(const tamis_model* model) {
  return model == nullptr ? 0 : model->model.num_features();
}

int64_t tamis_model_num_support_vectors(const tamis_model* model) {
  return model == nullptr ? 0 : model->model.num_support_vectors();
}

int64_t tamis_model_num_classes(const tamis_model* model) { return tamis::c::classes_of(model); }

const char* tamis_model_class_name(const tamis_model* model, int64_t position) {
  if (position < 0 || position >= tamis::c::classes_of(model)) return nullptr;
  return model->class_names[static_cast<std::size_t>(position)].c_str();
}

double tamis_model_class_number(const tamis_model* model, int64_t position) {
  if (position < 0 || position >= tamis::c::classes_of(model) ||
      model->model.classes().kind() != tamis::LabelKind::numeric)
    return std::nan("");
  return model->model.classes().number(position);
}

int64_t tamis_model_num_decision_columns(const tamis_model* model) {
  int64_t count = 0;
  if (model != nullptr) guarded(nullptr, [&] { count = std::ssize(model->decision_columns()); });
  return count;
}

const char* tamis_model_decision_column(const tamis_model* model, int64_t column) {
  if (column < 0 || column >= tamis_model_num_decision_columns(model)) return nullptr;
  return model->decision_columns()[static_cast<std::size_t>(column)].c_str();
}

const char* tamis_model_method(const tamis_model* model) {
  return model == nullptr ? "" : model->model.method().c_str();
}

const char* tamis_model_description(const tamis_model* model) {
  return model == nullptr ? "" : model->description.c_str();
}

}  // extern "C"
