#include "io/tensor_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <utility>

#include "base/check.hpp"
#include "base/checked.hpp"
#include "io/flat_json.hpp"
#include "io/text_chunks.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

static_assert(std::endian::native == std::endian::little,
              "arrays are written as they lie in memory");

using nlohmann::json;

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMaxHeaderBytes = 100'000'000;
constexpr std::size_t kAlignment = 64;
constexpr int kMaxDepth = 4;  // {"name": {"shape": [..]}} has depth 3

struct DtypeInfo {
  std::string_view name;
  std::size_t bytes;
};
constexpr DtypeInfo kDtypes[] = {{"F64", 8}, {"I64", 8}, {"F32", 4}, {"I32", 4}, {"U8", 1}};

const DtypeInfo& info(Dtype dtype) { return kDtypes[static_cast<int>(dtype)]; }

Dtype parse_dtype(const json& value) {
  for (int i = 0; i < 5; ++i) {
    if (value == kDtypes[i].name) return static_cast<Dtype>(i);
  }
  throw DataError("an array has an unknown dtype: F64, I64, F32, I32 and U8 are known");
}

Index parse_size(const json& number, const std::string& key) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 62;
  if (!number.is_number_unsigned() || number.get<std::uint64_t>() > kLargest)
    throw DataError(fmt::format("'{}' has {}: it must be a whole number from 0 to 2^62", key,
                                quote_text(number.dump())));
  return static_cast<Index>(number.get<std::uint64_t>());
}

// What the header says of one array.
struct Entry {
  Dtype dtype = Dtype::u8;
  std::vector<Index> shape;
  std::vector<Index> offsets;
  bool has_dtype = false;
  bool has_shape = false;
  bool has_offsets = false;

  void require_complete() const {
    if (!has_dtype) parse_dtype(json());
    for (const auto& [has, key] : {std::pair(has_shape, "shape"), {has_offsets, "data_offsets"}}) {
      if (!has) throw DataError(fmt::format("an array in the header has no list '{}'", key));
    }
  }
};

// {"__metadata__": {"key": "text"}, "name": {"dtype": "F32", "shape": [..], "data_offsets": [..]}}
class HeaderReader final : public JsonEvents {
 public:
  std::map<std::string, std::string> metadata;
  std::map<std::string, Entry> entries;

  bool scalar(const json& value) override {
    if (depth_ == 0) return false;
    if (depth_ == 1) fail_name();
    if (depth_ == 2 && in_metadata_) set_metadata(value);
    if (depth_ == 2 && !in_metadata_) set_field(value);
    if (list_ != nullptr) list_->push_back(parse_size(value, key_));
    return true;
  }
  bool key(std::string& name) override {
    (depth_ == 1 ? name_ : key_) = name;
    return true;
  }
  bool start_object(std::size_t /*size*/) override {
    enter();
    if (depth_ != 2) return true;
    in_metadata_ = name_ == "__metadata__";
    entry_ = {};
    return true;
  }
  bool end_object() override {
    if (depth_ == 2 && !in_metadata_) {
      entry_.require_complete();
      entries[name_] = std::move(entry_);
    }
    --depth_;
    return true;
  }
  bool start_array(std::size_t /*size*/) override {
    if (depth_ == 0) return false;
    if (depth_ == 1) fail_name();
    enter();
    if (depth_ != 3 || (key_ != "shape" && key_ != "data_offsets")) return true;
    const bool is_shape = key_ == "shape";
    (is_shape ? entry_.has_shape : entry_.has_offsets) = true;
    list_ = is_shape ? &entry_.shape : &entry_.offsets;
    list_->clear();
    return true;
  }
  bool end_array() override {
    list_ = nullptr;
    --depth_;
    return true;
  }

 private:
  [[noreturn]] void fail_name() const {
    throw DataError(fmt::format("'{}' in the header is not a JSON object", name_));
  }

  void enter() {
    if (depth_ == 2 && in_metadata_) set_metadata(json());
    if (list_ != nullptr) parse_size(json(), key_);
    if (++depth_ > kMaxDepth) throw DataError("the header is nested too deeply");
  }

  void set_metadata(const json& value) {
    if (!value.is_string())
      throw DataError(fmt::format("'{}' in the metadata is not a string", key_));
    metadata[key_] = value.get<std::string>();
  }

  void set_field(const json& value) {
    if (key_ != "dtype") return;
    entry_.dtype = parse_dtype(value);
    entry_.has_dtype = true;
  }

  int depth_ = 0;
  bool in_metadata_ = false;
  std::string name_;  // of the entry
  std::string key_;   // in the entry
  Entry entry_;
  std::vector<Index>* list_ = nullptr;  // being read
};

HeaderReader parse_header_text(std::string_view text, const std::string& kind) {
  HeaderReader reader;
  if (!json::sax_parse(text.begin(), text.end(), &reader))
    throw DataError(fmt::format("the header of the {} file is not a JSON object", kind));
  return reader;
}

std::string object_text(const std::map<std::string, std::string>& members) {
  std::string text = "{";
  for (const auto& [name, value] : members) {
    if (text.size() > 1) text.push_back(',');
    text.append(json_text(name)).append(":").append(value);
  }
  text.push_back('}');
  return text;
}

std::size_t padded(std::size_t size) {
  return static_cast<std::size_t>(round_up(static_cast<Index>(size), kAlignment));
}

}  // namespace

void TensorWriter::add_bytes(const std::string& name, Dtype dtype, const std::vector<Index>& shape,
                             std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  Index product = 1;
  for (const Index size : shape) product = checked_product(product, size);
  TAMIS_CHECK(static_cast<std::size_t>(product) * info(dtype).bytes == bytes.size());
  arrays_.push_back({name, dtype, shape, bytes, std::move(owner), {}});
}

void TensorWriter::add_written(const std::string& name, Dtype dtype, Index count,
                               std::function<void()> write) {
  arrays_.push_back({name, dtype, {count}, {}, nullptr, std::move(write)});
}

void TensorWriter::write(ByteSink& out) const {
  // Wide types first: without gaps between the arrays, that keeps each aligned to its own type.
  std::vector<const Array*> order;
  for (const Array& array : arrays_) order.push_back(&array);
  std::stable_sort(order.begin(), order.end(),
                   [](const Array* a, const Array* b) { return a->dtype < b->dtype; });
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : metadata_) metadata[key] = json_text(value);
  std::map<std::string, std::string> header{{"__metadata__", object_text(metadata)}};
  std::size_t offset = 0;
  for (const Array* array : order) {
    std::size_t end = offset + array->bytes.size();
    if (array->write) end += usize(checked_product(array->shape[0], info(array->dtype).bytes));
    const bool is_new =
        header
            .emplace(array->name,
                     fmt::format(R"({{"data_offsets":[{},{}],"dtype":"{}","shape":[{}]}})", offset,
                                 end, info(array->dtype).name, fmt::join(array->shape, ",")))
            .second;
    TAMIS_CHECK(is_new);
    offset = end;
  }
  std::string text = object_text(header);
  text.resize(padded(kLengthBytes + text.size()) - kLengthBytes, ' ');
  const std::uint64_t length = text.size();
  out.write(&length, sizeof length);
  out.write(text);
  for (const Array* array : order) {
    if (array->write)
      array->write();
    else
      out.write(array->bytes.data(), array->bytes.size());
  }
}

TensorFile::TensorFile(InputBytes input, std::string kind)
    : input_(std::move(input)), kind_(std::move(kind)) {
  const std::string_view bytes = input_.bytes;
  std::uint64_t length = 0;
  if (bytes.size() < kLengthBytes + 2)
    throw DataError(fmt::format("not a {} file: too short", kind_));
  std::memcpy(&length, bytes.data(), sizeof length);
  const bool is_plausible = length <= kMaxHeaderBytes && bytes[kLengthBytes] == '{';
  if (!is_plausible)
    throw DataError(fmt::format("not a {} file: {}", kind_,
                                kind_ == "model" ? "neither tamis's format nor LIBSVM text"
                                                 : "it does not begin with a header"));
  if (length > bytes.size() - kLengthBytes)
    throw DataError(fmt::format("the {} file is cut short", kind_));
  const std::size_t data_begin = kLengthBytes + static_cast<std::size_t>(length);
  parse_header(bytes.substr(kLengthBytes, static_cast<std::size_t>(length)), data_begin);
  check_layout(data_begin);
}

void TensorFile::parse_header(std::string_view text, std::size_t data_begin) {
  HeaderReader header = parse_header_text(text, kind_);
  metadata_ = std::move(header.metadata);
  for (auto& [name, entry] : header.entries) {
    Array array;
    array.dtype = entry.dtype;
    array.shape = std::move(entry.shape);
    const std::vector<Index>& offsets = entry.offsets;
    Index bytes = static_cast<Index>(info(array.dtype).bytes);
    for (const Index size : array.shape) {
      // Rows without columns take no bytes, but readers keep something for each.
      if (usize(size) > input_.bytes.size())
        throw DataError(fmt::format("array '{}' has a dimension of {} in a file of {} bytes", name,
                                    size, input_.bytes.size()));
      bytes = checked_product(bytes, size);
    }
    if (offsets.size() != 2 || offsets[1] < offsets[0] || offsets[1] - offsets[0] != bytes)
      throw DataError(fmt::format("array '{}' has data_offsets that do not fit its shape", name));
    array.begin = data_begin + static_cast<std::size_t>(offsets[0]);
    array.size = static_cast<std::size_t>(bytes);
    arrays_[name] = std::move(array);
  }
}

// The arrays fill the rest of the file one after the other, each aligned to its type.
void TensorFile::check_layout(std::size_t data_begin) const {
  std::vector<const Array*> order;
  for (const auto& [name, array] : arrays_) order.push_back(&array);
  std::sort(order.begin(), order.end(), [](const Array* a, const Array* b) {
    return std::pair(a->begin, a->size) < std::pair(b->begin, b->size);
  });
  std::size_t end = data_begin;
  for (const Array* array : order) {
    if (array->begin != end)
      throw DataError(fmt::format("the arrays of the {} file overlap or leave a gap", kind_));
    if (array->begin % info(array->dtype).bytes != 0) throw DataError("an array is not aligned");
    end += array->size;
  }
  if (end > input_.bytes.size()) throw DataError(fmt::format("the {} file is cut short", kind_));
  if (end < input_.bytes.size())
    throw DataError(fmt::format("the {} file has bytes after its last array", kind_));
}

const std::string& TensorFile::metadata(const std::string& key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) throw DataError(fmt::format("the metadata have no '{}'", key));
  return found->second;
}

const TensorFile::Array& TensorFile::find(const std::string& name, Dtype dtype,
                                          std::size_t dimensions) const {
  const auto found = arrays_.find(name);
  if (found == arrays_.end()) throw DataError(fmt::format("the {} has no array '{}'", kind_, name));
  const Array& array = found->second;
  if (array.dtype != dtype || array.shape.size() != dimensions) {
    throw DataError(fmt::format("array '{}' has {} of {}: it must have {} of {}", name,
                                counted(array.shape.size(), "dimension"), info(array.dtype).name,
                                dimensions, info(dtype).name));
  }
  return array;
}

void add_matrix(TensorWriter& writer, const std::string& name, const Matrix& matrix) {
  if (!matrix.is_sparse()) {
    writer.add(name, {matrix.rows(), matrix.cols()}, matrix.dense_values());
    return;
  }
  std::vector<Index> row_begin{0};
  for (Index i = 0; i < matrix.rows(); ++i)
    row_begin.push_back(row_begin.back() + static_cast<Index>(matrix.sparse_row(i).values.size()));
  const Index stored = matrix.num_stored();
  const auto count = static_cast<std::size_t>(stored);
  const SparseRow first = matrix.rows() > 0 ? matrix.sparse_row(0) : SparseRow();
  writer.add(name + ".row_begin", {matrix.rows() + 1}, std::move(row_begin));
  writer.add(name + ".columns", {stored}, std::span(first.columns.data(), count));
  writer.add(name + ".values", {stored}, std::span(first.values.data(), count));
}

Matrix get_matrix(const TensorFile& file, const std::string& name, Index cols) {
  if (!file.has(name)) {
    const auto row_begin = file.get<Index>(name + ".row_begin", 1);
    const auto columns = file.get<std::int32_t>(name + ".columns", 1);
    const auto values = file.get<float>(name + ".values", 1);
    return Matrix::sparse_view(cols, row_begin.values, columns.values, values.values, file.owner());
  }
  const auto tensor = file.get<float>(name, 2);
  if (tensor.shape[1] != cols)
    throw DataError(fmt::format("'{}' has {}, but 'columns' in the metadata is {}", name,
                                counted(tensor.shape[1], "column"), cols));
  return Matrix::dense_view(tensor.shape[0], cols, tensor.values.data(), file.owner());
}

void add_words(TensorWriter& writer, const std::string& ends_name, const std::string& bytes_name,
               const std::vector<std::string>& words) {
  std::vector<std::uint8_t> bytes;
  std::vector<Index> ends;
  for (const std::string& word : words) {
    bytes.insert(bytes.end(), word.begin(), word.end());
    ends.push_back(std::ssize(bytes));
  }
  const Index size = std::ssize(bytes);
  writer.add(ends_name, {std::ssize(words)}, std::move(ends));
  writer.add(bytes_name, {size}, std::move(bytes));
}

std::vector<std::string> get_words(const TensorFile& file, const std::string& ends_name,
                                   const std::string& bytes_name) {
  const auto ends = file.get<Index>(ends_name, 1).values;
  const auto bytes = file.get<std::uint8_t>(bytes_name, 1).values;
  std::vector<std::string> words;
  Index begin = 0;
  for (const Index end : ends) {
    if (end < begin || end > static_cast<Index>(bytes.size()))
      throw DataError(
          fmt::format("'{}' has {}: it must ascend from 0 to {}", ends_name, end, bytes.size()));
    words.emplace_back(bytes.begin() + begin, bytes.begin() + end);
    begin = end;
  }
  return words;
}

}  // namespace tamis
