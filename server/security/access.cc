#include "server/security/access.h"

#include <algorithm>
#include <cmath>

#include "base/cut_text.h"
#include "base/pki/token.h"
#include "base/rfc3339.h"
#include "server/security/node_pattern.h"
#include "server/store/names.h"

namespace stripline::server {
namespace {

constexpr double kDay_s = 86400;
constexpr double kListedAfterEnd_s = 30 * kDay_s;
// The server's owner may add a token while it runs (add_token.h): strangers who show others must
// not make it read the store all the time, but some at a time and one a second.
constexpr double kMaxLooks = 5;
constexpr double kLooksPerSecond = 1;
// The time at which a token was last shown is stored to the hour.
constexpr double kUseStored_s = 3600;
// A certificate that replaces a revoked one begins up to a few seconds later than now.
constexpr double kSameMoment_s = 60;
constexpr const char* kEnrolAgain =
    ", enrol the node again, with a token of 'stripline token create --role agent'";

Problem unauthenticated(const std::string& message) {
  return {ErrorCode::failed_precondition, "UNAUTHENTICATED", message, {}};
}

Problem denied(const std::string& message) {
  return {ErrorCode::failed_precondition, "PERMISSION_DENIED", message, {}};
}

Problem no_certificates() {
  return {ErrorCode::failed_precondition,
          "NO_CERTIFICATES",
          "this server has no certificates, and knows neither users nor nodes; start it with "
          "'stripline-server init' and without --dev or --insecure-listen",
          {}};
}

Problem wrong_token() {
  return unauthenticated(
      "this token is not known here, used up, expired or revoked; an "
      "administrator makes another with 'stripline token create'");
}

}  // namespace

Access Access::open_to_all(Store& store) { return Access(store); }

Access Access::with_secret(Store& store, const std::string& secret) {
  Access access(store);
  access.secret_sha256_ = pki::secret_sha256(secret);
  return access;
}

Result<Access> Access::with_authority(Store& store, Authority authority) {
  Access access(store);
  access.authority_ = std::move(authority);
  STRIPLINE_RETURN_IF_ERROR(access.reload());
  return access;
}

Status Access::reload() {
  if (!authority_) return {};
  const std::lock_guard lock(*mutex_);
  STRIPLINE_RETURN_IF_ERROR(read_tokens());
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<NodeBound> bounds, store_->node_bounds());
  bounds_.clear();
  for (const NodeBound& bound : bounds) bounds_[bound.node] = bound;
  return {};
}

// The mutex is held.
Status Access::read_tokens() const {
  STRIPLINE_ASSIGN_OR_RETURN(std::vector<TokenRecord> tokens, store_->tokens());
  tokens_.clear();
  for (TokenRecord& token : tokens) {
    std::string key = token.secret_sha256;
    tokens_.insert_or_assign(std::move(key), std::move(token));
  }
  return {};
}

// Where a token is not known. The mutex is held.
void Access::look_for_new_tokens(double now_unix_s) const {
  const double more = kLooksPerSecond * std::max(0.0, now_unix_s - looked_unix_s_);
  looks_ = std::min(kMaxLooks, looks_ + more);
  looked_unix_s_ = now_unix_s;
  if (looks_ < 1) return;
  --looks_;
  // What cannot be read stays as it was: readiness says why.
  (void)read_tokens();
}

Answer<Caller> Access::identify(const Credentials& credentials, double now_unix_s) const {
  if (is_open()) return Caller{"users/anonymous", Role::admin, true};
  if (people_ && (oidc::looks_like_jwt(credentials.bearer) ||
                  (credentials.bearer.empty() && !credentials.session.empty()))) {
    return identify_vouched(credentials, now_unix_s);
  }
  if (!credentials.bearer.empty()) return identify_user(credentials.bearer, now_unix_s);
  if (!credentials.certificate_pem.empty()) {
    return identify_node(credentials.certificate_pem, now_unix_s);
  }
  return Caller{};
}

Answer<Caller> Access::authorize(const Credentials& credentials, Role role,
                                 double now_unix_s) const {
  auto caller = identify(credentials, now_unix_s);
  if (!caller) return caller;
  if (auto problem = refusal(*caller, role)) return *problem;
  return caller;
}

Answer<Caller> Access::identify_vouched(const Credentials& credentials, double now_unix_s) const {
  const bool in_session = credentials.bearer.empty();
  auto found = in_session ? people_->by_session(credentials.session, now_unix_s)
                          : people_->by_token(credentials.bearer, now_unix_s);
  if (!found) return found.problem();
  Caller caller{"users/" + found->name, found->role};
  caller.token_sha256 = std::move(found->secret_sha256);
  caller.token_until_unix_s = found->until_unix_s;
  caller.voucher = in_session ? Voucher::session : Voucher::token;
  return caller;
}

// What is looked up is a hash, so that how long that takes says nothing about the secret.
Answer<Caller> Access::identify_user(const std::string& bearer, double now_unix_s) const {
  const std::string hash = pki::secret_sha256(bearer);
  if (!authority_) {
    if (hash == secret_sha256_) return Caller{"users/dev", Role::admin, true};
    return unauthenticated(
        "this token is of another start of the server; the file that holds the "
        "present one is found by itself by the user who started it");
  }
  const std::lock_guard lock(*mutex_);
  auto found = tokens_.find(hash);
  if (found == tokens_.end()) {
    look_for_new_tokens(now_unix_s);
    found = tokens_.find(hash);
  }
  if (found == tokens_.end() || !found->second.usable_at(now_unix_s) ||
      found->second.role == Role::agent) {
    return wrong_token();
  }
  shown_unix_s_[hash] = now_unix_s;
  Caller caller{"users/" + found->second.subject, found->second.role};
  caller.token_sha256 = hash;
  caller.token_until_unix_s = found->second.expires_unix_s;
  return caller;
}

Answer<Caller> Access::identify_node(const std::string& certificate_pem, double now_unix_s) const {
  // TLS has seen that the caller holds the certificate's key, and nothing else: what is wrong with
  // it is said here, where the caller hears it.
  const auto certificate = pki::Certificate::from_pem(certificate_pem);
  if (!authority_ || !certificate.ok() || !certificate->is_client_of(authority_->certificate())) {
    return unauthenticated(
        "the certificate shown is not one that this server has issued to a node; enrol the node "
        "here, with 'stripline-agent --enroll' and a token of 'stripline token create --role "
        "agent'");
  }
  const std::string node = node_of(*certificate);
  if (node.empty()) return unauthenticated("this certificate is not a node's");
  Caller caller{node_name(node),
                Role::nobody,
                true,
                node,
                certificate->not_before_unix_s(),
                certificate->not_after_unix_s()};
  if (const auto problem = refusal_of_certificate(caller, now_unix_s)) return *problem;
  return caller;
}

std::optional<Problem> Access::refusal_of_certificate(const Caller& caller,
                                                      double now_unix_s) const {
  if (now_unix_s > caller.until_unix_s) {
    return unauthenticated("the certificate of " + caller.name + " has expired at " +
                           rfc3339(caller.until_unix_s) + kEnrolAgain);
  }
  if (caller.since_unix_s > now_unix_s + kSameMoment_s) {
    return unauthenticated("the certificate of " + caller.name + " begins at " +
                           rfc3339(caller.since_unix_s) + ", and the server's clock says " +
                           rfc3339(std::floor(now_unix_s)) +
                           ": it was issued while that clock was ahead, or is behind now; where "
                           "the clock is right" +
                           kEnrolAgain);
  }
  const std::lock_guard lock(*mutex_);
  const auto bound = bounds_.find(caller.node);
  if (bound != bounds_.end() && caller.since_unix_s < bound->second.not_before_unix_s) {
    return unauthenticated("the certificate of " + caller.name +
                           " is revoked, or replaced by a later enrolment of that node");
  }
  return std::nullopt;
}

std::optional<Problem> Access::refusal(const Caller& caller, Role role) {
  if (role == Role::nobody) return std::nullopt;
  if (role == Role::agent ? caller.is_agent : caller.role >= role) return std::nullopt;
  if (caller.role == Role::nobody && !caller.is_agent) {
    return unauthenticated(
        role == Role::agent
            ? "agents show a certificate here; enrol the node with 'stripline-agent --enroll'"
            : "a token is needed here; 'stripline login' takes one");
  }
  return denied(
      caller.name +
      (caller.is_agent ? " is a node" : " has the role " + std::string(to_string(caller.role))) +
      "; this needs " + std::string(to_string(role)));
}

std::optional<Problem> Access::refusal_of_stream(const Caller& caller, double now_unix_s) const {
  if (caller.token_sha256.empty()) return std::nullopt;
  if (caller.voucher != Voucher::none) {
    const bool goes_on =
        now_unix_s <= caller.token_until_unix_s &&
        (caller.voucher == Voucher::token || people_->has_session(caller.token_sha256, now_unix_s));
    if (goes_on) return std::nullopt;
    return unauthenticated("the sign-in of " + caller.name + " has ended");
  }
  const std::lock_guard lock(*mutex_);
  const auto found = tokens_.find(caller.token_sha256);
  if (found != tokens_.end() && found->second.usable_at(now_unix_s)) return std::nullopt;
  return unauthenticated("the token of " + caller.name + " has expired or was revoked meanwhile");
}

std::optional<Problem> Access::refusal_of_node(const Caller& caller, const std::string& node,
                                               double now_unix_s) const {
  if (caller.node.empty()) return std::nullopt;
  if (caller.node != node) {
    return denied("this certificate is that of " + caller.name + ", not of " + node_name(node) +
                  "; start the agent with --node " + caller.node + ", or enrol this node");
  }
  return refusal_of_certificate(caller, now_unix_s);
}

Answer<NewToken> Access::create_token(const Caller& actor, Role role, const std::string& subject,
                                      double valid_s, double now_unix_s, uint32_t count) {
  if (!authority_) return no_certificates();
  auto made = new_token({role, subject, valid_s, count}, authority_->sha256(), now_unix_s);
  if (!made) return made.problem();
  const std::lock_guard lock(*mutex_);
  STRIPLINE_RETURN_IF_ERROR(store_->apply(changes_for(*made, actor.name)));
  tokens_[made->record.secret_sha256] = made->record;
  return made;
}

std::vector<TokenRecord> Access::tokens(double now_unix_s) const {
  const std::lock_guard lock(*mutex_);
  std::vector<TokenRecord> listed;
  for (const auto& [hash, token] : tokens_) {
    const double end = token.ended_unix_s != 0 ? token.ended_unix_s : token.expires_unix_s;
    if (now_unix_s < end + kListedAfterEnd_s) listed.push_back(token);
  }
  std::sort(listed.begin(), listed.end(), [](const TokenRecord& a, const TokenRecord& b) {
    return a.created_unix_s < b.created_unix_s;
  });
  return listed;
}

Answer<TokenRecord> Access::revoke_token(const Caller& actor, const std::string& name,
                                         double now_unix_s) {
  const std::lock_guard lock(*mutex_);
  const auto found = std::find_if(tokens_.begin(), tokens_.end(),
                                  [&](const auto& entry) { return entry.second.name() == name; });
  if (found == tokens_.end()) {
    return Problem{ErrorCode::not_found,
                   "TOKEN_NOT_FOUND",
                   "there is no token '" + name + "'",
                   {{"name", name}}};
  }
  if (found->second.ended_unix_s != 0) return found->second;
  const auto is_admin = [&](const TokenRecord& token) {
    return token.role == Role::admin && token.usable_at(now_unix_s);
  };
  const bool others_are = std::any_of(tokens_.begin(), tokens_.end(), [&](const auto& entry) {
    return &entry.second != &found->second && is_admin(entry.second);
  });
  if (is_admin(found->second) && !others_are) {
    return Problem{ErrorCode::failed_precondition,
                   "LAST_ADMIN",
                   "'" + name +
                       "' is the only token of an administrator that is valid: without it no one "
                       "could make another; make one first, with 'stripline token create --role "
                       "admin NAME'",
                   {{"name", name}}};
  }
  TokenRecord ended = found->second;
  ended.ended_unix_s = now_unix_s;
  Changes changes;
  changes.tokens.push_back(ended);
  changes.audit.push_back({0, now_unix_s, actor.name, "revoke token", name});
  if (const Status stored = store_->apply(changes); !stored.ok()) return stored.error();
  found->second = ended;
  return ended;
}

Answer<std::string> Access::enroll(const std::string& token, const std::string& node,
                                   const std::string& request_pem, double now_unix_s) {
  if (!authority_) return no_certificates();
  if (!is_segment(node)) {
    return invalid_field("node", quoted_text(node) +
                                     " is not a valid name; it must match "
                                     "[a-z0-9][a-z0-9._-]{0,62}");
  }
  const auto shown = pki::parse_token(token);
  if (!shown.ok() || shown->kind != pki::Token::Kind::node) {
    return unauthenticated(
        "this is not a token that enrols a node; an administrator makes one with "
        "'stripline token create --role agent'");
  }
  const std::lock_guard lock(*mutex_);
  const std::string hash = pki::secret_sha256(shown->secret);
  auto found = tokens_.find(hash);
  if (found == tokens_.end()) {
    look_for_new_tokens(now_unix_s);
    found = tokens_.find(hash);
  }
  if (found == tokens_.end() || !found->second.usable_at(now_unix_s) ||
      found->second.role != Role::agent) {
    return wrong_token();
  }
  const std::string& subject = found->second.subject;
  if (!subject.empty() && !matches_node_pattern(subject, node)) {
    return unauthenticated("this token enrols " + node_name(subject) + ", not " + node_name(node));
  }
  const double from_s = certificate_from_s(node, now_unix_s);
  const double until_s = now_unix_s + kNodeCertificateValid_s;
  auto certificate = authority_->certify_node(node, request_pem, {from_s, until_s});
  if (!certificate.ok()) return invalid_field("request_pem", certificate.error().message());
  TokenRecord used = found->second;
  if (++used.uses >= used.count) used.ended_unix_s = now_unix_s;
  used.used_by = node;
  used.last_used_unix_s = now_unix_s;
  const NodeBound bound{node, from_s, until_s};
  Changes changes;
  changes.tokens.push_back(used);
  changes.node_bounds.push_back(bound);
  changes.audit.push_back({0, now_unix_s, used.name(), "enrol node", node_name(node)});
  if (const Status stored = store_->apply(changes); !stored.ok()) return stored.error();
  found->second = used;
  bounds_[node] = bound;
  return std::move(*certificate);
}

double Access::certificate_from_s(const std::string& node, double now_unix_s) const {
  const auto bound = bounds_.find(node);
  const double from_s = std::floor(now_unix_s) - kClocksDiffer_s;
  // A bound that lies ahead was set while this machine's clock was: the node would not be let in
  // until then. Certificates of that time are not valid until then, either.
  if (bound == bounds_.end() || bound->second.not_before_unix_s > now_unix_s + kSameMoment_s) {
    return from_s;
  }
  return std::max(from_s, bound->second.not_before_unix_s);
}

Answer<std::string> Access::renew(const Caller& caller, const std::string& request_pem,
                                  double now_unix_s) {
  if (!authority_ || caller.node.empty()) return no_certificates();
  if (const auto problem = refusal_of_certificate(caller, now_unix_s)) return *problem;
  const std::lock_guard lock(*mutex_);
  const double from_s = certificate_from_s(caller.node, now_unix_s);
  const double until_s = now_unix_s + kNodeCertificateValid_s;
  auto certificate = authority_->certify_node(caller.node, request_pem, {from_s, until_s});
  if (!certificate.ok()) return invalid_field("request_pem", certificate.error().message());
  // The certificate of before stays valid: what is stored as its beginning stays.
  const auto known = bounds_.find(caller.node);
  const NodeBound bound{caller.node, known == bounds_.end() ? 0 : known->second.not_before_unix_s,
                        until_s};
  Changes changes;
  changes.node_bounds.push_back(bound);
  changes.audit.push_back({0, now_unix_s, caller.name, "renew certificate", caller.name});
  if (const Status stored = store_->apply(changes); !stored.ok()) return stored.error();
  bounds_[caller.node] = bound;
  return std::move(*certificate);
}

std::optional<double> Access::certificate_end_unix_s(const std::string& node) const {
  const std::lock_guard lock(*mutex_);
  const auto bound = bounds_.find(node);
  if (bound == bounds_.end() || bound->second.until_unix_s == 0) return std::nullopt;
  return bound->second.until_unix_s;
}

void Access::note_certificate(const Caller& caller) {
  if (caller.node.empty() || caller.until_unix_s == 0) return;
  const std::lock_guard lock(*mutex_);
  const auto bound = bounds_.find(caller.node);
  if (bound == bounds_.end() || bound->second.until_unix_s >= caller.until_unix_s) return;
  bound->second.until_unix_s = caller.until_unix_s;
  noted_.insert(caller.node);
}

Status Access::save_uses() {
  const std::lock_guard lock(*mutex_);
  Changes changes;
  for (const auto& [hash, shown_unix_s] : shown_unix_s_) {
    const auto token = tokens_.find(hash);
    if (token == tokens_.end()) continue;
    if (shown_unix_s - token->second.last_used_unix_s < kUseStored_s) continue;
    changes.tokens.push_back(token->second);
    changes.tokens.back().last_used_unix_s = std::floor(shown_unix_s);
  }
  for (const std::string& node : noted_) {
    if (const auto bound = bounds_.find(node); bound != bounds_.end()) {
      changes.node_bounds.push_back(bound->second);
    }
  }
  if (!changes.tokens.empty() || !changes.node_bounds.empty()) {
    STRIPLINE_RETURN_IF_ERROR(store_->apply(changes));
  }
  for (const TokenRecord& token : changes.tokens) tokens_[token.secret_sha256] = token;
  shown_unix_s_.clear();
  noted_.clear();
  return {};
}

Answer<bool> Access::revoke_node(const Caller& actor, const std::string& node, double now_unix_s) {
  if (!authority_) return no_certificates();
  std::vector<std::function<void(const Problem&)>> ends;
  {
    const std::lock_guard lock(*mutex_);
    const auto bound = bounds_.find(node);
    if (bound == bounds_.end()) {
      return Problem{ErrorCode::not_found,
                     "NODE_NOT_FOUND",
                     node_name(node) + " was never enrolled",
                     {{"name", node_name(node)}}};
    }
    // After every certificate that has been issued by now.
    const NodeBound revoked{
        node, std::max(std::floor(now_unix_s), bound->second.not_before_unix_s) + 1, 0};
    Changes changes;
    changes.node_bounds.push_back(revoked);
    changes.audit.push_back({0, now_unix_s, actor.name, "revoke node", node_name(node)});
    if (const Status stored = store_->apply(changes); !stored.ok()) return stored.error();
    bound->second = revoked;
    for (const auto& [number, listener] : listeners_) {
      if (listener.node == node) ends.push_back(listener.end);
    }
  }
  const Problem revoked = unauthenticated("the certificate of " + node_name(node) + " is revoked");
  for (const auto& end : ends) end(revoked);
  return true;
}

uint64_t Access::on_revocation(const std::string& node, std::function<void(const Problem&)> end) {
  const std::lock_guard lock(*mutex_);
  listeners_[next_listener_] = {node, std::move(end)};
  return next_listener_++;
}

void Access::forget(uint64_t number) {
  const std::lock_guard lock(*mutex_);
  listeners_.erase(number);
}

}  // namespace stripline::server
