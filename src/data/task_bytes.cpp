#include "data/task_bytes.hpp"

#include "tamis/error.hpp"

namespace tamis {
namespace {

std::span<const std::byte> after_tag(std::string_view bytes, std::string_view tag) {
  TaskPolicy::require(bytes.starts_with(tag));
  return std::as_bytes(std::span(bytes)).subspan(tag.size());
}

}  // namespace

void TaskWriter::put_rows(const Matrix& rows) {
  put(rows.rows());
  put(rows.cols());
  put(static_cast<std::uint8_t>(rows.is_sparse()));
  if (!rows.is_sparse()) {
    put_list(rows.dense_values());
    return;
  }
  put_list(rows.row_offsets());
  put_list(rows.sparse_columns());
  put_list(rows.sparse_values());
}

void TaskPolicy::fail() {
  throw DataError(
      "a task for a worker is damaged, or the worker has another version of tamis than the "
      "process that trains: install the same on all computers");
}

TaskReader::TaskReader(std::string_view bytes, std::string_view tag)
    : ByteReader(after_tag(bytes, tag)) {}

std::string TaskReader::get_text() {
  const std::vector<char> text = get_list<char>();
  return {text.begin(), text.end()};
}

std::string_view TaskReader::rest() const {
  const auto bytes = ByteReader::rest();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Matrix TaskReader::get_rows() {
  const auto rows = get<Index>();
  const auto cols = get<Index>();
  if (get<std::uint8_t>() == 0) {
    auto values = get_list<float>();
    if (rows < 0 || cols < 0) fail();
    return Matrix::dense(rows, cols, std::move(values));
  }
  auto begins = get_list<Index>();
  if (std::ssize(begins) != rows + 1) fail();
  auto columns = get_list<std::int32_t>();
  return Matrix::sparse(cols, std::move(begins), std::move(columns), get_list<float>());
}

}  // namespace tamis
