#include "io/flat_json.hpp"

namespace tamis {
namespace {

using nlohmann::json;

class FlatReader final : public JsonEvents {
 public:
  std::map<std::string, json> values;

  bool scalar(const json& value) override {
    if (depth_ == 1) values[key_] = value;
    return depth_ > 0;
  }
  bool key(std::string& name) override {
    if (depth_ == 1) key_ = name;
    return true;
  }
  bool start_object(std::size_t /*size*/) override { return ++depth_ > 0; }
  bool end_object() override { return --depth_ >= 0; }
  // A list outside an object ends it at once.
  bool start_array(std::size_t /*size*/) override { return depth_ > 0 && ++depth_ > 0; }
  bool end_array() override { return --depth_ >= 0; }

 private:
  int depth_ = 0;
  std::string key_;
};

}  // namespace

std::map<std::string, json> parse_flat_json(const std::string& text) {
  FlatReader reader;
  if (!json::sax_parse(text, &reader)) return {};
  return std::move(reader.values);
}

std::string json_text(const std::string& text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace tamis
