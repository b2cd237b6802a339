#include "base/json.h"

#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include "base/atomic_file.h"
#include "base/json_reader.h"
#include "base/whole_file.h"

namespace stripline {
namespace {

// Deeper than any document of ours, shallow enough for every stack.
constexpr size_t kMaxDepth = 64;

Status append_canonical(const Json& value, std::string& out) {
  switch (value.type()) {
    case Json::value_t::object: {
      out += '{';
      bool first = true;
      for (const auto& [key, member] : value.items()) {
        if (!first) out += ',';
        first = false;
        out += dumped(Json(key));
        out += ':';
        STRIPLINE_RETURN_IF_ERROR(append_canonical(member, out));
      }
      out += '}';
      return {};
    }
    case Json::value_t::array: {
      out += '[';
      bool first = true;
      for (const Json& element : value) {
        if (!first) out += ',';
        first = false;
        STRIPLINE_RETURN_IF_ERROR(append_canonical(element, out));
      }
      out += ']';
      return {};
    }
    case Json::value_t::number_float: {
      const double number = value.get<double>();
      if (!std::isfinite(number)) {
        return Error(ErrorCode::invalid_argument,
                     "cannot write NaN or infinity as JSON; the value must be finite");
      }
      if (number == 0) {
        out += '0';  // "-0" would be read back as the integer 0 and then written as such
        return {};
      }
      std::array<char, 32> buffer{};
      const auto [end, ec] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
      if (ec != std::errc()) return Error(ErrorCode::internal, "to_chars failed on a double");
      out.append(buffer.data(), end);
      return {};
    }
    default:
      out += dumped(value);
      return {};
  }
}

Error member_error(std::string_view where, std::string_view key, std::string_view expected) {
  return Error(ErrorCode::data_loss,
               std::string(where) + "." + std::string(key) + ": expected " + std::string(expected));
}

template <typename Predicate>
Result<const Json*> find_member(const Json& object, std::string_view key, std::string_view where,
                                std::string_view expected, Predicate is_expected) {
  if (!object.is_object()) {
    return Error(ErrorCode::data_loss, std::string(where) + ": expected an object");
  }
  const auto it = object.find(key);
  if (it == object.end() || !is_expected(*it)) return member_error(where, key, expected);
  return &*it;
}

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view what) {
  // The recursive part of nlohmann's library is the destructor and the dump, both bounded by the
  // depth; its parser keeps an explicit stack.
  JsonReader<Json> reader(kMaxDepth);
  if (!Json::sax_parse(text, &reader)) {
    return Error(ErrorCode::data_loss, std::string(what) + ": " + reader.problem());
  }
  return std::move(reader).take();
}

Result<Json> read_json_file(const std::filesystem::path& path, size_t max_bytes) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, read_whole_file(path, max_bytes));
  return parse_json(text, "'" + path.string() + "'");
}

Status write_json_file(const std::filesystem::path& path, const Json& value) {
  STRIPLINE_RETURN_IF_ERROR(canonical_json(value));  // refuses what cannot be read back
  return write_atomically(path, value.dump(2) + '\n');
}

std::string dumped(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<std::string> canonical_json(const Json& value) {
  std::string out;
  STRIPLINE_RETURN_IF_ERROR(append_canonical(value, out));
  return out;
}

Result<double> get_number(const Json& object, std::string_view key, std::string_view where) {
  STRIPLINE_ASSIGN_OR_RETURN(
      const Json* member,
      find_member(object, key, where, "a number", [](const Json& j) { return j.is_number(); }));
  return member->get<double>();
}

Result<int64_t> get_integer(const Json& object, std::string_view key, std::string_view where) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json* member,
                             find_member(object, key, where, "an integer",
                                         [](const Json& j) { return j.is_number_integer(); }));
  return member->get<int64_t>();
}

Result<std::string> get_string(const Json& object, std::string_view key, std::string_view where) {
  STRIPLINE_ASSIGN_OR_RETURN(
      const Json* member,
      find_member(object, key, where, "a string", [](const Json& j) { return j.is_string(); }));
  return member->get<std::string>();
}

Result<bool> get_bool(const Json& object, std::string_view key, std::string_view where) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json* member,
                             find_member(object, key, where, "true or false",
                                         [](const Json& j) { return j.is_boolean(); }));
  return member->get<bool>();
}

Result<const Json*> get_object(const Json& object, std::string_view key, std::string_view where) {
  return find_member(object, key, where, "an object", [](const Json& j) { return j.is_object(); });
}

Result<const Json*> get_array(const Json& object, std::string_view key, std::string_view where) {
  return find_member(object, key, where, "an array", [](const Json& j) { return j.is_array(); });
}

}  // namespace stripline
