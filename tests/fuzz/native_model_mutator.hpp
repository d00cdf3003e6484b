// Changes a model file in its parts - metadata, shapes, types, elements - and lays it out again, so
// that lengths and offsets are right and the change reaches what reads the parts.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <vector>

#include "mutation.hpp"

namespace tamis::fuzz {

class ModelFile {
 public:
  struct Array {
    std::string name;
    std::string dtype;
    std::vector<std::uint64_t> shape;
    std::string bytes;
  };

  /// Nothing, if the file is not well-formed.
  static std::optional<ModelFile> parse(const std::string& file) {
    std::uint64_t length = 0;
    if (file.size() < sizeof length) return {};
    std::memcpy(&length, file.data(), sizeof length);
    if (length > file.size() - sizeof length) return {};
    try {
      return ModelFile(nlohmann::json::parse(file.substr(sizeof length, length)),
                       file.substr(sizeof length + length));
    } catch (const std::exception&) {
      return {};
    }
  }

  /// Wide types first, as the format wants it.
  std::string text() {
    std::stable_sort(arrays.begin(), arrays.end(), [](const Array& a, const Array& b) {
      return item_bytes(a.dtype) > item_bytes(b.dtype);
    });
    nlohmann::json header{{"__metadata__", metadata}};
    std::string data;
    for (const Array& array : arrays) {
      header[array.name] = {{"dtype", array.dtype},
                            {"shape", array.shape},
                            {"data_offsets", {data.size(), data.size() + array.bytes.size()}}};
      data += array.bytes;
    }
    std::string text = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    text.resize((text.size() + 7) / 8 * 8, ' ');
    const std::uint64_t length = text.size();
    return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text + data;
  }

  static std::size_t item_bytes(const std::string& dtype) {
    return dtype.ends_with("64") ? 8 : dtype.ends_with("32") ? 4 : 1;
  }

  std::map<std::string, std::string> metadata;
  std::vector<Array> arrays;

 private:
  // Throws for other numbers, such as 4.6e19.
  static std::vector<std::uint64_t> whole_numbers(const nlohmann::json& list) {
    for (const nlohmann::json& number : list) {
      if (!number.is_number_unsigned()) throw std::out_of_range("not a whole number");
    }
    return list.get<std::vector<std::uint64_t>>();
  }

  ModelFile(const nlohmann::json& header, const std::string& data) {
    for (const auto& [name, entry] : header.items()) {
      if (name == "__metadata__") {
        metadata = entry.get<std::map<std::string, std::string>>();
        continue;
      }
      const auto offsets = whole_numbers(entry.at("data_offsets"));
      whole_numbers(entry.at("shape"));  // else the conversion below is undefined
      arrays.push_back({name, entry.at("dtype"), entry.at("shape"),
                        data.substr(offsets.at(0), offsets.at(1) - offsets.at(0))});
    }
  }
};

inline void change_metadata(ModelFile& model, Dice& dice) {
  if (model.metadata.empty()) return;
  auto entry = model.metadata.begin();
  std::advance(entry, static_cast<std::ptrdiff_t>(dice.below(model.metadata.size())));
  static constexpr const char* kValues[] = {
      "0",
      "1",
      "2",
      "3",
      "-1",
      "2147483647",
      "1e-300",
      "1e300",
      "nan",
      "",
      "one-vs-one",
      "one-vs-rest",
      "pair",
      "binary",
      "regression",
      "classification",
      "standard",
      "minmax",
      "quantile",
      "weighted",
      "none",
      "sigmoid",
      "isotonic",
      "knn",
      "knn-svm",
      "linear",
      "local-models",
      "kernel-expansion",
      "weighted-ensemble",
      "{\"type\":\"precomputed\",\"gamma\":1,\"coef0\":0,\"degree\":3}",
      "{\"type\":\"polynomial\",\"gamma\":1e-300,\"coef0\":-1e300,\"degree\":100}",
      "{\"type\":\"sigmoid\",\"gamma\":3,\"coef0\":-2,\"degree\":3}",
      "{\"squared_slacks\":true,\"tube\":0,\"eps\":1e-300,\"max_iterations\":0,\"seed\":1}",
      "{\"squared_slacks\":false,\"tube\":1e300,\"eps\":1e300,\"max_iterations\":1,\"seed\":0}"};
  switch (dice.below(4)) {
    case 0:
      model.metadata.erase(entry);
      return;
    case 1:
      // A digit of a number within: gamma, k, degree.
      for (char& c : entry->second) {
        if (c >= '0' && c <= '9' && dice.below(3) == 0) c = static_cast<char>('0' + dice.below(10));
      }
      return;
    default:
      entry->second = dice.pick(kValues);
  }
}

inline void change_element(ModelFile::Array& array, Dice& dice) {
  const std::size_t item = ModelFile::item_bytes(array.dtype);
  if (array.bytes.size() < item) return;
  const std::size_t at = dice.below(array.bytes.size() / item) * item;
  static constexpr std::int64_t kWhole[] = {0, 1,   2,       3,         4,        -1,
                                            7, 255, 1 << 20, INT32_MAX, INT64_MAX};
  static constexpr double kReal[] = {0, 1, -1, 0.5, 1e-300, 1e300, -1e38, 1e-40, INFINITY, NAN};
  const std::int64_t whole = dice.pick(kWhole);
  const double real = dice.pick(kReal);
  const auto narrow = static_cast<float>(std::clamp(real, -3e38, 3e38));
  const auto small = static_cast<std::int32_t>(std::min<std::int64_t>(whole, INT32_MAX));
  const std::uint64_t bits = dice.bits();
  const void* from = &bits;
  if (dice.below(4) != 0) {
    from = array.dtype == "F64"   ? static_cast<const void*>(&real)
           : array.dtype == "F32" ? static_cast<const void*>(&narrow)
           : array.dtype == "I32" ? static_cast<const void*>(&small)
                                  : static_cast<const void*>(&whole);
  }
  std::memcpy(array.bytes.data() + at, from, item);
}

// More or fewer elements along one dimension; new ones repeat the old.
inline void change_shape(ModelFile::Array& array, Dice& dice) {
  if (array.shape.empty()) return;
  std::uint64_t& size = array.shape[dice.below(array.shape.size())];
  size = dice.below(2) == 0 ? size + 1 : dice.below(std::min<std::uint64_t>(size, 63) + 1);
  std::uint64_t count = ModelFile::item_bytes(array.dtype);
  for (const std::uint64_t dimension : array.shape) count *= dimension;
  std::string repeated = array.bytes;
  while (!repeated.empty() && repeated.size() < count && count < 65536) repeated += array.bytes;
  repeated.resize(std::min<std::uint64_t>(count, 65536));
  array.bytes = repeated;
}

inline void change_array(ModelFile& model, Dice& dice) {
  if (model.arrays.empty()) return;
  static constexpr const char* kTypes[] = {"F64", "I64", "F32", "I32", "U8"};
  const std::size_t which = dice.below(model.arrays.size());
  ModelFile::Array& array = model.arrays[which];
  switch (dice.below(8)) {
    case 0:
      array.dtype = dice.pick(kTypes);
      return;
    case 1:
      array.bytes = dice.pick(model.arrays).bytes;
      return;
    case 2:
      model.arrays.erase(model.arrays.begin() + static_cast<std::ptrdiff_t>(which));
      return;
    case 3:
      change_shape(array, dice);
      return;
    default:
      change_element(array, dice);
  }
}

inline std::size_t mutate_native_model(std::uint8_t* data, std::size_t size, std::size_t most,
                                       unsigned int seed) {
  std::string file(reinterpret_cast<const char*>(data), size);
  std::optional<ModelFile> model = ModelFile::parse(file);
  if (!model) return size;
  Dice dice(seed);
  for (std::size_t changes = 1 + dice.below(3); changes > 0; --changes) {
    if (dice.below(3) == 0)
      change_metadata(*model, dice);
    else
      change_array(*model, dice);
  }
  return put(model->text(), data, most);
}

}  // namespace tamis::fuzz
