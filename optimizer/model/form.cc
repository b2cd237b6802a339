#include "optimizer/model/form.h"

#include <cmath>

#include "optimizer/model/tuned_model.h"

namespace stripline::model {
namespace {

constexpr size_t kMaxNameBytes = 256;
constexpr size_t kMaxTextBytes = 4096;

// std::to_string() would show a nanosecond as zero.
std::string json_text(double value) { return Json(value).dump(); }

std::string range_text(uint64_t least, uint64_t most) {
  return std::to_string(least) + " to " + std::to_string(most);
}

Status read_text(const Json& json, const std::string& where, std::string& out) {
  if (!json.is_string()) return damaged(where, "expected a string");
  out = json.get<std::string>();
  return {};
}

Status check_text(const std::string& where, const std::string& text, size_t least, size_t most) {
  if (text.size() < least || text.size() > most) {
    return wrong(where, "must have " + range_text(least, most) + " bytes");
  }
  return check_utf8(where, text);
}

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

Status read_parameter(const Json& json, const std::string& where, const ParameterRule& rule,
                      Parameter& out) {
  STRIPLINE_RETURN_IF_ERROR(detail::check_members(json, where, [](const std::string& key) {
    return key == "value" || key == "unit" || key == "ci" || key == "runs" || key == "samples" ||
           key == "method" || key == "at_least";
  }));
  STRIPLINE_ASSIGN_OR_RETURN(out.value, get_number(json, "value", where));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string unit, get_string(json, "unit", where));
  if (unit != rule.unit) {
    return damaged(where + ".unit", "expected \"" + std::string(rule.unit) + "\"");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Json* interval, get_array(json, "ci", where));
  if (interval->size() != 2 || !(*interval)[0].is_number() || !(*interval)[1].is_number()) {
    return damaged(where + ".ci", "expected [low, high]");
  }
  out.ci_low = (*interval)[0].get<double>();
  out.ci_high = (*interval)[1].get<double>();
  for (const auto& [key, count] :
       {std::pair("runs", &out.runs), std::pair("samples", &out.samples)}) {
    constexpr auto kMost = std::numeric_limits<uint32_t>::max();
    const auto found = json.find(key);
    STRIPLINE_ASSIGN_OR_RETURN(const uint64_t value,
                               detail::read_number(found == json.end() ? detail::absent() : *found,
                                                   where + "." + key, kMost));
    *count = static_cast<uint32_t>(value);
  }
  STRIPLINE_ASSIGN_OR_RETURN(out.method, get_string(json, "method", where));
  if (json.contains("at_least")) {
    STRIPLINE_ASSIGN_OR_RETURN(out.at_least, get_bool(json, "at_least", where));
  }
  return {};
}

Status check_parameter(const std::string& where, const Parameter& parameter,
                       const ParameterRule& rule) {
  if (!std::isfinite(parameter.value) || !std::isfinite(parameter.ci_low) ||
      !std::isfinite(parameter.ci_high)) {
    return wrong(where, "value and interval must be finite");
  }
  if (parameter.value < rule.minimum || parameter.value > rule.maximum) {
    return wrong(where, "value " + json_text(parameter.value) + " is outside [" +
                            json_text(rule.minimum) + ", " + json_text(rule.maximum) + "]");
  }
  if (parameter.ci_low > parameter.value || parameter.value > parameter.ci_high) {
    return wrong(where, "the interval does not contain the value");
  }
  return check_text(where + ".method", parameter.method, 0, kMaxTextBytes);
}

Json parameter_schema(const ParameterRule& rule) {
  const Json count = detail::number_schema(0, std::numeric_limits<uint32_t>::max());
  Json schema = detail::object_schema(
      {{"value", {{"type", "number"}, {"minimum", rule.minimum}, {"maximum", rule.maximum}}},
       {"unit", {{"const", rule.unit}}},
       {"ci",
        {{"description", "95 % interval [low, high]; contains the value"},
         {"type", "array"},
         {"items", {{"type", "number"}}},
         {"minItems", 2},
         {"maxItems", 2}}},
       {"runs", count},
       {"samples", count},
       {"method", {{"type", "string"}, {"maxLength", kMaxTextBytes}}},
       {"at_least", {{"description", "the value is only a lower bound"}, {"type", "boolean"}}}},
      {"value", "unit", "ci", "runs", "samples", "method"});
  schema["description"] = rule.what;
  return schema;
}

}  // namespace

Error wrong(const std::string& where, const std::string& what) {
  return {ErrorCode::invalid_argument, where + ": " + what};
}

Error damaged(const std::string& where, const std::string& what) {
  return {ErrorCode::data_loss, where + ": " + what};
}

// Asks the writer of JSON itself, which throws on what it cannot write.
Status check_utf8(const std::string& where, const std::string& text) {
  try {
    static_cast<void>(Json(text).dump());
    return {};
  } catch (const Json::type_error&) {
    return wrong(where, "not valid UTF-8, which JSON demands; correct it at its source");
  }
}

Form<Parameter> parameter(const ParameterRule& rule) {
  return {[rule](const Parameter& value) { return parameter_to_json(value, rule); },
          [rule](const Json& json, const std::string& where, Parameter& out) {
            return read_parameter(json, where, rule, out);
          },
          [rule](const std::string& where, const Parameter& value) {
            return check_parameter(where, value, rule);
          },
          [rule](Json& definitions) {
            return detail::defined(rule.name.data(), parameter_schema(rule), definitions);
          }};
}

Form<std::string> text(size_t least_bytes, size_t most_bytes) {
  return {[](const std::string& value) { return Json(value); }, read_text,
          [=](const std::string& where, const std::string& value) {
            return check_text(where, value, least_bytes, most_bytes);
          },
          [=](Json&) {
            Json schema = {{"type", "string"}, {"maxLength", most_bytes}};
            if (least_bytes > 0) schema["minLength"] = least_bytes;
            return schema;
          }};
}

Form<std::string> text() { return text(0, kMaxTextBytes); }

Form<std::string> name() { return text(1, kMaxNameBytes); }

Form<std::string> hash() {
  return {[](const std::string& value) { return Json(value); }, read_text,
          [](const std::string& where, const std::string& value) -> Status {
            const bool hexadecimal = std::ranges::all_of(
                value, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
            if (value.empty() || (value.size() == 64 && hexadecimal)) return {};
            return wrong(where, "must be 64 lower-case hexadecimal digits or empty");
          },
          [](Json&) {
            return Json{{"type", "string"}, {"pattern", "^([0-9a-f]{64})?$"}};
          }};
}

namespace detail {

Result<uint64_t> read_number(const Json& json, const std::string& where, uint64_t maximum) {
  // Integers beyond those of 64 bits with a sign read as negative ones.
  const int64_t value = json.is_number_integer() ? json.get<int64_t>() : -1;
  if (value < 0 || static_cast<uint64_t>(value) > maximum) {
    return damaged(where, "expected an integer from " + range_text(0, maximum));
  }
  return static_cast<uint64_t>(value);
}

Status check_number(const std::string& where, uint64_t value, uint64_t least, uint64_t most) {
  if (value >= least && value <= most) return {};
  return wrong(where, "must be " + range_text(least, most));
}

Status check_size(const std::string& where, size_t size, size_t least, size_t most) {
  if (size >= least && size <= most) return {};
  return wrong(where, "needs " + range_text(least, most) + " entries");
}

Json number_schema(uint64_t least, uint64_t most) {
  return {{"type", "integer"}, {"minimum", least}, {"maximum", most}};
}

Result<size_t> read_choice(const Json& json, const std::string& where,
                           const std::vector<std::string_view>& names) {
  std::string known;
  for (size_t i = 0; i < names.size(); ++i) {
    if (json == Json(names[i])) return i;
    if (i > 0) known += i + 1 == names.size() ? " or " : ", ";
    known += names[i];
  }
  if (!json.is_string()) return damaged(where, "expected " + known);
  return damaged(where,
                 "'" + json.get_ref<const std::string&>() + "' is unknown; expected " + known);
}

Status check_members(const Json& json, const std::string& where,
                     const std::function<bool(const std::string&)>& known) {
  if (!json.is_object()) return damaged(where, "expected an object");
  for (const auto& [key, member] : json.items()) {
    if (known(key)) continue;
    return damaged(where + "." + key,
                   "unknown in schema version " + std::to_string(kSchemaVersion));
  }
  return {};
}

const Json& absent() {
  static const Json null;
  return null;
}

Json described(Json schema, const char* description) {
  if (description != nullptr) schema["description"] = description;
  return schema;
}

Json object_schema(Json properties, Json required) {
  Json schema = {
      {"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

Json defined(const char* name, Json schema, Json& definitions) {
  if (name == nullptr) return schema;
  definitions[name] = std::move(schema);
  return {{"$ref", std::string("#/$defs/") + name}};
}

}  // namespace detail
}  // namespace stripline::model
