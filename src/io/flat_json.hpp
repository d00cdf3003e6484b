// JSON without trees. The destructor of a nlohmann::json that holds other values asks for memory,
// and ends the process when there is none; numbers and strings alone do not.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace tamis {

/// Callbacks of a parser that take nothing; a reader overrides what it looks at. All return whether
/// to go on.
struct JsonEvents {
  using json = nlohmann::json;
  virtual ~JsonEvents() = default;
  virtual bool scalar(const json& value) = 0;
  virtual bool key(std::string& name) = 0;
  virtual bool start_object(std::size_t size) = 0;
  virtual bool end_object() = 0;
  virtual bool start_array(std::size_t size) = 0;
  virtual bool end_array() = 0;

  bool null() { return scalar(json()); }
  bool boolean(bool value) { return scalar(json(value)); }
  bool number_integer(json::number_integer_t value) { return scalar(json(value)); }
  bool number_unsigned(json::number_unsigned_t value) { return scalar(json(value)); }
  bool number_float(json::number_float_t value, const std::string& /*text*/) {
    return scalar(json(value));
  }
  bool string(std::string& value) { return scalar(json(value)); }
  bool binary(json::binary_t& /*value*/) { return false; }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const json::exception& /*error*/) {
    return false;
  }
};

/// The numbers, strings and truth values of a JSON object. Those that are lists or objects
/// themselves are passed over; text that is no object has none.
std::map<std::string, nlohmann::json> parse_flat_json(const std::string& text);

/// The text of a string, with quotes. Bytes that are not UTF-8 are replaced.
std::string json_text(const std::string& text);

}  // namespace tamis
