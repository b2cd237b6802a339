// What a new token is: the secret that somebody is given, and what is stored of it. Stores nothing.
#pragma once

#include <cstdint>
#include <string>

#include "server/problem.h"
#include "server/store/security_records.h"
#include "server/store/store.h"

namespace stripline::server {

struct TokenOrder {
  Role role = Role::nobody;
  std::string subject;  ///< As in TokenRecord.
  double valid_s = 0;   ///< 0: a day for a node's, 90 days for a user's.
  uint32_t count = 0;   ///< The number of enrolments, for a node's; 0: one.
};

struct NewToken {
  TokenRecord record;
  std::string text;
};

/// `authority_sha256` of the server that is to accept it. Problems: INVALID_FIELD.
Answer<NewToken> new_token(const TokenOrder& order, const std::string& authority_sha256,
                           double now_unix_s);

/// The step that stores it, with the entry of the audit trail.
Changes changes_for(const NewToken& token, const std::string& actor);

}  // namespace stripline::server
