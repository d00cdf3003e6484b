#include "selection/mapped_training.hpp"

#include <fmt/format.h>

#include "base/group.hpp"
#include "data/column_matching.hpp"
#include "model/model_parts.hpp"
#include "tamis/text.hpp"
#include "training/prepare.hpp"

namespace tamis {
namespace {

// For people.
std::string describe(const ColumnMap& columns) {
  Index width = 0;
  for (const ColumnMap::Text& text : columns.texts) width += text.width();
  std::string line = fmt::format("columns: {}", counted(columns.inputs, "column"));
  if (!columns.texts.empty())
    line += fmt::format(", {} as {}", counted(columns.texts.size(), "text column"),
                        counted(width, "one-hot column"));
  if (!columns.fills.empty())
    line += columns.indicators.empty() ? std::string(", no missing values")
                                       : fmt::format(", {} with missing values imputed",
                                                     counted(columns.indicators.size(), "column"));
  return fmt::format("{}; trained on {}", line, counted(columns.outputs(), "column"));
}

}  // namespace

ColumnMap learn_columns(const Dataset& data, const TrainOptions& options,
                        const RunControl& control) {
  if (options.kernel_or_default() == KernelType::precomputed) return {};
  Group& group = group_of(control);
  // A process would learn them from its own rows.
  if (group.size() > 1 &&
      (options.missing != MissingValues::refuse || options.text_columns != TextColumns::refuse))
    throw InvalidArgument("missing values and text columns do not run on several processes");
  std::vector<Index> kept;
  return ColumnMap::fit(without_weightless_rows(data, &kept, control),
                        {options.missing, options.text_columns, options.max_categories}, control);
}

Dataset mapped(const ColumnMap& columns, const Dataset& data, const RunControl& control) {
  if (columns.is_identity()) return data;
  return Dataset(columns.apply(match_columns(columns, data, control).features(), control),
                 data.labels(), {data.weights().begin(), data.weights().end()});
}

TrainResult train_mapped(const Dataset& data, const TrainOptions& options,
                         const RunControl& control,
                         const std::function<TrainResult(const Dataset&)>& train_on) {
  ColumnMap columns = learn_columns(data, options, control);
  if (columns.inputs == 0) return train_on(data);
  std::string line;
  if (!columns.is_identity()) {
    line = describe(columns);
    if (control.on_remark) control.on_remark(line);
  }
  TrainResult result = train_on(mapped(columns, data, control));
  if (!line.empty()) result.report.remarks.insert(result.report.remarks.begin(), line);
  result.report.features = columns.inputs;
  result.model = with_columns(result.model, std::move(columns));
  return result;
}

}  // namespace tamis
