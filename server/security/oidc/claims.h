// What a JSON web token says of whom and for whom: its claims, read strictly. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stripline::server::oidc {

/// Where names and groups of people stand.
struct ClaimNames {
  /// Empty: "preferred_username", else "sub", marked as such (Claims::name).
  std::string name = {};
  /// A claim, or a path to a member of one with dots between ("realm_access.roles").
  std::string groups = "groups";
};

struct Claims {
  std::string issuer;
  std::vector<std::string> audience;
  std::string authorised_party;  ///< "azp"; empty: it is not there
  double expires_unix_s = 0;
  double not_before_unix_s = 0;  ///< 0: it is not there
  double issued_unix_s = 0;      ///< 0: it is not there
  std::optional<std::string> nonce;
  /// The person's name, of letters, digits and "._@+-"; other bytes are "%" and two hexadecimal
  /// digits, so that no two people have one name. "sub=..." where it is the subject's identifier
  /// for want of "preferred_username": no name of the first kind has a '='.
  std::string name;
  bool has_groups = false;          ///< whether the claim is there
  std::vector<std::string> groups;  ///< empty also where it is not
};

/// Errors: invalid_argument, in one line: a claim that is missing, doubled, or of another kind than
/// it must be, and one that says that the text is not what a person shows: a notice of an event
/// (RFC 8417, "events"), or a token that counts only together with a key (RFC 7800, "cnf").
Result<Claims> read_claims(std::string_view json, const ClaimNames& names);

}  // namespace stripline::server::oidc
