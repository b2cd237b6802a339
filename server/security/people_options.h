// The settings --oidc-... as options of people.h. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "server/security/people.h"

namespace stripline::server {

/// As given; empty: it was not.
struct PeopleArguments {
  std::string issuer;
  std::string client_id;
  std::string client_secret_file;
  std::string device_client_id;
  std::string roles;
  std::string groups_claim;
  std::string name_claim;
  std::string scopes;
  std::string redirect_url;
  std::string authorities_file;
};

/// nullopt: no issuer is wanted. Errors: invalid_argument, with the option's name: also for what
/// has no effect without an issuer.
Result<std::optional<PeopleOptions>> people_options(const PeopleArguments& arguments);

}  // namespace stripline::server
