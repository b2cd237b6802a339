#include "server/security/oidc/claims.h"

#include <cmath>

#include "base/cut_text.h"
#include "base/json.h"
#include "base/printable.h"

namespace stripline::server::oidc {
namespace {

// What a reason repeats of a key that stands twice.
constexpr size_t kLongestReasonBytes = 200;
constexpr size_t kLongestNameBytes = 128;
// The year 5138: beyond it a number is not meant as seconds.
constexpr double kLastTime_unix_s = 1e11;

Error refused(const std::string& why) {
  return {ErrorCode::invalid_argument, "the token is not accepted: " + why};
}

Error wrong(const std::string& name, const char* what) {
  return refused("its claim '" + name + "' is " + what);
}

Result<std::optional<std::string>> text_of(const Json& claims, const std::string& name) {
  const auto found = claims.find(name);
  if (found == claims.end()) return std::optional<std::string>();
  if (!found->is_string()) return wrong(name, "not a text");
  return std::optional(found->get<std::string>());
}

Result<double> time_of(const Json& claims, const std::string& name) {
  const auto found = claims.find(name);
  if (found == claims.end()) return 0.0;
  const double time = found->is_number() ? found->get<double>() : -1;
  if (!std::isfinite(time) || time <= 0 || time > kLastTime_unix_s) {
    return wrong(name, "not a time in seconds");
  }
  return time;
}

// A text, or a list of texts.
Result<std::vector<std::string>> texts_of(const Json& value, const std::string& name) {
  if (value.is_string()) return std::vector{value.get<std::string>()};
  if (!value.is_array()) return wrong(name, "neither a text nor a list of texts");
  std::vector<std::string> texts;
  for (const Json& one : value) {
    if (!one.is_string()) return wrong(name, "neither a text nor a list of texts");
    texts.push_back(one.get<std::string>());
  }
  return texts;
}

// The claim of this name, else the member that it is a path to; nullptr: there is none.
const Json* member_at(const Json& claims, std::string_view path) {
  const auto whole = claims.find(std::string(path));
  if (whole != claims.end()) return &*whole;
  const Json* at = &claims;
  while (at->is_object()) {
    const size_t dot = path.find('.');
    const auto found = at->find(std::string(path.substr(0, dot)));
    if (found == at->end()) return nullptr;
    at = &*found;
    if (dot == std::string_view::npos) return at;
    path.remove_prefix(dot + 1);
  }
  return nullptr;
}

bool stays(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '@' || c == '+' || c == '-';
}

std::string escaped(const std::string& name) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text;
  for (const char c : name) {
    if (stays(c)) {
      text += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    text += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return text;
}

Result<std::string> name_from(const Json& claims, const std::string& claim) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto name, text_of(claims, claim));
  if (!name || name->empty()) return std::string();
  if (name->size() > kLongestNameBytes) return wrong(claim, "longer than 128 bytes");
  return escaped(*name);
}

Result<std::string> name_of(const Json& claims, const std::string& wanted) {
  if (!wanted.empty()) {
    STRIPLINE_ASSIGN_OR_RETURN(std::string name, name_from(claims, wanted));
    if (name.empty()) return refused("it has no claim '" + wanted + "', which names the person");
    return name;
  }
  STRIPLINE_ASSIGN_OR_RETURN(std::string name, name_from(claims, "preferred_username"));
  if (!name.empty()) return name;
  STRIPLINE_ASSIGN_OR_RETURN(name, name_from(claims, "sub"));
  if (name.empty()) return refused("it names no person: neither 'preferred_username' nor 'sub'");
  return "sub=" + name;
}

}  // namespace

Result<Claims> read_claims(std::string_view json, const ClaimNames& names) {
  const auto parsed = parse_json(json, "what the token claims");
  if (!parsed.ok())
    return refused(cut_text(printable_line(parsed.error().message()), kLongestReasonBytes));
  if (!parsed->is_object()) return refused("what it claims is not a JSON object");
  if (parsed->contains("events")) return refused("it is the notice of an event ('events')");
  if (parsed->contains("cnf")) {
    return refused("it counts only with a key that its owner shows ('cnf')");
  }
  Claims claims;
  STRIPLINE_ASSIGN_OR_RETURN(const auto issuer, text_of(*parsed, "iss"));
  if (!issuer) return refused("it does not say who has issued it ('iss')");
  claims.issuer = *issuer;
  const auto audience = parsed->find("aud");
  if (audience == parsed->end()) return refused("it does not say for whom it is ('aud')");
  STRIPLINE_ASSIGN_OR_RETURN(claims.audience, texts_of(*audience, "aud"));
  STRIPLINE_ASSIGN_OR_RETURN(const auto party, text_of(*parsed, "azp"));
  claims.authorised_party = party.value_or("");
  STRIPLINE_ASSIGN_OR_RETURN(claims.expires_unix_s, time_of(*parsed, "exp"));
  if (claims.expires_unix_s == 0) return refused("it does not say when it ends ('exp')");
  STRIPLINE_ASSIGN_OR_RETURN(claims.not_before_unix_s, time_of(*parsed, "nbf"));
  STRIPLINE_ASSIGN_OR_RETURN(claims.issued_unix_s, time_of(*parsed, "iat"));
  STRIPLINE_ASSIGN_OR_RETURN(claims.nonce, text_of(*parsed, "nonce"));
  STRIPLINE_ASSIGN_OR_RETURN(claims.name, name_of(*parsed, names.name));
  if (const Json* groups = member_at(*parsed, names.groups)) {
    claims.has_groups = true;
    STRIPLINE_ASSIGN_OR_RETURN(claims.groups, texts_of(*groups, names.groups));
  }
  return claims;
}

}  // namespace stripline::server::oidc
