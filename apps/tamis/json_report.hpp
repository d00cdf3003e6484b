// The trees of JSON reports. nlohmann's library crashes when memory runs out while a null value
// becomes a list or an object (up to 3.11.2: its destructor follows a null pointer), so each is
// made as what it is going to be.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tamis::cli {

using Json = nlohmann::ordered_json;

/// The list of this name in an object, made if there is none.
inline Json& list_in(Json& object, const std::string& name) {
  return object.emplace(name, Json::array()).first.value();
}

/// The object of this name in an object, made if there is none.
inline Json& object_in(Json& object, const std::string& name) {
  return object.emplace(name, Json::object()).first.value();
}

}  // namespace tamis::cli
