// How values stand in a model file: one description of each serves reading, writing, checking and
// the JSON Schema. For the sections of the model (section.h); include from .cc files only.
//
// Reading tells whether a document has the kinds of members that the description has, checking
// whether a value keeps the rules, wherever it came from. `where` is the path of a value in the
// file, e.g. "network.inter-node.get.segments[1].L_s"; every message begins with it.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "optimizer/model/parameter.h"

namespace stripline::model {

/// The longest curve of a model.
inline constexpr size_t kMaxPoints = 1024;

/// Copies share what they consist of: forms are made of copies of forms.
template <typename V>
class Form {
 public:
  using Write = std::function<Json(const V&)>;
  using Read = std::function<Status(const Json&, const std::string& where, V& out)>;
  using Check = std::function<Status(const std::string& where, const V&)>;
  using Schema = std::function<Json(Json& definitions)>;

  Form(Write write, Read read, Check check, Schema schema)
      : parts_(std::make_shared<const Parts>(
            Parts{std::move(write), std::move(read), std::move(check), std::move(schema)})) {}

  Json write(const V& value) const { return parts_->write(value); }
  /// Errors: data_loss.
  Status read(const Json& json, const std::string& where, V& out) const {
    return parts_->read(json, where, out);
  }
  /// Errors: invalid_argument.
  Status check(const std::string& where, const V& value) const {
    return parts_->check(where, value);
  }
  /// Adds what has a name to the definitions, and refers to it.
  Json schema(Json& definitions) const { return parts_->schema(definitions); }

 private:
  struct Parts {
    Write write;
    Read read;
    Check check;
    Schema schema;
  };
  std::shared_ptr<const Parts> parts_;
};

/// One member of an object.
template <typename T>
struct Member {
  std::string name;
  bool required = false;                               ///< in a file that is read
  std::function<std::optional<Json>(const T&)> write;  ///< nullopt: it is left out
  std::function<Status(const Json&, const std::string& where, T& out)> read;
  std::function<Status(const std::string& where, const T&)> check;
  std::function<Json(Json& definitions)> schema;
};

/// The error of a value that breaks a rule.
Error wrong(const std::string& where, const std::string& what);

/// The error of a file that cannot be what was written.
Error damaged(const std::string& where, const std::string& what);

/// Errors: invalid_argument for what is not valid UTF-8, which JSON cannot hold.
Status check_utf8(const std::string& where, const std::string& text);

Form<Parameter> parameter(const ParameterRule& rule);
inline Form<Parameter> seconds() { return parameter(kSecondsRule); }
inline Form<Parameter> seconds_per_byte() { return parameter(kSecondsPerByteRule); }
inline Form<Parameter> gain() { return parameter(kGainRule); }
inline Form<Parameter> ratio() { return parameter(kRatioRule); }

/// Valid UTF-8; of limited length where no bounds are given.
Form<std::string> text(size_t least_bytes, size_t most_bytes);
Form<std::string> text();
/// A name of people or machines: 1 to 256 bytes.
Form<std::string> name();
/// SHA-256 in 64 lower-case hexadecimal digits; or empty.
Form<std::string> hash();

namespace detail {

Result<uint64_t> read_number(const Json& json, const std::string& where, uint64_t maximum);
Status check_number(const std::string& where, uint64_t value, uint64_t least, uint64_t most);
Status check_size(const std::string& where, size_t size, size_t least, size_t most);
Json number_schema(uint64_t least, uint64_t most);
Result<size_t> read_choice(const Json& json, const std::string& where,
                           const std::vector<std::string_view>& names);
/// Errors: data_loss when `json` is no object or has a member of another name.
Status check_members(const Json& json, const std::string& where,
                     const std::function<bool(const std::string&)>& known);
/// What is read in place of a member that has to be there: no form takes it.
const Json& absent();
Json described(Json schema, const char* description);
Json object_schema(Json properties, Json required);
/// Under its name, if it has one.
Json defined(const char* name, Json schema, Json& definitions);

}  // namespace detail

/// A whole number in [least, most].
template <std::unsigned_integral V>
Form<V> number(uint64_t least, uint64_t most) {
  constexpr auto largest = std::min<uint64_t>(std::numeric_limits<V>::max(), kMaxBytes);
  return {[](const V& value) { return Json(value); },
          [](const Json& json, const std::string& where, V& out) -> Status {
            STRIPLINE_ASSIGN_OR_RETURN(const uint64_t value,
                                       detail::read_number(json, where, largest));
            out = static_cast<V>(value);
            return {};
          },
          [=](const std::string& where, const V& value) {
            return detail::check_number(where, value, least, most);
          },
          [=](Json&) { return detail::number_schema(least, most); }};
}

inline Form<uint64_t> bytes(uint64_t least = 0) { return number<uint64_t>(least, kMaxBytes); }
inline Form<uint32_t> ranks(uint32_t least = 0) { return number<uint32_t>(least, kMaxRanks); }

/// One of some enumerators, by the names that to_string() gives them.
template <typename Enum>
Form<Enum> one_of(std::vector<Enum> values) {
  std::vector<std::string_view> names;
  for (const Enum value : values) names.push_back(to_string(value));
  return {[](const Enum& value) { return Json(to_string(value)); },
          [=](const Json& json, const std::string& where, Enum& out) -> Status {
            STRIPLINE_ASSIGN_OR_RETURN(const size_t place, detail::read_choice(json, where, names));
            out = values[place];
            return {};
          },
          [](const std::string&, const Enum&) { return Status(); },
          [=](Json&) {
            return Json{{"enum", names}};
          }};
}

/// What neighbours in a list owe each other.
template <typename V>
struct Order {
  bool (*holds)(const V& before, const V& after);
  const char* message;
  const char* member = "";  ///< of the later one, which is named: ".bytes"
};

/// At least `least` and at most `most` elements.
template <typename V>
Form<std::vector<V>> list(const Form<V>& element, size_t least, size_t most,
                          const std::optional<Order<V>>& order = std::nullopt) {
  const auto place = [](const std::string& where, size_t i) {
    return where + "[" + std::to_string(i) + "]";
  };
  return {[=](const std::vector<V>& values) {
            Json json = Json::array();
            for (const V& value : values) json.push_back(element.write(value));
            return json;
          },
          [=](const Json& json, const std::string& where, std::vector<V>& out) -> Status {
            if (!json.is_array()) return damaged(where, "expected an array");
            for (size_t i = 0; i < json.size(); ++i) {
              STRIPLINE_RETURN_IF_ERROR(element.read(json[i], place(where, i), out.emplace_back()));
            }
            return {};
          },
          [=](const std::string& where, const std::vector<V>& values) -> Status {
            STRIPLINE_RETURN_IF_ERROR(detail::check_size(where, values.size(), least, most));
            for (size_t i = 0; i < values.size(); ++i) {
              STRIPLINE_RETURN_IF_ERROR(element.check(place(where, i), values[i]));
              if (i > 0 && order && !order->holds(values[i - 1], values[i])) {
                return wrong(place(where, i) + order->member, order->message);
              }
            }
            return {};
          },
          [=](Json& definitions) {
            Json schema = {
                {"type", "array"}, {"maxItems", most}, {"items", element.schema(definitions)}};
            if (least > 0) schema["minItems"] = least;
            return schema;
          }};
}

/// A curve: at most kMaxPoints points in ascending order.
template <typename V>
Form<std::vector<V>> curve(const Form<V>& point, const Order<V>& order) {
  return list(point, 0, kMaxPoints, std::optional(order));
}

/// Values by name.
template <typename V>
Form<std::map<std::string, V>> by_name(const Form<V>& value, size_t most) {
  using Map = std::map<std::string, V>;
  return {[=](const Map& map) {
            Json json = Json::object();
            for (const auto& [key, one] : map) json[key] = value.write(one);
            return json;
          },
          [=](const Json& json, const std::string& where, Map& out) -> Status {
            if (!json.is_object()) return damaged(where, "expected an object");
            for (const auto& [key, one] : json.items()) {
              STRIPLINE_RETURN_IF_ERROR(value.read(one, where + "." + key, out[key]));
            }
            return {};
          },
          [=, key_form = name()](const std::string& where, const Map& map) -> Status {
            STRIPLINE_RETURN_IF_ERROR(detail::check_size(where, map.size(), 0, most));
            for (const auto& [key, one] : map) {
              STRIPLINE_RETURN_IF_ERROR(key_form.check(where, key));
              STRIPLINE_RETURN_IF_ERROR(value.check(where + "." + key, one));
            }
            return {};
          },
          [=](Json& definitions) {
            return Json{{"type", "object"}, {"additionalProperties", value.schema(definitions)}};
          }};
}

namespace detail {

enum class Absent : uint8_t { never, when_read, when_empty };

template <typename T, typename V>
Member<T> member(Absent absent, const char* name, V T::*place, const Form<V>& form,
                 const char* description) {
  return {
      name,
      absent == Absent::never,
      [=](const T& object) -> std::optional<Json> {
        Json json = form.write(object.*place);
        const bool empty =
            json.is_string() ? json.template get_ref<const std::string&>().empty() : json.empty();
        if (absent == Absent::when_empty && empty) return std::nullopt;
        return json;
      },
      [=](const Json& json, const std::string& where, T& out) {
        return form.read(json, where, out.*place);
      },
      [=](const std::string& where, const T& object) { return form.check(where, object.*place); },
      [=](Json& definitions) { return described(form.schema(definitions), description); }};
}

}  // namespace detail

/// A member that is always there.
template <typename T, typename V>
Member<T> required(const char* name, V T::*place, const Form<V>& form,
                   const char* description = nullptr) {
  return detail::member(detail::Absent::never, name, place, form, description);
}

/// A member that is always written; where it is absent, the value stays as it was.
template <typename T, typename V>
Member<T> defaulted(const char* name, V T::*place, const Form<V>& form,
                    const char* description = nullptr) {
  return detail::member(detail::Absent::when_read, name, place, form, description);
}

/// A member that is not written where it holds nothing.
template <typename T, typename V>
Member<T> unless_empty(const char* name, V T::*place, const Form<V>& form,
                       const char* description = nullptr) {
  return detail::member(detail::Absent::when_empty, name, place, form, description);
}

/// A member that may be absent.
template <typename T, typename V>
Member<T> optional(const char* name, std::optional<V> T::*place, const Form<V>& form,
                   const char* description = nullptr) {
  return {
      name,
      false,
      [=](const T& object) -> std::optional<Json> {
        if (!(object.*place)) return std::nullopt;
        return form.write(*(object.*place));
      },
      [=](const Json& json, const std::string& where, T& out) {
        return form.read(json, where, (out.*place).emplace());
      },
      [=](const std::string& where, const T& object) {
        return object.*place ? form.check(where, *(object.*place)) : Status();
      },
      [=](Json& definitions) { return detail::described(form.schema(definitions), description); }};
}

/// An object of these members and no others. `definition`: its name in the schema; nullptr: it has
/// none. `rule`: what members owe each other, asked after their own rules.
template <typename T>
Form<T> object(const char* definition, const std::vector<Member<T>>& members,
               const std::function<Status(const std::string& where, const T&)>& rule = {}) {
  return {[=](const T& value) {
            Json json = Json::object();
            for (const Member<T>& member : members) {
              if (auto written = member.write(value)) json[member.name] = *std::move(written);
            }
            return json;
          },
          [=](const Json& json, const std::string& where, T& out) -> Status {
            STRIPLINE_RETURN_IF_ERROR(
                detail::check_members(json, where, [&members](const std::string& key) {
                  return std::ranges::find(members, key, &Member<T>::name) != members.end();
                }));
            for (const Member<T>& member : members) {
              const auto found = json.find(member.name);
              if (found == json.end() && !member.required) continue;
              const Json& value = found == json.end() ? detail::absent() : *found;
              STRIPLINE_RETURN_IF_ERROR(member.read(value, where + "." + member.name, out));
            }
            return {};
          },
          [=](const std::string& where, const T& value) -> Status {
            for (const Member<T>& member : members) {
              STRIPLINE_RETURN_IF_ERROR(member.check(where + "." + member.name, value));
            }
            return rule ? rule(where, value) : Status();
          },
          [=](Json& definitions) {
            Json properties = Json::object();
            Json required = Json::array();
            for (const Member<T>& member : members) {
              properties[member.name] = member.schema(definitions);
              if (member.required) required.push_back(member.name);
            }
            return detail::defined(
                definition, detail::object_schema(std::move(properties), std::move(required)),
                definitions);
          }};
}

}  // namespace stripline::model
