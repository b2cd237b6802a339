#include "optimizer/model/parameter_json.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace stripline::model::detail {

Error damaged(const std::string& message) { return {ErrorCode::data_loss, message}; }

Json parameter_to_json(const Parameter& parameter, const ParameterRule& rule) {
  Json json = {{"value", parameter.value},
               {"unit", rule.unit},
               {"ci", {parameter.ci_low, parameter.ci_high}},
               {"runs", parameter.runs},
               {"samples", parameter.samples},
               {"method", parameter.method}};
  if (parameter.at_least) json["at_least"] = true;
  return json;
}

void put_parameter(Json& object, const char* key, const std::optional<Parameter>& parameter,
                   const ParameterRule& rule) {
  if (parameter) object[key] = parameter_to_json(*parameter, rule);
}

Status only_known(const Json& object, const std::string& where,
                  std::initializer_list<std::string_view> known) {
  if (!object.is_object()) return damaged(where + ": expected an object");
  for (const auto& [key, member] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      std::string member_path = where;
      member_path.append(".").append(key);
      return damaged(member_path + ": unknown in schema version " + std::to_string(kSchemaVersion));
    }
  }
  return {};
}

Result<uint64_t> read_count(const Json& object, std::string_view key, const std::string& where,
                            uint64_t maximum) {
  STRIPLINE_ASSIGN_OR_RETURN(const int64_t value, get_integer(object, key, where));
  if (value < 0 || static_cast<uint64_t>(value) > maximum) {
    return damaged(where + "." + std::string(key) + ": expected an integer from 0 to " +
                   std::to_string(maximum));
  }
  return static_cast<uint64_t>(value);
}

Result<uint32_t> read_count32(const Json& object, std::string_view key, const std::string& where) {
  STRIPLINE_ASSIGN_OR_RETURN(const uint64_t value,
                             read_count(object, key, where, std::numeric_limits<uint32_t>::max()));
  return static_cast<uint32_t>(value);
}

Result<Parameter> read_parameter(const Json& json, const std::string& where,
                                 const ParameterRule& rule) {
  STRIPLINE_RETURN_IF_ERROR(
      only_known(json, where, {"value", "unit", "ci", "runs", "samples", "method", "at_least"}));
  Parameter parameter;
  STRIPLINE_ASSIGN_OR_RETURN(parameter.value, get_number(json, "value", where));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string unit, get_string(json, "unit", where));
  if (unit != rule.unit) {
    return damaged(where + ".unit: expected \"" + std::string(rule.unit) + "\"");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Json* interval, get_array(json, "ci", where));
  if (interval->size() != 2 || !(*interval)[0].is_number() || !(*interval)[1].is_number()) {
    return damaged(where + ".ci: expected [low, high]");
  }
  parameter.ci_low = (*interval)[0].get<double>();
  parameter.ci_high = (*interval)[1].get<double>();
  STRIPLINE_ASSIGN_OR_RETURN(parameter.runs, read_count32(json, "runs", where));
  STRIPLINE_ASSIGN_OR_RETURN(parameter.samples, read_count32(json, "samples", where));
  STRIPLINE_ASSIGN_OR_RETURN(parameter.method, get_string(json, "method", where));
  if (json.contains("at_least")) {
    STRIPLINE_ASSIGN_OR_RETURN(parameter.at_least, get_bool(json, "at_least", where));
  }
  return parameter;
}

Status read_optional(const Json& object, const char* key, const std::string& where,
                     const ParameterRule& rule, std::optional<Parameter>& out) {
  const auto it = object.find(key);
  if (it == object.end()) return {};
  STRIPLINE_ASSIGN_OR_RETURN(out, read_parameter(*it, where + "." + key, rule));
  return {};
}

}  // namespace stripline::model::detail
