#include "server/security/oidc/verifier.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/cut_text.h"
#include "base/printable.h"
#include "base/rfc3339.h"

namespace stripline::server::oidc {
namespace {

Error refused(const std::string& why) {
  return {ErrorCode::invalid_argument, "the token is not accepted: " + why};
}

std::string quoted(const std::string& text) {
  return "'" + cut_text(printable_line(text), 200) + "'";
}

Error of_unknown_key() {
  return {ErrorCode::not_found,
          "the token is not accepted: it is signed by a key that the issuer had not published when "
          "its keys were last fetched"};
}

std::string time_text(double unix_s) { return rfc3339(std::floor(unix_s)); }

// The only key that it can be signed with. Without an identifier the kind must leave one.
Result<const SigningKey*> key_for(const Jwt& jwt, const KeySet& keys) {
  const SigningKey* found = nullptr;
  bool is_known = false;
  for (const SigningKey& key : keys) {
    if (!jwt.key_id.empty() && key.id != jwt.key_id) continue;
    is_known = true;
    if (!key.is_for(jwt.algorithm)) continue;
    if (found != nullptr)
      return refused("it does not say by which of the issuer's keys it is signed");
    found = &key;
  }
  if (found != nullptr) return found;
  if (!jwt.key_id.empty() && is_known) {
    return refused("the key that it names is not for its algorithm");
  }
  return of_unknown_key();
}

Status check_purpose(const Claims& claims, const Expected& expected) {
  if (claims.issuer != expected.issuer) {
    return refused("it was issued by " + quoted(claims.issuer) + ", and not by '" +
                   expected.issuer + "'");
  }
  const auto is_ours = [&](const std::string& client) {
    return !client.empty() &&
           std::ranges::find(expected.client_ids, client) != expected.client_ids.end();
  };
  if (std::ranges::none_of(claims.audience, is_ours)) {
    return refused("it is not for this server: '" + expected.client_ids.front() +
                   "' is not in its audience ('aud')");
  }
  if (claims.audience.size() > 1 && !claims.authorised_party.empty() &&
      !is_ours(claims.authorised_party)) {
    return refused("it is for several, and was given to another ('azp')");
  }
  return {};
}

Status check_time(const Claims& claims, double leeway_s, double now_unix_s) {
  const std::string now = "the server's clock says " + time_text(now_unix_s);
  if (now_unix_s > claims.expires_unix_s + leeway_s) {
    return refused("it has expired at " + time_text(claims.expires_unix_s) + "; " + now);
  }
  const double from_s = std::max(claims.not_before_unix_s, claims.issued_unix_s);
  if (now_unix_s < from_s - leeway_s) {
    return refused("it is valid from " + time_text(from_s) + " on; " + now);
  }
  return {};
}

}  // namespace

Result<Person> verify(std::string_view token, const KeySet& keys, const Expected& expected,
                      double now_unix_s) {
  STRIPLINE_ASSIGN_OR_RETURN(const Jwt jwt, parse_jwt(token));
  STRIPLINE_ASSIGN_OR_RETURN(const SigningKey* key, key_for(jwt, keys));
  if (!key->verifies(jwt)) {
    // A key without a name may have been replaced by another one without a name.
    return jwt.key_id.empty() ? of_unknown_key() : refused("its signature is wrong");
  }
  STRIPLINE_ASSIGN_OR_RETURN(Claims claims, read_claims(jwt.claims, expected.names));
  STRIPLINE_RETURN_IF_ERROR(check_purpose(claims, expected));
  STRIPLINE_RETURN_IF_ERROR(check_time(claims, expected.leeway_s, now_unix_s));
  return Person{std::move(claims.name), std::move(claims.groups), claims.has_groups,
                claims.expires_unix_s, std::move(claims.nonce)};
}

}  // namespace stripline::server::oidc
