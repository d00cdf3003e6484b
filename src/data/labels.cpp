#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <string_view>
#include <type_traits>
#include <unordered_map>

#include "base/check.hpp"
#include "base/mapped_file.hpp"
#include "base/utf8.hpp"
#include "tamis/dataset.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

std::string shortest_text(double value) {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, result.ptr};
}

template <typename T>
std::shared_ptr<const std::vector<T>> gather(const std::vector<T>& values,
                                             std::span<const Index> rows) {
  std::vector<T> chosen;
  chosen.reserve(rows.size());
  for (const Index r : rows) chosen.push_back(values[static_cast<std::size_t>(r)]);
  return std::make_shared<const std::vector<T>>(std::move(chosen));
}

// Tells the types of a view apart; the last two digits are the bytes of a number.
template <typename T>
constexpr int type_number() {
  return (std::is_floating_point_v<T> ? 100 : std::is_signed_v<T> ? 200 : 300) + int{sizeof(T)};
}

// Files of labels, models and reports hold UTF-8.
void require_utf8(const std::string& name) {
  for (std::size_t i = 0; i < name.size();) {
    const std::size_t length = utf8_length(std::string_view(name).substr(i));
    if (length == 0) {
      throw DataError(fmt::format("byte 0x{:02x} in a label is not UTF-8",
                                  static_cast<unsigned char>(name[i])));
    }
    i += length;
  }
}

// A whole number with all its digits, where name() writes 1e+16: labels of other files may be text,
// because one of them is too long for a double.
std::string whole_text(const Labels& labels, Index i) {
  if (labels.kind() != LabelKind::numeric) return labels.name(i);
  const double value = labels.number(i);
  return std::floor(value) == value ? fmt::format("{:.0f}", value) : labels.name(i);
}

}  // namespace

Labels Labels::numeric(std::vector<double> values) {
  auto owner = std::make_shared<const std::vector<double>>(std::move(values));
  const std::span<const double> view(*owner);
  return numeric_view(view, std::move(owner));
}

template <typename T>
Labels Labels::numeric_view(std::span<const T> values, std::shared_ptr<const void> owner) {
  Labels result;
  result.kind_ = LabelKind::numeric;
  if constexpr (std::is_same_v<T, double>) result.doubles_ = values.data();
  result.stored_ = values.data();
  result.stored_type_ = type_number<T>();
  result.count_ = static_cast<Index>(values.size());
  result.owner_ = std::move(owner);
  return result;
}

#define TAMIS_LABEL_VIEW(T)                                                \
  template TAMIS_EXPORT Labels Labels::numeric_view<T>(std::span<const T>, \
                                                       std::shared_ptr<const void>)
TAMIS_LABEL_VIEW(double);
TAMIS_LABEL_VIEW(float);
TAMIS_LABEL_VIEW(std::int64_t);
TAMIS_LABEL_VIEW(std::uint64_t);
TAMIS_LABEL_VIEW(std::int32_t);
TAMIS_LABEL_VIEW(std::uint32_t);
TAMIS_LABEL_VIEW(std::int16_t);
TAMIS_LABEL_VIEW(std::uint16_t);
TAMIS_LABEL_VIEW(std::int8_t);
TAMIS_LABEL_VIEW(std::uint8_t);
#undef TAMIS_LABEL_VIEW

double Labels::stored_number(Index i) const {
  const auto at = [&]<typename T>(T /*type*/) {
    return static_cast<double>(static_cast<const T*>(stored_)[i]);
  };
  switch (stored_type_) {
    case type_number<double>():
      return at(double{});
    case type_number<float>():
      return at(float{});
    case type_number<std::int64_t>():
      return at(std::int64_t{});
    case type_number<std::uint64_t>():
      return at(std::uint64_t{});
    case type_number<std::int32_t>():
      return at(std::int32_t{});
    case type_number<std::uint32_t>():
      return at(std::uint32_t{});
    case type_number<std::int16_t>():
      return at(std::int16_t{});
    case type_number<std::uint16_t>():
      return at(std::uint16_t{});
    case type_number<std::int8_t>():
      return at(std::int8_t{});
    default:
      return at(std::uint8_t{});
  }
}

void Labels::require_intact() const {
  if (file_) file_->require_intact();
}

Labels Labels::in_file(std::shared_ptr<const MappedFile> file) const {
  Labels result = *this;
  result.file_ = std::move(file);
  return result;
}

Labels Labels::text(const std::vector<std::string>& values) {
  std::vector<std::int32_t> codes;
  std::vector<std::string> names;
  std::unordered_map<std::string, std::int32_t> known;
  codes.reserve(values.size());
  for (const std::string& value : values) {
    const auto [entry, is_new] = known.emplace(value, static_cast<std::int32_t>(names.size()));
    if (is_new) names.push_back(value);
    codes.push_back(entry->second);
  }
  return text(std::move(codes), std::move(names));
}

Labels Labels::text(std::vector<std::int32_t> codes, std::vector<std::string> names) {
  for (const std::int32_t code : codes) {
    if (code < 0 || static_cast<std::size_t>(code) >= names.size())
      throw DataError("a label code has no name");
  }
  for (const std::string& name : names) require_utf8(name);
  Labels result;
  result.kind_ = LabelKind::text;
  result.codes_ = std::make_shared<const std::vector<std::int32_t>>(std::move(codes));
  result.names_ = std::make_shared<const std::vector<std::string>>(std::move(names));
  return result;
}

Index Labels::size() const {
  if (kind_ == LabelKind::none) return 0;
  return kind_ == LabelKind::numeric ? count_ : static_cast<Index>(codes_->size());
}

std::string Labels::name(Index i) const {
  if (kind_ == LabelKind::numeric) return shortest_text(number(i));
  return (*names_)[static_cast<std::size_t>((*codes_)[static_cast<std::size_t>(i)])];
}

Labels Labels::select(std::span<const Index> rows) const {
  if (kind_ == LabelKind::numeric) {
    std::vector<double> chosen;
    chosen.reserve(rows.size());
    for (const Index r : rows) chosen.push_back(number(r));
    require_intact();
    return numeric(std::move(chosen));
  }
  Labels result = *this;
  if (kind_ == LabelKind::text) result.codes_ = gather(*codes_, rows);
  return result;
}

Labels Labels::slice(Index begin, Index end) const {
  Labels result = *this;
  if (kind_ == LabelKind::none) return result;
  if (kind_ == LabelKind::text) {
    result.codes_ = std::make_shared<const std::vector<std::int32_t>>(codes_->begin() + begin,
                                                                      codes_->begin() + end);
    return result;
  }
  if (doubles_ != nullptr) result.doubles_ = doubles_ + begin;
  result.stored_ = static_cast<const char*>(stored_) + begin * (stored_type_ % 100);
  result.count_ = end - begin;
  return result;
}

bool Labels::operator==(const Labels& other) const {
  if (kind_ != other.kind_ || size() != other.size()) return false;
  for (Index i = 0; i < size(); ++i) {
    if (kind_ == LabelKind::numeric ? number(i) != other.number(i) : name(i) != other.name(i))
      return false;
  }
  return true;
}

Labels distinct_classes(const Labels& labels) {
  std::vector<Index> first_rows;  // one row of each class, classes ascending
  if (labels.kind() == LabelKind::numeric) {
    std::map<double, Index> seen;
    for (Index i = 0; i < labels.size(); ++i) {
      const double value = labels.number(i);
      if (!std::isfinite(value))
        throw DataError(fmt::format("the label of row {} is {}: it must be finite", i + 1, value));
      seen.emplace(value, i);
    }
    for (const auto& [value, row] : seen) first_rows.push_back(row);
  } else {
    std::map<std::string, Index> seen;
    for (Index i = 0; i < labels.size(); ++i) seen.emplace(labels.name(i), i);
    for (const auto& [value, row] : seen) first_rows.push_back(row);
  }
  if (first_rows.size() == 2) std::swap(first_rows[0], first_rows[1]);
  if (labels.kind() != LabelKind::text) return labels.select(first_rows);
  // With a table of their own: the one of the data is in the order of its rows.
  std::vector<std::string> names;
  names.reserve(first_rows.size());
  for (const Index row : first_rows) names.push_back(labels.name(row));
  return Labels::text(names);
}

Index find_class(const Labels& classes, std::string_view text) {
  double value = 0;
  const char* first = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(first, last, value);
  const bool by_value = classes.kind() == LabelKind::numeric && error == std::errc() && end == last;
  for (Index c = 0; c < classes.size(); ++c) {
    if (by_value ? classes.number(c) == value : classes.name(c) == text) return c;
  }
  return -1;
}

std::vector<std::int32_t> encode_labels(const Labels& labels, const Labels& classes) {
  std::vector<std::int32_t> codes(static_cast<std::size_t>(labels.size()), -1);
  if (labels.kind() == LabelKind::numeric && classes.kind() == LabelKind::numeric) {
    std::unordered_map<double, std::int32_t> position;
    for (Index c = 0; c < classes.size(); ++c)
      position.emplace(classes.number(c), static_cast<std::int32_t>(c));
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const auto found = position.find(labels.number(static_cast<Index>(i)));
      if (found != position.end()) codes[i] = found->second;
    }
    return codes;
  }
  std::unordered_map<std::string, std::int32_t> position;
  for (Index c = 0; c < classes.size(); ++c) {
    position.emplace(classes.name(c), static_cast<std::int32_t>(c));
    position.emplace(whole_text(classes, c), static_cast<std::int32_t>(c));
  }
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const auto row = static_cast<Index>(i);
    auto found = position.find(labels.name(row));
    if (found == position.end()) found = position.find(whole_text(labels, row));
    if (found != position.end()) codes[i] = found->second;
  }
  return codes;
}

}  // namespace tamis
