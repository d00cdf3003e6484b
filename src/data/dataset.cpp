#include "tamis/dataset.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {

Dataset::Dataset(Matrix features, Labels labels, std::vector<double> weights,
                 std::vector<std::string> feature_names)
    : features_(std::move(features)), labels_(std::move(labels)) {
  if (labels_.kind() != LabelKind::none && labels_.size() != rows()) {
    throw DataError(
        fmt::format("{} but {}", counted(rows(), "row"), counted(labels_.size(), "label")));
  }
  if (!weights.empty() && static_cast<Index>(weights.size()) != rows()) {
    throw DataError(
        fmt::format("{} but {}", counted(rows(), "row"), counted(weights.size(), "weight")));
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (std::isfinite(weights[i]) && weights[i] >= 0) continue;
    throw DataError(fmt::format(
        "the weight of row {} is {}: weights must be finite and not negative", i + 1, weights[i]));
  }
  if (!feature_names.empty() && static_cast<Index>(feature_names.size()) != cols()) {
    throw DataError(fmt::format("{} but {}", counted(cols(), "column"),
                                counted(feature_names.size(), "feature name")));
  }
  if (!weights.empty()) weights_ = std::make_shared<const std::vector<double>>(std::move(weights));
  if (!feature_names.empty())
    names_ = std::make_shared<const std::vector<std::string>>(std::move(feature_names));
}

void Dataset::require_intact() const {
  features_.require_intact();
  labels_.require_intact();
}

Dataset Dataset::select(std::span<const Index> rows) const {
  Dataset result = *this;
  result.features_ = features_.select(rows);
  result.labels_ = labels_.select(rows);
  if (weights_) {
    std::vector<double> chosen;
    chosen.reserve(rows.size());
    for (const Index r : rows) chosen.push_back(weight(r));
    result.weights_ = std::make_shared<const std::vector<double>>(std::move(chosen));
  }
  return result;
}

Dataset Dataset::slice(Index begin, Index end) const {
  Dataset result = *this;
  result.features_ = features_.slice(begin, end);
  result.labels_ = labels_.slice(begin, end);
  if (weights_)
    result.weights_ = std::make_shared<const std::vector<double>>(weights_->begin() + begin,
                                                                  weights_->begin() + end);
  return result;
}

Dataset Dataset::with_features(Matrix features) const {
  if (features.rows() != rows())
    throw DataError(fmt::format("{} replaced by {}", counted(rows(), "row"), features.rows()));
  Dataset result = *this;
  if (features.cols() != cols()) {
    result.names_ = nullptr;
    result.categories_ = nullptr;
  }
  result.features_ = std::move(features);
  return result;
}

Dataset Dataset::with_categories(std::vector<std::vector<std::string>> categories) const {
  if (static_cast<Index>(categories.size()) != cols())
    throw DataError(
        fmt::format("{} but {}", counted(cols(), "column"),
                    counted(categories.size(), "list of categories", "lists of categories")));
  Dataset result = *this;
  result.categories_ =
      std::make_shared<const std::vector<std::vector<std::string>>>(std::move(categories));
  return result;
}

}  // namespace tamis
