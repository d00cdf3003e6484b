#include "training/file_survey.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "data/stack_rows.hpp"
#include "io/text_chunks.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

constexpr Index kMostSampleBytes = Index{1} << 27;

}  // namespace

void FileSurvey::add(const Dataset& block) {
  const Labels& labels = block.labels();
  if (labels.kind() == LabelKind::none) throw DataError("the data has no labels to learn");
  if (rows_ > 0 && labels.kind() != kind_)
    throw DataError("some labels are numbers and some are words: read labels as text");
  kind_ = labels.kind();
  const Labels known = distinct_classes(labels);
  std::vector<Index> slots;
  for (Index c = 0; c < known.size(); ++c) {
    const auto [entry, is_new] =
        slot_of_.emplace(known.name(c), static_cast<Index>(slot_rows_.size()));
    if (is_new) {
      slot_rows_.push_back(0);
      if (kind_ == LabelKind::numeric) numbers_.push_back(known.number(c));
    }
    slots.push_back(entry->second);
  }
  std::vector<Index> slot_of_row;
  for (const std::int32_t code : encode_labels(labels, known)) {
    slot_of_row.push_back(slots[usize(code)]);
    ++slot_rows_[usize(slots[usize(code)])];
  }
  const Matrix& features = block.features();
  for (const float v : features.is_sparse() ? features.sparse_values() : features.dense_values()) {
    stored_ += v != 0.0F ? 1 : 0;
    sum_ += static_cast<double>(v);
    squares_ += static_cast<double>(v) * static_cast<double>(v);
  }
  rows_ += block.rows();
  cols_ = std::max(cols_, block.cols());
  add_to_sample(features, slot_of_row);
}

void FileSurvey::add_to_sample(const Matrix& features, std::span<const Index> slots) {
  std::vector<Index> drawn;
  for (Index i = 0; i < features.rows(); ++i) {
    const double key = random_.uniform();
    if (key >= largest_key_) continue;
    drawn.push_back(i);
    keys_.push_back(key);
    sample_slots_.push_back(slots[usize(i)]);
  }
  if (drawn.empty()) return;
  sample_.push_back(features.select(drawn));
  sample_bytes_ += sample_.back().size_bytes();
  if (sample_bytes_ > 2 * kMostSampleBytes)
    most_sampled_ = std::min(most_sampled_, static_cast<Index>(keys_.size()) / 2);
  if (static_cast<Index>(keys_.size()) > 2 * most_sampled_) thin_sample();
}

void FileSurvey::thin_sample() {
  std::vector<double> ordered = keys_;
  const auto cut = ordered.begin() + most_sampled_;
  std::nth_element(ordered.begin(), cut, ordered.end());
  largest_key_ = *cut;
  std::size_t at = 0;  // of all rows, as they were
  std::size_t left = 0;
  sample_bytes_ = 0;
  for (Matrix& part : sample_) {
    std::vector<Index> kept;
    for (Index row = 0; row < part.rows(); ++row, ++at) {
      if (keys_[at] >= largest_key_) continue;
      keys_[left] = keys_[at];
      sample_slots_[left++] = sample_slots_[at];
      kept.push_back(row);
    }
    part = part.select(kept);
    sample_bytes_ += part.size_bytes();
  }
  std::erase_if(sample_, [](const Matrix& part) { return part.rows() == 0; });
  keys_.resize(left);
  sample_slots_.resize(left);
}

Labels FileSurvey::classes() const {
  if (kind_ == LabelKind::numeric) return distinct_classes(Labels::numeric(numbers_));
  std::vector<std::string> names;
  for (const auto& [name, slot] : slot_of_) names.push_back(name);
  return distinct_classes(Labels::text(names));
}

std::vector<Index> FileSurvey::class_rows() const {
  const Labels names = classes();
  std::vector<Index> result;
  for (Index c = 0; c < names.size(); ++c)
    result.push_back(slot_rows_[usize(slot_of_.at(names.name(c)))]);
  return result;
}

double FileSurvey::scale_gamma() const {
  const double cells = static_cast<double>(rows_) * static_cast<double>(cols_);
  const double variance = squares_ / cells - sum_ / cells * (sum_ / cells);
  const double gamma = 1 / (static_cast<double>(cols_) * variance);
  return std::isfinite(gamma) && gamma > 0 ? gamma : 1;
}

bool FileSurvey::is_dense() const { return store_dense(rows_, cols_, stored_); }

TrainingSet FileSurvey::take_sample() {
  if (static_cast<Index>(keys_.size()) > most_sampled_) thin_sample();
  for (Matrix& part : sample_) {
    part = part.with_cols(cols_);
    part = is_dense() ? part.to_dense() : part.to_sparse();
  }
  TrainingSet set;
  set.features = stack_rows(sample_);
  sample_.clear();
  set.classes = classes();
  set.num_classes = set.classes.size();
  std::vector<std::int32_t> class_of_slot(slot_rows_.size());
  for (Index c = 0; c < set.num_classes; ++c)
    class_of_slot[usize(slot_of_.at(set.classes.name(c)))] = static_cast<std::int32_t>(c);
  for (const Index slot : sample_slots_) set.codes.push_back(class_of_slot[usize(slot)]);
  set.cost.assign(set.codes.size(), 1.0);
  return set;
}

}  // namespace tamis
