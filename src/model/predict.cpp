#include "tamis/predict.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "data/column_matching.hpp"
#include "model/decision.hpp"
#include "model/model_parts.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr Index kScaledValues = Index{4} << 20;  // scaled at a time: 16 MiB of float

// Calls work(rows, first row, control) with all rows, mapped, fitted to the machine and scaled.
// Such rows are made a block at a time, so that they never take much memory.
template <typename Work>
void with_scaled_rows(const Model& model, const Matrix& features, const RunControl& control,
                      const Work& work) {
  const bool is_mapped = !model.columns().is_identity();
  const Matrix fitted = is_mapped ? features.with_cols(model.columns().inputs)
                                  : machine_rows(model, features, control);
  if (!is_mapped && model.scaling().is_identity()) {
    work(fitted, 0, control);
    features.require_intact();
    require_intact(model);
    return;
  }
  const Index cols = std::max<Index>(1, machine_of(model).num_features());
  const Index step = std::max<Index>(64, kScaledValues / cols);
  for (Index begin = 0; begin < fitted.rows(); begin += step) {
    const Matrix given = fitted.slice(begin, std::min(begin + step, fitted.rows()));
    const double done = static_cast<double>(begin) / static_cast<double>(fitted.rows());
    const double share = static_cast<double>(given.rows()) / static_cast<double>(fitted.rows());
    RunControl part = control;
    if (control.on_progress) {
      part.on_progress = [&control, done, share](Progress progress) {
        progress.done_fraction = done + share * progress.done_fraction;
        progress.left_seconds = -1;
        control.on_progress(progress);
      };
    }
    Matrix block = is_mapped ? machine_rows(model, given, quiet(control)) : given;
    if (!model.scaling().is_identity()) block = model.scaling().apply(block, quiet(control));
    work(block.numbered_as(given), begin, part);
    features.require_intact();
  }
  require_intact(model);
}

void require_machine(const Model& model) {
  if (model.empty()) throw InvalidArgument("the model is empty: train or load one first");
}

void require_classes(const Model& model) {
  require_machine(model);
  if (model.task() == Task::regression)
    throw InvalidArgument("the model is a regression: it predicts numbers, not classes");
}

void require_values_of(const Model& model, const DecisionValues& values) {
  if (values.columns != machine_of(model).decision_columns(model.classes()))
    throw InvalidArgument("the decision values have other columns than those of the model");
}

// A model of many classes, or of long names, has far more columns than its file has bytes.
void require_values_memory(const Model& model, Index rows, const RunControl& control) {
  constexpr Index kAlways = Index{16} << 20;  // not worth asking for
  const Labels& classes = model.classes();
  const Index columns = machine_of(model).decision_shape().columns;
  Index name_bytes = 0;
  for (Index c = 0; c < classes.size(); ++c)
    name_bytes += static_cast<Index>(classes.name(c).size());
  // Each class is named in its pairs, or once.
  const Index named = columns > classes.size() ? classes.size() : 1;
  const Index bytes =
      checked_sum(checked_product(columns, static_cast<Index>(sizeof(std::string)) +
                                               checked_product(rows, Index{sizeof(double)})),
                  checked_product(name_bytes, named));
  if (bytes > kAlways)
    require_memory("a table of decision values", bytes, memory_left(control.memory_bytes));
}

// A single row is one task, and is done in less time than it takes to ask for all threads.
int threads_for(const Matrix& features, const RunControl& control) {
  return features.rows() == 1 && control.threads == 0 ? 1 : control.threads;
}

Labels labels_of(const Model& model, const std::vector<std::int32_t>& codes) {
  return model.classes().select(std::vector<Index>(codes.begin(), codes.end()));
}

}  // namespace

Matrix machine_rows(const Model& model, const Matrix& features, const RunControl& control) {
  if (!model.columns().is_identity())
    return machine_of(model).fit_columns(model.columns().apply(features, control));
  require_finite(features);
  return machine_of(model).fit_columns(features);
}

Dataset rows_for(const Model& model, const Dataset& data, const RunControl& control) {
  return match_columns(model.columns(), data, control);
}

Labels predict(const Model& model, const Dataset& data, const RunControl& control) {
  return predict(model, rows_for(model, data, control).features(), control);
}

Labels predict(const Model& model, const Matrix& features, const RunControl& control) {
  require_machine(model);
  if (model.task() == Task::regression)
    return Labels::numeric(decision_values(model, features, control).values);
  return labels_of(model, predict_codes(model, features, control));
}

// Not by way of the decision values, which take memory for every machine.
std::vector<std::int32_t> predict_codes(const Model& model, const Matrix& features,
                                        const RunControl& control) {
  require_classes(model);
  std::vector<std::int32_t> codes(usize(features.rows()), 0);
  if (model.classes().size() <= 1) return codes;
  with_threads(threads_for(features, control), [&] {
    with_scaled_rows(model, features, control,
                     [&](const Matrix& rows, Index begin, const RunControl& part) {
                       machine_of(model).classify(
                           rows, std::span(codes).subspan(usize(begin), usize(rows.rows())), part);
                     });
  });
  return codes;
}

Labels predict(const Model& model, const DecisionValues& values, const RunControl& control) {
  require_machine(model);
  if (model.task() != Task::regression)
    return labels_of(model, predict_codes(model, values, control));
  require_values_of(model, values);
  return Labels::numeric(values.values);
}

std::vector<std::int32_t> predict_codes(const Model& model, const DecisionValues& values,
                                        const RunControl& control) {
  require_classes(model);
  require_values_of(model, values);
  std::vector<std::int32_t> codes(usize(values.rows), 0);
  if (model.classes().size() <= 1) return codes;
  const Decision decision = machine_of(model).decision_shape().used();
  with_threads(control.threads, [&] {
    parallel_ranges(values.rows, 1024, [&](Index begin, Index end) {
      std::vector<std::int32_t> votes(usize(num_voters(decision, values.cols)));
      for (Index i = begin; i < end; ++i) {
        codes[usize(i)] = winning_class(
            decision, std::span(values.values).subspan(usize(i * values.cols), usize(values.cols)),
            votes);
      }
    });
  });
  return codes;
}

DecisionValues decision_values(const Model& model, const Matrix& features,
                               const RunControl& control) {
  require_machine(model);
  require_values_memory(model, features.rows(), control);
  DecisionValues result;
  result.columns = machine_of(model).decision_columns(model.classes());
  result.rows = features.rows();
  result.cols = static_cast<Index>(result.columns.size());
  result.values.resize(usize(checked_product(result.rows, result.cols)));
  with_threads(threads_for(features, control), [&] {
    with_scaled_rows(
        model, features, control, [&](const Matrix& rows, Index begin, const RunControl& part) {
          machine_of(model).decision_values(
              rows,
              std::span(result.values)
                  .subspan(usize(begin * result.cols), usize(rows.rows() * result.cols)),
              part);
        });
  });
  return result;
}

}  // namespace tamis
