// What a training reads.
#pragma once

#include <string>

#include "session.hpp"
#include "tamis/io.hpp"
#include "tamis/options.hpp"

namespace tamis::cli {

/// Words as labels of classes; missing values and text columns where the training deals with them.
inline void allow_what_is_trained_on(const TrainOptions& options, ReadOptions* read) {
  read->text_labels = options.task == Task::classification;
  read->missing_values = options.missing == MissingValues::impute;
  read->text_columns = options.text_columns == TextColumns::one_hot;
}

/// Labeled test rows for a model trained on `rows` with these options: their columns are matched.
Dataset read_test_rows(Session& session, const std::string& path, ReadOptions read,
                       const Dataset& rows, const TrainOptions& options);

/// "standard input" for "-".
std::string display_name(const std::string& path);

}  // namespace tamis::cli
