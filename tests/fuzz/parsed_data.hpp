// What came out of a reader, in a form that can be compared.
#pragma once

#include <cmath>
#include <string>

#include "base/parallel.hpp"
#include "fuzz_input.hpp"
#include "io/data_formats.hpp"
#include "tamis/error.hpp"

namespace tamis::fuzz {

inline RunControl reading_control() {
  RunControl control;
  control.memory_bytes = std::int64_t{64} << 20;
  return control;
}

inline ParseInput as_source(std::string_view bytes) { return {"input", {bytes, nullptr, 0}}; }

inline std::string features_text(const Matrix& features, bool may_be_missing = false) {
  std::string text;
  const auto values = features.is_sparse() ? features.sparse_values() : features.dense_values();
  for (const float value : values) {
    require(std::isfinite(value) || (may_be_missing && std::isnan(value)),
            "a reader let a value pass that is not finite");
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  if (!features.is_sparse()) return text;
  for (const std::int32_t column : features.sparse_columns()) {
    require(column >= 0 && column < features.cols(), "a column is out of range");
    text.append(reinterpret_cast<const char*>(&column), sizeof column);
  }
  return text;
}

/// Everything that a data set holds.
inline std::string data_text(const Dataset& data, bool may_be_missing = false) {
  require(data.rows() > 0, "a reader returned no rows");
  std::string text = std::to_string(data.rows()) + "x" + std::to_string(data.cols()) + " ";
  text += features_text(data.features(), may_be_missing);
  for (const auto& categories : data.categories()) {
    for (const std::string& name : categories) text += name + "\n";
  }
  require(data.labels().empty() || data.labels().size() == data.rows(), "a label for each row");
  for (Index i = 0; i < data.labels().size(); ++i) text += data.labels().name(i) + "\n";
  for (const double weight : data.weights()) text += std::to_string(weight) + "\n";
  for (const std::string& name : data.feature_names()) text += name + "\n";
  return text;
}

/// The data set, or the error, of `parse` on two threads.
template <typename Parse>
std::string outcome(const Parse& parse, bool may_be_missing = false) {
  try {
    return data_text(with_threads(2, parse), may_be_missing);
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace tamis::fuzz
