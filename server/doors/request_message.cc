#include "server/doors/request_message.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/util/json_util.h>

#include "base/number_text.h"

namespace stripline::server {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Members that hold the name in the path.
constexpr const char* kNameMember = "name";
constexpr const char* kParentMember = "parent";

bool is_option(const FieldDescriptor& member) {
  if (member.is_repeated() || member.name() == kNameMember || member.name() == kParentMember) {
    return false;
  }
  switch (member.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_UINT64:
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return true;
    default:
      return false;
  }
}

std::optional<Problem> set_option(const FieldDescriptor& member, const std::string& text,
                                  Message& message) {
  const google::protobuf::Reflection& members = *message.GetReflection();
  if (member.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    members.SetString(&message, &member, text);
    return std::nullopt;
  }
  if (member.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
    const auto number = number_from_text<double>(text);
    if (!number) return invalid_field(member.name(), "'" + text + "' is not a number");
    members.SetDouble(&message, &member, *number);
    return std::nullopt;
  }
  const auto number = number_from_text<int64_t>(text);
  if (!number || *number < 0) {
    return invalid_field(member.name(), "'" + text + "' is not a whole number");
  }
  if (member.cpp_type() == FieldDescriptor::CPPTYPE_UINT64) {
    members.SetUInt64(&message, &member, static_cast<uint64_t>(*number));
  } else {
    // The call says what is too much.
    constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
    members.SetInt32(&message, &member, static_cast<int32_t>(std::min(*number, kLargest)));
  }
  return std::nullopt;
}

// An option without a value is as good as none.
std::optional<Problem> set_options(const http::Request& from, const Route& route,
                                   Message& message) {
  for (const char* option : route.query) {
    const auto said = from.query.find(option);
    const FieldDescriptor* const member = message.GetDescriptor()->FindFieldByName(option);
    if (said == from.query.end() || said->second.empty() || member == nullptr ||
        !is_option(*member)) {
      continue;
    }
    if (auto problem = set_option(*member, said->second, message)) return problem;
  }
  return std::nullopt;
}

void set_name(std::string_view route, const std::string& path, Message& message) {
  const size_t opening = route.rfind('{');
  if (opening == std::string_view::npos) return;
  const std::string placeholder(route.substr(opening + 1, route.find('}', opening) - opening - 1));
  size_t end = 0;
  for (auto parts = std::ranges::count(route.substr(0, opening), '/'); parts >= 0; --parts) {
    end = std::min(path.find('/', end + 1), path.size());
  }
  for (const std::string& name :
       {std::string(kNameMember), std::string(kParentMember), placeholder}) {
    const FieldDescriptor* const member = message.GetDescriptor()->FindFieldByName(name);
    if (member == nullptr) continue;
    message.GetReflection()->SetString(&message, member, path.substr(0, end));
    return;
  }
}

}  // namespace

std::vector<const char*> options_of(const google::protobuf::Descriptor& request) {
  std::vector<const char*> options;
  for (int i = 0; i < request.field_count(); ++i) {
    const FieldDescriptor& member = *request.field(i);
    if (is_option(member)) options.push_back(member.name().c_str());
  }
  return options;
}

std::optional<Problem> read_request(const http::Request& from, const Route& route,
                                    const std::string& path, Message& message) {
  if (!from.post) {
    if (auto problem = set_options(from, route, message)) return problem;
  } else if (!from.body.empty()) {
    const auto read = google::protobuf::util::JsonStringToMessage(from.body, &message);
    if (!read.ok()) return invalid_field("body", std::string(read.message()));
  }
  set_name(route.path, path, message);
  return std::nullopt;
}

}  // namespace stripline::server
