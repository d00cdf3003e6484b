#include <fmt/format.h>

#include <cmath>

#include "c/handles.hpp"
#include "tamis/expansion.hpp"
#include "tamis/predict.hpp"
#include "tamis/text.hpp"

namespace tamis::c {
namespace {

void require_shape(Index rows, Index cols) {
  if (rows < 0 || cols < 0)
    throw InvalidArgument(
        fmt::format("the shape is {} x {}: rows and columns must be 0 or more", rows, cols));
}

void require_values(const void* values, Index count, const char* name) {
  if (values == nullptr && count > 0) throw InvalidArgument(fmt::format("{} is NULL", name));
}

void require_per_row(const tamis_data& data, const char* what, Index count) {
  if (count != data.rows.rows())
    throw InvalidArgument(fmt::format("there are {} for {}: give one per row", counted(count, what),
                                      counted(data.rows.rows(), "row")));
}

// The same rows and columns with other labels and weights.
Dataset rebuilt(const Dataset& data, Labels labels, std::vector<double> weights) {
  const auto names = data.feature_names();
  const auto categories = data.categories();
  const Dataset made(data.features(), std::move(labels), std::move(weights),
                     {names.begin(), names.end()});
  return categories.empty() ? made : made.with_categories({categories.begin(), categories.end()});
}

Dataset relabeled(const Dataset& data, Labels labels) {
  return rebuilt(data, std::move(labels), {data.weights().begin(), data.weights().end()});
}

bool takes_any_columns(const Model& model) {
  const ExpansionParts* parts = expansion_parts(model);
  return parts != nullptr && (parts->any_columns || parts->kernel.type == KernelType::precomputed);
}

ReadOptions reading(const tamis_options* options, const tamis_model* model) {
  ReadOptions read = options == nullptr ? ReadOptions() : options->read;
  if (options != nullptr) {
    read.text_labels = options->train.task == Task::classification;
    read.missing_values = options->train.missing == MissingValues::impute;
    read.text_columns = options->train.text_columns == TextColumns::one_hot;
  }
  if (model != nullptr) {
    const Model& of = model->model;
    read.text_labels = of.task() == Task::classification;
    read.min_features = of.num_features();
    if (!takes_any_columns(of)) read.max_features = of.num_features();
    read.columns = of.columns();
  }
  return read;
}

}  // namespace
}  // namespace tamis::c

using tamis::c::guarded;
using tamis::c::made;
using tamis::c::required;

extern "C" {

tamis_data* tamis_data_dense(const float* values, int64_t rows, int64_t cols, tamis_error** error) {
  return made(error, [&] {
    tamis::c::require_shape(rows, cols);
    tamis::c::require_values(values, rows > 0 ? cols : 0, "values");
    return new tamis_data{tamis::Dataset(tamis::Matrix::dense_view(rows, cols, values, nullptr))};
  });
}

tamis_data* tamis_data_csr(const int64_t* row_begin, const int32_t* columns, const float* values,
                           int64_t rows, int64_t cols, tamis_error** error) {
  return made(error, [&] {
    tamis::c::require_shape(rows, cols);
    required(row_begin, "row_begin");
    const auto offsets = std::span(row_begin, static_cast<std::size_t>(rows) + 1);
    if (offsets.front() != 0 || offsets.back() < 0)
      throw tamis::DataError(
          fmt::format("row_begin goes from {} to {}: it must begin with 0 and never fall",
                      offsets.front(), offsets.back()));
    const auto stored = static_cast<std::size_t>(offsets.back());
    tamis::c::require_values(columns, offsets.back(), "columns");
    tamis::c::require_values(values, offsets.back(), "values");
    return new tamis_data{tamis::Dataset(tamis::Matrix::sparse_view(
        cols, offsets, std::span(columns, stored), std::span(values, stored), nullptr))};
  });
}

tamis_data* tamis_data_read(const char* path, const tamis_options* options,
                            const tamis_model* model, const tamis_control* control,
                            tamis_error** error) {
  return made(error, [&] {
    const tamis::RunControl run = tamis::c::run_control(control);
    const tamis::Dataset data =
        tamis::read_dataset(&required(path, "path"), tamis::c::reading(options, model), run);
    return new tamis_data{model == nullptr ? data : tamis::rows_for(model->model, data, run)};
  });
}

void tamis_data_free(tamis_data* data) { delete data; }

int tamis_data_set_labels(tamis_data* data, const double* labels, int64_t count,
                          tamis_error** error) {
  return guarded(error, [&] {
    tamis_data& all = required(data, "data");
    tamis::c::require_per_row(all, "label", count);
    tamis::c::require_values(labels, count, "labels");
    all.rows = tamis::c::relabeled(
        all.rows, tamis::Labels::numeric(std::vector<double>(labels, labels + count)));
  });
}

int tamis_data_set_text_labels(tamis_data* data, const char* const* labels, int64_t count,
                               tamis_error** error) {
  return guarded(error, [&] {
    tamis_data& all = required(data, "data");
    tamis::c::require_per_row(all, "label", count);
    tamis::c::require_values(static_cast<const void*>(labels), count, "labels");
    std::vector<std::string> texts;
    for (int64_t i = 0; i < count; ++i) {
      if (labels[i] == nullptr) throw tamis::InvalidArgument(fmt::format("label {} is NULL", i));
      texts.emplace_back(labels[i]);
    }
    all.rows = tamis::c::relabeled(all.rows, tamis::Labels::text(texts));
  });
}

int tamis_data_set_weights(tamis_data* data, const double* weights, int64_t count,
                           tamis_error** error) {
  return guarded(error, [&] {
    tamis_data& all = required(data, "data");
    tamis::c::require_per_row(all, "weight", count);
    tamis::c::require_values(weights, count, "weights");
    all.rows = tamis::c::rebuilt(all.rows, all.rows.labels(),
                                 std::vector<double>(weights, weights + count));
  });
}

int64_t tamis_data_rows(const tamis_data* data) { return data == nullptr ? 0 : data->rows.rows(); }

int64_t tamis_data_cols(const tamis_data* data) { return data == nullptr ? 0 : data->rows.cols(); }

double tamis_data_label(const tamis_data* data, int64_t row) {
  if (data == nullptr || data->rows.labels().kind() != tamis::LabelKind::numeric || row < 0 ||
      row >= data->rows.rows())
    return std::nan("");
  return data->rows.labels().number(row);
}

}  // extern "C"
