#include "optimizer/model/service_json.h"

#include <array>
#include <string>
#include <utility>

#include "optimizer/model/parameter_json.h"

namespace stripline::model {
namespace {

constexpr std::array kScales = {std::pair(DistanceScale::switches, std::string_view("switches")),
                                std::pair(DistanceScale::numbers, std::string_view("numbers"))};

}  // namespace

std::string_view to_string(DistanceScale scale) {
  return kScales.at(static_cast<size_t>(scale)).second;
}

std::optional<DistanceScale> distance_scale_from(std::string_view name) {
  for (const auto& [scale, text] : kScales) {
    if (text == name) return scale;
  }
  return std::nullopt;
}

namespace detail {
namespace {

using std::string;

Json levels_to_json(const std::vector<ServiceLevel>& levels) {
  Json json = Json::array();
  for (const ServiceLevel& level : levels) {
    json.push_back({{"nodes", level.nodes},
                    {"distance", level.distance},
                    {"bytes", level.bytes},
                    {"best", parameter_to_json(level.best, kRatioRule)},
                    {"worst", parameter_to_json(level.worst, kRatioRule)}});
  }
  return json;
}

Result<ServiceLevel> read_level(const Json& json, const string& where) {
  STRIPLINE_RETURN_IF_ERROR(
      only_known(json, where, {"nodes", "distance", "bytes", "best", "worst"}));
  ServiceLevel level;
  STRIPLINE_ASSIGN_OR_RETURN(level.nodes, read_count32(json, "nodes", where));
  STRIPLINE_ASSIGN_OR_RETURN(level.distance, read_count32(json, "distance", where));
  STRIPLINE_ASSIGN_OR_RETURN(level.bytes, read_count(json, "bytes", where, kMaxBytes));
  for (const auto& [key, parameter] :
       {std::pair("best", &level.best), std::pair("worst", &level.worst)}) {
    STRIPLINE_ASSIGN_OR_RETURN(const Json* object, get_object(json, key, where));
    STRIPLINE_ASSIGN_OR_RETURN(*parameter, read_parameter(*object, where + "." + key, kRatioRule));
  }
  return level;
}

Status read_levels(const Json& section, const char* key, std::vector<ServiceLevel>& out) {
  const auto json = section.find(key);
  if (json == section.end()) return {};
  const string where = string("service_levels.") + key;
  if (!json->is_array()) return damaged(where + ": expected an array");
  for (size_t i = 0; i < json->size(); ++i) {
    STRIPLINE_ASSIGN_OR_RETURN(ServiceLevel level,
                               read_level((*json)[i], where + "[" + std::to_string(i) + "]"));
    out.push_back(std::move(level));
  }
  return {};
}

}  // namespace

Json service_to_json(const ServiceModel& service) {
  Json json = {{"distance", to_string(service.scale)}};
  if (!service.get.empty()) json["get"] = levels_to_json(service.get);
  if (!service.put.empty()) json["put"] = levels_to_json(service.put);
  return json;
}

Status read_service(const Json& document, std::optional<ServiceModel>& out) {
  const auto section = document.find("service_levels");
  if (section == document.end()) return {};
  const string where = "service_levels";
  STRIPLINE_RETURN_IF_ERROR(only_known(*section, where, {"distance", "get", "put"}));
  STRIPLINE_ASSIGN_OR_RETURN(const string name, get_string(*section, "distance", where));
  const auto scale = distance_scale_from(name);
  if (!scale) return damaged(where + ".distance: '" + name + "' is neither switches nor numbers");
  ServiceModel service;
  service.scale = *scale;
  STRIPLINE_RETURN_IF_ERROR(read_levels(*section, "get", service.get));
  STRIPLINE_RETURN_IF_ERROR(read_levels(*section, "put", service.put));
  out = std::move(service);
  return {};
}

}  // namespace detail
}  // namespace stripline::model
