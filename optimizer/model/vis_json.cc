#include "optimizer/model/vis_json.h"

#include <utility>

#include "optimizer/model/parameter_json.h"

namespace stripline::model::detail {
namespace {

using std::string;

constexpr std::pair<const char*, std::vector<VisResidual> VisResiduals::*> kFootprints[] = {
    {"compact", &VisResiduals::compact}, {"spread", &VisResiduals::spread}};

constexpr std::pair<const char*, std::vector<PackPoint> PackModel::*> kCurves[] = {
    {"pack", &PackModel::pack}, {"unpack", &PackModel::unpack}};

constexpr std::pair<const char*, std::optional<VisDirection> VisModel::*> kDirections[] = {
    {"put", &VisModel::put}, {"get", &VisModel::get}};

Json curve_to_json(const std::vector<PackPoint>& points) {
  Json json = Json::array();
  for (const PackPoint& point : points) {
    json.push_back({{"span_bytes", point.span_bytes},
                    {"region_s", parameter_to_json(point.region_s, kSecondsRule)},
                    {"s_per_byte", parameter_to_json(point.s_per_byte, kSecondsPerByteRule)}});
  }
  return json;
}

// What was not measured is not written.
Json class_to_json(const VisMethodResiduals& methods) {
  Json json = Json::object();
  for (const auto& [method, residuals] : kResidualsOfMethod) {
    for (const auto& [footprint, cells] : kFootprints) {
      for (const VisResidual& cell : methods.*residuals.*cells) {
        json[method][footprint].push_back({{"region_bytes", cell.region_bytes},
                                           {"regions", cell.regions},
                                           {"ratio", parameter_to_json(cell.ratio, kRatioRule)}});
      }
    }
  }
  return json;
}

Json direction_to_json(const VisDirection& vis) {
  Json json = Json::object();
  if (vis.chunk_bytes) json["chunk_bytes"] = *vis.chunk_bytes;
  if (vis.window) json["window"] = *vis.window;
  if (vis.pipelined_window) json["pipelined_window"] = *vis.pipelined_window;
  put_parameter(json, "iov_piece_s", vis.iov_piece_s, kSecondsRule);
  put_parameter(json, "light_delay_s", vis.light_delay_s, kSecondsRule);
  put_parameter(json, "heavy_delay_s", vis.heavy_delay_s, kSecondsRule);
  for (const auto& [name, member] : kResidualsOfClass) {
    Json methods = class_to_json(vis.*member);
    if (!methods.empty()) json[name] = std::move(methods);
  }
  return json;
}

Result<const Json*> optional_array(const Json& object, const char* key, const string& where) {
  const auto it = object.find(key);
  if (it == object.end()) return nullptr;
  if (!it->is_array()) return damaged(where + ": expected an array");
  return &*it;
}

Status read_curve(const Json& pack, const char* key, std::vector<PackPoint>& out) {
  const string where = string("pack.") + key;
  STRIPLINE_ASSIGN_OR_RETURN(const Json* points, optional_array(pack, key, where));
  if (points == nullptr) return {};
  for (size_t i = 0; i < points->size(); ++i) {
    const Json& json = (*points)[i];
    const string element = where + "[" + std::to_string(i) + "]";
    STRIPLINE_RETURN_IF_ERROR(only_known(json, element, {"span_bytes", "region_s", "s_per_byte"}));
    PackPoint point;
    STRIPLINE_ASSIGN_OR_RETURN(point.span_bytes,
                               read_count(json, "span_bytes", element, kMaxBytes));
    STRIPLINE_ASSIGN_OR_RETURN(const Json* region, get_object(json, "region_s", element));
    STRIPLINE_ASSIGN_OR_RETURN(point.region_s,
                               read_parameter(*region, element + ".region_s", kSecondsRule));
    STRIPLINE_ASSIGN_OR_RETURN(const Json* byte, get_object(json, "s_per_byte", element));
    STRIPLINE_ASSIGN_OR_RETURN(point.s_per_byte,
                               read_parameter(*byte, element + ".s_per_byte", kSecondsPerByteRule));
    out.push_back(std::move(point));
  }
  return {};
}

Status read_cells(const Json& footprints, const char* key, const string& where_method,
                  std::vector<VisResidual>& out) {
  const string where = where_method + "." + key;
  STRIPLINE_ASSIGN_OR_RETURN(const Json* cells, optional_array(footprints, key, where));
  if (cells == nullptr) return {};
  for (size_t i = 0; i < cells->size(); ++i) {
    const Json& json = (*cells)[i];
    const string element = where + "[" + std::to_string(i) + "]";
    STRIPLINE_RETURN_IF_ERROR(only_known(json, element, {"region_bytes", "regions", "ratio"}));
    VisResidual cell;
    STRIPLINE_ASSIGN_OR_RETURN(cell.region_bytes,
                               read_count(json, "region_bytes", element, kMaxBytes));
    STRIPLINE_ASSIGN_OR_RETURN(cell.regions, read_count(json, "regions", element, kMaxBytes));
    STRIPLINE_ASSIGN_OR_RETURN(const Json* ratio, get_object(json, "ratio", element));
    STRIPLINE_ASSIGN_OR_RETURN(cell.ratio, read_parameter(*ratio, element + ".ratio", kRatioRule));
    out.push_back(std::move(cell));
  }
  return {};
}

Status read_class(const Json& direction, const char* key, const string& where_direction,
                  VisMethodResiduals& out) {
  const auto it = direction.find(key);
  if (it == direction.end()) return {};
  const string where = where_direction + "." + key;
  STRIPLINE_RETURN_IF_ERROR(
      only_known(*it, where, {"pipelined", "native_iov", "bounding_box", "packed"}));
  for (const auto& [method, residuals] : kResidualsOfMethod) {
    const auto found = it->find(method);
    if (found == it->end()) continue;
    const string where_method = where + "." + method;
    STRIPLINE_RETURN_IF_ERROR(only_known(*found, where_method, {"compact", "spread"}));
    for (const auto& [footprint, cells] : kFootprints) {
      STRIPLINE_RETURN_IF_ERROR(read_cells(*found, footprint, where_method, out.*residuals.*cells));
    }
  }
  return {};
}

Status read_direction(const Json& json, const string& where, VisDirection& out) {
  STRIPLINE_RETURN_IF_ERROR(
      only_known(json, where,
                 {"chunk_bytes", "window", "pipelined_window", "iov_piece_s", "light_delay_s",
                  "heavy_delay_s", "communication_only", "light", "heavy"}));
  if (json.contains("chunk_bytes")) {
    STRIPLINE_ASSIGN_OR_RETURN(out.chunk_bytes, read_count(json, "chunk_bytes", where, kMaxBytes));
  }
  if (json.contains("window")) {
    STRIPLINE_ASSIGN_OR_RETURN(out.window, read_count32(json, "window", where));
  }
  if (json.contains("pipelined_window")) {
    STRIPLINE_ASSIGN_OR_RETURN(out.pipelined_window, read_count32(json, "pipelined_window", where));
  }
  STRIPLINE_RETURN_IF_ERROR(
      read_optional(json, "iov_piece_s", where, kSecondsRule, out.iov_piece_s));
  STRIPLINE_RETURN_IF_ERROR(
      read_optional(json, "light_delay_s", where, kSecondsRule, out.light_delay_s));
  STRIPLINE_RETURN_IF_ERROR(
      read_optional(json, "heavy_delay_s", where, kSecondsRule, out.heavy_delay_s));
  for (const auto& [name, member] : kResidualsOfClass) {
    STRIPLINE_RETURN_IF_ERROR(read_class(json, name, where, out.*member));
  }
  return {};
}

}  // namespace

Json pack_to_json(const PackModel& pack) {
  Json json = Json::object();
  for (const auto& [name, curve] : kCurves) json[name] = curve_to_json(pack.*curve);
  return json;
}

Json vis_to_json(const std::map<string, VisModel>& vis) {
  Json json = Json::object();
  for (const auto& [path, model] : vis) {
    Json directions = Json::object();
    for (const auto& [name, member] : kDirections) {
      if (model.*member) directions[name] = direction_to_json(*(model.*member));
    }
    json[path] = std::move(directions);
  }
  return json;
}

Status read_pack(const Json& document, std::optional<PackModel>& out) {
  const auto it = document.find("pack");
  if (it == document.end()) return {};
  STRIPLINE_RETURN_IF_ERROR(only_known(*it, "pack", {"pack", "unpack"}));
  out.emplace();
  for (const auto& [name, curve] : kCurves) {
    STRIPLINE_RETURN_IF_ERROR(read_curve(*it, name, (*out).*curve));
  }
  return {};
}

Status read_vis(const Json& document, std::map<string, VisModel>& out) {
  const auto it = document.find("vis");
  if (it == document.end()) return {};
  if (!it->is_object()) return damaged("vis: expected an object");
  for (const auto& [path, json] : it->items()) {
    const string where = "vis." + path;
    STRIPLINE_RETURN_IF_ERROR(only_known(json, where, {"put", "get"}));
    VisModel model;
    for (const auto& [name, member] : kDirections) {
      const auto found = json.find(name);
      if (found == json.end()) continue;
      (model.*member).emplace();
      STRIPLINE_RETURN_IF_ERROR(read_direction(*found, where + "." + name, *(model.*member)));
    }
    out[path] = std::move(model);
  }
  return {};
}

}  // namespace stripline::model::detail
