#include "data/row_messages.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/checked.hpp"
#include "data/stack_rows.hpp"

namespace tamis {
namespace {

template <typename T>
void append(std::span<const T> values, Group::Message* message) {
  const auto bytes = std::as_bytes(values);
  message->insert(message->end(), bytes.begin(), bytes.end());
}

template <typename T>
std::vector<T> take(std::size_t count, std::span<const std::byte>* bytes) {
  std::vector<T> values(count);
  if (count > 0) std::memcpy(values.data(), bytes->data(), count * sizeof(T));
  *bytes = bytes->subspan(count * sizeof(T));
  return values;
}

}  // namespace

// Dense: the values. Sparse: the number of rows, where each begins, columns, values.
Group::Message pack_rows(const Matrix& matrix, std::span<const Index> rows) {
  Group::Message message;
  if (!matrix.is_sparse()) {
    message.reserve(rows.size() * usize(matrix.cols()) * sizeof(float));
    for (const Index row : rows) append(matrix.dense_row(row), &message);
    return message;
  }
  std::vector<Index> begins{static_cast<Index>(rows.size()), 0};
  for (const Index row : rows)
    begins.push_back(begins.back() + static_cast<Index>(matrix.sparse_row(row).values.size()));
  append(std::span<const Index>(begins), &message);
  for (const Index row : rows) append(matrix.sparse_row(row).columns, &message);
  for (const Index row : rows) append(matrix.sparse_row(row).values, &message);
  return message;
}

Matrix unpack_rows(Group::Message message, const Matrix& like) {
  if (!like.is_sparse()) {
    const Index values = static_cast<Index>(message.size() / sizeof(float));
    const auto owner = std::make_shared<const Group::Message>(std::move(message));
    return Matrix::dense_view(values / std::max<Index>(1, like.cols()), like.cols(),
                              reinterpret_cast<const float*>(owner->data()), owner);
  }
  std::span<const std::byte> left(message);
  const auto rows = usize(take<Index>(1, &left)[0]);
  auto begins = take<Index>(rows + 1, &left);
  auto columns = take<std::int32_t>(usize(begins.back()), &left);
  auto values = take<float>(usize(begins.back()), &left);
  return Matrix::sparse(like.cols(), std::move(begins), std::move(columns), std::move(values));
}

Matrix unpack_all(std::vector<Group::Message> messages, const Matrix& like) {
  std::vector<Matrix> parts;
  parts.reserve(messages.size());
  for (Group::Message& message : messages) parts.push_back(unpack_rows(std::move(message), like));
  return stack_rows(parts);
}

Matrix interleave_rows(std::span<const Matrix> parts, std::span<const std::int32_t> part_of_row) {
  std::vector<Index> next(parts.size(), 0);
  const Index cols = parts[0].cols();
  std::vector<float> values;
  if (!parts[0].is_sparse()) {
    values.reserve(part_of_row.size() * usize(cols));
    for (const std::int32_t part : part_of_row) {
      const auto row = parts[usize(part)].dense_row(next[usize(part)]++);
      values.insert(values.end(), row.begin(), row.end());
    }
    return Matrix::dense(static_cast<Index>(part_of_row.size()), cols, std::move(values));
  }
  std::vector<Index> begins{0};
  std::vector<std::int32_t> columns;
  for (const std::int32_t part : part_of_row) {
    const SparseRow row = parts[usize(part)].sparse_row(next[usize(part)]++);
    columns.insert(columns.end(), row.columns.begin(), row.columns.end());
    values.insert(values.end(), row.values.begin(), row.values.end());
    begins.push_back(static_cast<Index>(values.size()));
  }
  return Matrix::sparse(cols, std::move(begins), std::move(columns), std::move(values));
}

}  // namespace tamis
