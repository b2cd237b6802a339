// People whom an OpenID Connect issuer vouches for: by a token of the issuer, shown with each call,
// or by a session of their browser. They have names in a space of their own and the roles that
// their groups give them. Of them nothing is stored.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/problem.h"
#include "server/security/oidc/claims.h"
#include "server/security/oidc/issuer.h"
#include "server/security/oidc/sessions.h"
#include "server/security/oidc/verifier.h"
#include "server/store/security_records.h"

namespace stripline::server {

/// Gives a group a role.
struct RoleRule {
  Role role = Role::nobody;
  std::string group;  ///< "*": everybody whom the issuer gives a token for this server
};

/// "admin=hpc-admins,operator=hpc-staff,viewer=*": a role may come several times. Errors:
/// invalid_argument.
Result<std::vector<RoleRule>> parse_role_rules(std::string_view text);

/// The highest role that they give; Role::nobody: none.
Role role_of(const std::vector<RoleRule>& rules, const std::vector<std::string>& groups);

struct PeopleOptions {
  oidc::IssuerOptions issuer;
  std::vector<RoleRule> roles;
  oidc::ClaimNames claims = {};
  std::string scopes = "openid profile";  ///< that a sign-in asks for
  /// The public client as which the command asks the issuer; empty: see device_client().
  std::string device_client_id = {};
  /// Where the issuer sends browsers back to; empty: where they were when they asked to sign in.
  std::string redirect_url = {};

  /// The client of the command: the server's own, unless that has a secret, which no command may
  /// have; empty: there is none.
  std::string device_client() const;
};

/// One of them, who may come in.
struct VouchedFor {
  std::string name;  ///< "oidc:alice": a ':' is in no name that an own token may have
  Role role = Role::nobody;
  double until_unix_s = 0;
  std::string secret_sha256;  ///< of the token, or of the session's secret
};

class People {
 public:
  /// Begins to ask the issuer, and does not wait for it. Errors: invalid_argument.
  static Result<std::unique_ptr<People>> start(PeopleOptions options);

  const PeopleOptions& options() const { return options_; }
  oidc::Issuer& issuer() { return *issuer_; }

  /// Never waits. Problems: UNAUTHENTICATED, with "retry_after_s" in its metadata where the token
  /// may be accepted once the issuer's keys have been fetched; PERMISSION_DENIED without a role.
  Answer<VouchedFor> by_token(const std::string& token, double now_unix_s);
  /// `secret`: what the browser keeps. Problems: as above.
  Answer<VouchedFor> by_session(const std::string& secret, double now_unix_s) const;
  /// Whether a session of this hash goes on.
  bool has_session(const std::string& secret_sha256, double now_unix_s) const;

  /// A session for who has signed in with this ID token, asked for with this nonce. It ends with
  /// the token, and after twelve hours. Returns its secret. Problems: as above; INTERNAL.
  Answer<std::string> open_session(const std::string& id_token, const std::string& nonce,
                                   double now_unix_s);
  void close_session(const std::string& secret);

  /// Ends what waits for the issuer. Idempotent.
  void stop() { issuer_->stop(); }

 private:
  People(PeopleOptions options, std::unique_ptr<oidc::Issuer> issuer);
  Answer<oidc::Person> verified(const std::string& token, double now_unix_s);
  Answer<VouchedFor> with_role(const oidc::Person& person, std::string secret_sha256) const;
  // What a token is answered whose key is not known.
  Problem without_key(const std::string& why);

  const PeopleOptions options_;
  const oidc::Expected expected_;
  const std::unique_ptr<oidc::Issuer> issuer_;
  oidc::Sessions sessions_;
  std::mutex mutex_;
  // Tokens whose signatures were verified: each is shown with many calls. By their sha256.
  std::map<std::string, oidc::Person> seen_;
  std::shared_ptr<const oidc::IssuerFacts> seen_with_;
};

}  // namespace stripline::server
