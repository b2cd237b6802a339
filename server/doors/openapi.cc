#include "server/doors/openapi.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <google/protobuf/descriptor.h>

namespace stripline::server {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;

constexpr std::string_view kRefused = "A problem: docs/http.md, Problems.";

bool is_name(std::string_view segment) { return segment.starts_with('{'); }

Json reference(const std::string& name) { return {{"$ref", "#/components/schemas/" + name}}; }

Json schema_of(const EnumDescriptor& type) {
  Json names = Json::array();
  for (int i = 0; i < type.value_count(); ++i) names.push_back(type.value(i)->name());
  return {{"type", "string"}, {"enum", std::move(names)}};
}

// What is said of messages that others refer to, by their names without the package.
class Schemas {
 public:
  Json of_message(const Descriptor& type) {
    const std::string name = short_name(type);
    if (written_.insert(name).second) {
      Json properties = Json::object();
      for (int i = 0; i < type.field_count(); ++i) {
        properties[type.field(i)->name()] = of_field(*type.field(i));
      }
      all_[name] = {{"type", "object"},
                    {"properties", std::move(properties)},
                    {"additionalProperties", false}};
    }
    return reference(name);
  }

  Json take() { return std::move(all_); }

 private:
  static std::string short_name(const Descriptor& type) {
    const std::string& name = type.full_name();
    return name.substr(type.file()->package().size() + 1);
  }

  Json of_field(const FieldDescriptor& field) {
    if (field.is_map()) {
      return {{"type", "object"},
              {"additionalProperties", of_value(*field.message_type()->map_value())}};
    }
    if (field.is_repeated()) return {{"type", "array"}, {"items", of_value(field)}};
    return of_value(field);
  }

  // The JSON form of protobuf: 64-bit integers are strings.
  Json of_value(const FieldDescriptor& field) {
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return of_message(*field.message_type());
      case FieldDescriptor::CPPTYPE_ENUM:
        return schema_of(*field.enum_type());
      case FieldDescriptor::CPPTYPE_BOOL:
        return {{"type", "boolean"}};
      case FieldDescriptor::CPPTYPE_DOUBLE:
      case FieldDescriptor::CPPTYPE_FLOAT:
        return {{"type", "number"}};
      case FieldDescriptor::CPPTYPE_INT32:
      case FieldDescriptor::CPPTYPE_UINT32:
        return {{"type", "integer"}};
      case FieldDescriptor::CPPTYPE_INT64:
      case FieldDescriptor::CPPTYPE_UINT64:
        return {{"type", "string"}, {"pattern", "^-?[0-9]+$"}};
      case FieldDescriptor::CPPTYPE_STRING:
        return {{"type", "string"}};
    }
    return Json::object();
  }

  std::set<std::string> written_;
  Json all_ = Json::object();
};

const google::protobuf::MethodDescriptor* method_of(const Route& route) {
  std::string name = route.method.substr(1);
  std::ranges::replace(name, '/', '.');
  return DescriptorPool::generated_pool()->FindMethodByName(name);
}

const char* type_of_option(const FieldDescriptor& member) {
  if (member.cpp_type() == FieldDescriptor::CPPTYPE_STRING) return "string";
  return member.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE ? "number" : "integer";
}

Json parameters_of(const Route& route, const Descriptor& request) {
  Json parameters = Json::array();
  for (const std::string_view part : segments(route.path)) {
    if (!is_name(part)) continue;
    parameters.push_back({{"name", part.substr(1, part.size() - 2)},
                          {"in", "path"},
                          {"required", true},
                          {"schema", {{"type", "string"}}}});
  }
  for (const char* const option : route.query) {
    const std::string name = option;
    const FieldDescriptor* const member = request.FindFieldByName(name);
    Json one = {{"name", name}, {"in", "query"}};
    if (name == "*") {
      one.update({{"name", "options"},
                  {"schema", {{"type", "object"}}},
                  {"style", "form"},
                  {"explode", true}});
    } else {
      one["schema"] = {{"type", member == nullptr ? "string" : type_of_option(*member)}};
      if (member == nullptr) one["required"] = true;
    }
    parameters.push_back(std::move(one));
  }
  return parameters;
}

// What a POST brings: the method's message without the name, which the path says.
Json body_of(const Descriptor& type, Schemas& schemas) {
  return {{"required", false},
          {"content", {{"application/json", {{"schema", schemas.of_message(type)}}}}}};
}

Json operation_of(const Route& route, Role role, Schemas& schemas) {
  const auto* const method = method_of(route);
  const std::string_view other = route.other_type;
  Json content;
  if (other.empty()) {
    content["application/json"] = {{"schema", schemas.of_message(*method->output_type())}};
  } else {
    content[other] = Json::object();
  }
  Json operation = {
      {"operationId", route.operation},
      {"summary", route.about},
      {"x-role", std::string(to_string(role))},
      {"parameters", parameters_of(route, *method->input_type())},
      {"responses",
       {{"200", {{"description", "As asked."}, {"content", std::move(content)}}},
        {"default",
         {{"description", kRefused},
          {"content", {{"application/json", {{"schema", reference("Problem")}}}}}}}}}};
  if (route.verb == Route::Verb::post) {
    operation["requestBody"] = body_of(*method->input_type(), schemas);
  }
  return operation;
}

Json problem_schema() {
  const Json text = {{"type", "string"}};
  return {{"type", "object"},
          {"required", {"code", "reason", "message"}},
          {"properties",
           {{"code", text},
            {"reason", text},
            {"message", text},
            {"metadata", {{"type", "object"}, {"additionalProperties", text}}}}}};
}

}  // namespace

std::vector<std::string_view> segments(std::string_view path) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    parts.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool matches(const Route& route, const std::string& path) {
  const auto wanted = segments(route.path);
  const auto given = segments(path);
  return std::ranges::equal(wanted, given, [](std::string_view want, std::string_view have) {
    return is_name(want) ? !have.empty() : want == have;
  });
}

Json openapi(std::span<const Route> routes, const std::map<std::string, Role>& roles) {
  Schemas schemas;
  Json paths = Json::object();
  for (const Route& route : routes) {
    const char* const verb = route.verb == Route::Verb::post ? "post" : "get";
    paths["/" + std::string(route.path)][verb] =
        operation_of(route, roles.at(route.method), schemas);
  }
  Json components = schemas.take();
  components["Problem"] = problem_schema();
  return {
      {"openapi", "3.1.0"},
      {"info",
       {{"title", "Stripline"},
        {"version", "v1"},
        {"description",
         "What docs/http.md explains. Messages are those of proto/stripline/v1 in the JSON form "
         "of protobuf."}}},
      {"servers", {{{"url", "/api/v1"}}}},
      {"security", {{{"token", Json::array()}}}},
      {"paths", std::move(paths)},
      {"components",
       {{"schemas", std::move(components)},
        {"securitySchemes", {{"token", {{"type", "http"}, {"scheme", "bearer"}}}}}}}};
}

}  // namespace stripline::server
