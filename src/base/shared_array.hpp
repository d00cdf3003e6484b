// An immutable array, cheap to copy: it owns its values, or shows some that another owner keeps
// alive (a mapped file).
#pragma once

#include <memory>
#include <span>
#include <vector>

namespace tamis {

template <typename T>
class SharedArray {
 public:
  SharedArray() = default;
  SharedArray(std::vector<T> values) {
    auto owned = std::make_shared<const std::vector<T>>(std::move(values));
    values_ = *owned;
    owner_ = std::move(owned);
  }
  SharedArray(std::span<const T> values, std::shared_ptr<const void> owner)
      : values_(values), owner_(std::move(owner)) {}

  std::span<const T> span() const { return values_; }
  std::int64_t size() const { return static_cast<std::int64_t>(values_.size()); }
  bool empty() const { return values_.empty(); }
  const T& operator[](std::int64_t i) const { return values_[static_cast<std::size_t>(i)]; }
  std::span<const T> range(std::int64_t begin, std::int64_t end) const {
    return values_.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  }

 private:
  std::span<const T> values_;
  std::shared_ptr<const void> owner_;
};

}  // namespace tamis
