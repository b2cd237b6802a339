// Identities, and what each may do: the one place where it is decided. People are known by tokens,
// agents by certificates; both are in the store, of tokens only the hash. People may also be
// vouched for by an issuer (people.h). Knows no gRPC (grpc_access.h).
//
// Thread-safe: any method from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/problem.h"
#include "server/security/authority.h"
#include "server/security/new_token.h"
#include "server/security/people.h"
#include "server/store/security_records.h"
#include "server/store/store.h"

namespace stripline::server {

/// What an issuer has vouched for a caller by (people.h).
enum class Voucher { none, token, session };

/// The identity of a caller.
struct Caller {
  /// "users/alice", "users/oidc:alice", "nodes/a": what the audit trail calls him
  std::string name = "unknown caller";
  Role role = Role::nobody;  ///< a user's
  bool is_agent = false;
  std::string node;               ///< an agent's, without "nodes/"; empty: whichever he says
  double since_unix_s = 0;        ///< when an agent's certificate begins
  double until_unix_s = 0;        ///< when it expires; 0: never
  std::string token_sha256;       ///< of a user's secret; empty: he needs none
  double token_until_unix_s = 0;  ///< when that token ends
  Voucher voucher = Voucher::none;
};

/// What a call brings with it.
struct Credentials {
  std::string bearer;           ///< the secret of a token; empty: none
  std::string certificate_pem;  ///< whose key the caller has shown to hold; empty: none
  std::string session = {};     ///< the secret of a browser's session; empty: none
};

class Access {
 public:
  /// Everybody is an administrator: a trusted network.
  static Access open_to_all(Store& store);
  /// Whoever knows this secret is an administrator and any node.
  static Access with_secret(Store& store, const std::string& secret);
  /// Tokens and certificates. Errors: the store's.
  static Result<Access> with_authority(Store& store, Authority authority);

  /// Lets in those whom an issuer vouches for, too; before anybody calls, and with an authority.
  void let_in(std::shared_ptr<People> people) { people_ = std::move(people); }
  /// nullptr: there are none.
  People* people() const { return people_.get(); }

  /// Reads tokens, and which certificates count, from the store again. Errors: the store's.
  Status reload();

  bool is_open() const { return !authority_ && secret_sha256_.empty(); }
  const std::optional<Authority>& authority() const { return authority_; }

  /// The caller; Role::nobody when nothing is shown. Problems: UNAUTHENTICATED.
  Answer<Caller> identify(const Credentials& credentials, double now_unix_s) const;
  /// Whether he may do what needs `role`; Role::nobody: public. Problems: UNAUTHENTICATED,
  /// PERMISSION_DENIED.
  static std::optional<Problem> refusal(const Caller& caller, Role role);
  /// The caller, if he may do what needs `role`: what both doors, gRPC and HTTP, ask before a call
  /// is answered. Problems: those of identify() and refusal().
  Answer<Caller> authorize(const Credentials& credentials, Role role, double now_unix_s) const;
  /// Why a stream that he has opened may not go on; nullopt: it may. Problems: UNAUTHENTICATED.
  std::optional<Problem> refusal_of_stream(const Caller& caller, double now_unix_s) const;
  /// Whether this agent may speak for `node`, and go on with it at this time. Problems:
  /// PERMISSION_DENIED, UNAUTHENTICATED.
  std::optional<Problem> refusal_of_node(const Caller& caller, const std::string& node,
                                         double now_unix_s) const;

  /// `valid_s` and `count` 0: as is usual. Problems: INVALID_FIELD, NO_CERTIFICATES, those of the
  /// store.
  Answer<NewToken> create_token(const Caller& actor, Role role, const std::string& subject,
                                double valid_s, double now_unix_s, uint32_t count = 0);
  std::vector<TokenRecord> tokens(double now_unix_s) const;
  /// Problems: TOKEN_NOT_FOUND; LAST_ADMIN for the last one that makes an administrator.
  Answer<TokenRecord> revoke_token(const Caller& actor, const std::string& name, double now_unix_s);

  /// The certificate of a node that shows a token. Problems: UNAUTHENTICATED, INVALID_FIELD,
  /// NO_CERTIFICATES.
  Answer<std::string> enroll(const std::string& token, const std::string& node,
                             const std::string& request_pem, double now_unix_s);
  /// Another one for the node of a caller that has one. Problems: as above.
  Answer<std::string> renew(const Caller& caller, const std::string& request_pem,
                            double now_unix_s);
  /// Problems: NODE_NOT_FOUND.
  Answer<bool> revoke_node(const Caller& actor, const std::string& node, double now_unix_s);

  /// When the last certificate of the node ends; nullopt: it has none, or that is not known.
  std::optional<double> certificate_end_unix_s(const std::string& node) const;
  /// An agent has shown this certificate: it is remembered where the server did not know its end.
  void note_certificate(const Caller& caller);
  /// Stores when tokens were last shown, and what was noted of certificates, if there is anything
  /// new. Errors: the store's.
  Status save_uses();

  /// Calls `end` when the node is revoked, until the number it returns is given to forget().
  uint64_t on_revocation(const std::string& node, std::function<void(const Problem&)> end);
  void forget(uint64_t number);

 private:
  explicit Access(Store& store) : store_(&store), mutex_(std::make_unique<std::mutex>()) {}
  struct Listener {
    std::string node;
    std::function<void(const Problem&)> end;
  };
  Status read_tokens() const;
  void look_for_new_tokens(double now_unix_s) const;
  Answer<Caller> identify_vouched(const Credentials& credentials, double now_unix_s) const;
  Answer<Caller> identify_user(const std::string& bearer, double now_unix_s) const;
  Answer<Caller> identify_node(const std::string& certificate_pem, double now_unix_s) const;
  std::optional<Problem> refusal_of_certificate(const Caller& caller, double now_unix_s) const;
  // When a certificate that is issued now begins, in whole seconds: backdated, so that it counts
  // after this machine's clock has been set back, but not before the node's bound, because it
  // would be revoked already. The mutex is held.
  double certificate_from_s(const std::string& node, double now_unix_s) const;

  Store* store_;
  std::optional<Authority> authority_;
  std::shared_ptr<People> people_;  // null: no issuer vouches for any
  std::string secret_sha256_;
  std::unique_ptr<std::mutex> mutex_;
  // Another process may add to the stored ones.
  mutable std::map<std::string, TokenRecord> tokens_;   // by secret_sha256
  mutable std::map<std::string, double> shown_unix_s_;  // tokens, since save_uses()
  mutable double looked_unix_s_ = 0;                    // for tokens that are new
  mutable double looks_ = 0;                            // that strangers may cause
  std::map<std::string, NodeBound> bounds_;
  std::set<std::string> noted_;  // nodes whose bounds save_uses() stores
  std::map<uint64_t, Listener> listeners_;
  uint64_t next_listener_ = 1;
};

}  // namespace stripline::server
