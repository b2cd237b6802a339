#include "server/security/oidc/jwt.h"

#include <array>
#include <optional>
#include <utility>

#include "base/cut_text.h"
#include "base/json.h"
#include "base/printable.h"
#include "base/web/base64url.h"

namespace stripline::server::oidc {
namespace {

// What a reason repeats of a key that stands twice.
constexpr size_t kLongestReasonBytes = 200;
constexpr size_t kLongestNameBytes = 256;

Error refused(const std::string& why) {
  return {ErrorCode::invalid_argument, "the token is not accepted: " + why};
}

std::string quoted(const std::string& text) {
  return "'" + cut_text(printable_line(text), 40) + "'";
}

std::optional<Algorithm> algorithm_of(const std::string& name) {
  if (name == "RS256") return Algorithm::rs256;
  if (name == "PS256") return Algorithm::ps256;
  if (name == "ES256") return Algorithm::es256;
  return std::nullopt;
}

// Access and ID tokens; what is made for something else, such as "logout+jwt", says so.
bool is_known_type(std::string type) {
  for (char& c : type) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  if (type.starts_with("application/")) type.erase(0, std::string_view("application/").size());
  return type == "jwt" || type == "at+jwt";
}

// A member that must be a text if it is there; empty: it is not.
Result<std::string> text_of(const Json& header, const char* name) {
  const auto found = header.find(name);
  if (found == header.end()) return std::string();
  if (!found->is_string())
    return refused(std::string("'") + name + "' of its header is not a text");
  auto text = found->get<std::string>();
  if (text.size() > kLongestNameBytes) {
    return refused(std::string("'") + name + "' of its header is longer than " +
                   std::to_string(kLongestNameBytes) + " bytes");
  }
  return text;
}

}  // namespace

bool looks_like_jwt(std::string_view text) {
  return text.starts_with("ey") && text.find('.') != std::string_view::npos;
}

Result<Jwt> parse_jwt(std::string_view text) {
  if (text.size() > kLongestTokenBytes) {
    return refused("it has " + std::to_string(text.size()) + " bytes, and at most " +
                   std::to_string(kLongestTokenBytes) + " are read");
  }
  std::array<std::string_view, 3> parts;
  std::string_view rest = text;
  for (size_t i = 0; i < parts.size(); ++i) {
    const size_t dot = rest.find('.');
    const bool last = i + 1 == parts.size();
    if ((dot == std::string_view::npos) != last) return refused("it does not have three parts");
    parts[i] = rest.substr(0, dot);
    if (!last) rest.remove_prefix(dot + 1);
  }
  std::array<std::string, 3> bytes;
  for (size_t i = 0; i < parts.size(); ++i) {
    auto decoded = web::from_base64url(parts[i]);
    if (!decoded) return refused("a part of it is not base64url");
    bytes[i] = std::move(*decoded);
  }
  const auto header = parse_json(bytes[0], "the header of the token");
  if (!header.ok())
    return refused(cut_text(printable_line(header.error().message()), kLongestReasonBytes));
  if (!header->is_object()) return refused("its header is not a JSON object");
  STRIPLINE_ASSIGN_OR_RETURN(const std::string name, text_of(*header, "alg"));
  const auto algorithm = algorithm_of(name);
  if (!algorithm) {
    return refused("its algorithm is " + quoted(name) + "; RS256, PS256 and ES256 are accepted");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const std::string type, text_of(*header, "typ"));
  if (!type.empty() && !is_known_type(type)) return refused("its type is " + quoted(type));
  // Extensions that must be understood, such as "b64": none is here.
  if (header->contains("crit")) return refused("its header asks for extensions ('crit')");
  Jwt jwt;
  jwt.algorithm = *algorithm;
  STRIPLINE_ASSIGN_OR_RETURN(jwt.key_id, text_of(*header, "kid"));
  jwt.claims = std::move(bytes[1]);
  jwt.signed_text = text.substr(0, parts[0].size() + 1 + parts[1].size());
  jwt.signature = std::move(bytes[2]);
  if (jwt.signature.empty()) return refused("it is not signed");
  return jwt;
}

}  // namespace stripline::server::oidc
