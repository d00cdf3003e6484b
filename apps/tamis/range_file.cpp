#include "range_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "json_report.hpp"
#include "tamis/error.hpp"
#include "tamis/io.hpp"

namespace tamis::cli {
namespace {

constexpr const char* kFormat = "tamis-ranges";

// Others are refused before they become an Index: a cast of a number out of range is undefined.
std::vector<Index> whole_numbers(const nlohmann::json& values) {
  for (const nlohmann::json& value : values) {
    if (!value.is_number_integer()) throw DataError("'knot_begin' must have whole numbers");
  }
  return values.get<std::vector<Index>>();
}

Scaling from_json(const nlohmann::json& json) {
  if (json.at("format") != kFormat || json.at("format_version") != 1)
    throw DataError("of another format or version");
  Scaling scaling;
  scaling.method = parse_scaling_method(json.at("method").get<std::string>());
  scaling.lower = json.at("lower").get<float>();
  scaling.offset = json.at("offset").get<std::vector<float>>();
  scaling.factor = json.at("factor").get<std::vector<float>>();
  if (scaling.method == ScalingMethod::quantile) {
    scaling.knots.begin = whole_numbers(json.at("knot_begin"));
    scaling.knots.values = json.at("knots").get<std::vector<float>>();
    scaling.knots.scores = json.at("scores").get<std::vector<float>>();
  }
  if (scaling.offset.empty() || scaling.is_identity()) throw DataError("the scaling is empty");
  scaling.validate();
  return scaling;
}

}  // namespace

void save_ranges(const std::string& path, const Scaling& scaling, const RunControl& control) {
  Json json = Json::object();
  json["format"] = kFormat;
  json["format_version"] = 1;
  json["method"] = scaling_name(scaling.method);
  json["lower"] = scaling.lower;
  json["offset"] = scaling.offset;
  json["factor"] = scaling.factor;
  if (scaling.method == ScalingMethod::quantile) {
    json["knot_begin"] = scaling.knots.begin;
    json["knots"] = scaling.knots.values;
    json["scores"] = scaling.knots.scores;
  }
  write_text(path, json.dump(1) + "\n", control);
}

Scaling load_ranges(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw IoError(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  try {
    return from_json(nlohmann::json::parse(in));
  } catch (const nlohmann::json::exception&) {
    throw DataError(fmt::format("{} is not a range file of tamis scale", path));
  } catch (const Error& error) {
    throw DataError(fmt::format("{} is not a range file of tamis scale: {}", path, error.what()));
  }
}

}  // namespace tamis::cli
