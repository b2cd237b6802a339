#include "server/core/operations/server_status.h"

#include <cmath>

#include "base/rfc3339.h"
#include "server/clock.h"
#include "server/store/names.h"

namespace stripline::server {
namespace {

constexpr size_t kNamesPerPage = 1000;
// The others are in the list of nodes.
constexpr int kMaxNotices = 100;

v1::ServerNotice::Kind to_wire(ServerNotice::Kind kind) {
  switch (kind) {
    case ServerNotice::Kind::admin_token:
      return v1::ServerNotice::ADMIN_TOKEN;
    case ServerNotice::Kind::server_certificate:
      return v1::ServerNotice::SERVER_CERTIFICATE;
    case ServerNotice::Kind::authority:
      return v1::ServerNotice::AUTHORITY;
    case ServerNotice::Kind::node_certificate:
      return v1::ServerNotice::NODE_CERTIFICATE;
    case ServerNotice::Kind::own_token:
      return v1::ServerNotice::OWN_TOKEN;
    case ServerNotice::Kind::tokens:
      return v1::ServerNotice::TOKENS;
  }
  return v1::ServerNotice::KIND_UNSPECIFIED;
}

void add_issuer(const Access& access, v1::ServerStatus& status) {
  const auto failure =
      access.people() == nullptr ? std::nullopt : access.people()->issuer().failure();
  if (!failure) return;
  v1::ServerNotice& added = *status.add_notices();
  added.set_kind(v1::ServerNotice::ISSUER);
  added.set_message("the issuer " + access.people()->options().issuer.url +
                    " cannot be asked, and people may not be able to sign in by it; tokens of this "
                    "server count as before: " +
                    failure->why);
  added.set_time(rfc3339(std::floor(failure->since_unix_s)));
}

}  // namespace

Result<Ends> ends_of(Store& store, const Access& access, double now_unix_s, const Caller* caller) {
  Ends ends;
  const auto& authority = access.authority();
  if (!authority) return ends;
  ends.tokens = access.tokens(now_unix_s);
  ends.authority_unix_s = authority->certificate().not_after_unix_s();
  if (const auto own = authority->server_certificate(); own.ok()) {
    ends.server_certificate_unix_s = own->not_after_unix_s();
  }
  ends.for_administrators = caller == nullptr || caller->role == Role::admin;
  // A token of an issuer, which ends within hours, as it should, is not among them.
  for (const TokenRecord& token : ends.tokens) {
    if (caller != nullptr && token.secret_sha256 == caller->token_sha256) ends.own_token = token;
  }
  std::string after;
  while (true) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto names, store.node_names(after, kNamesPerPage));
    for (const std::string& node : names) {
      if (const auto end = access.certificate_end_unix_s(node)) ends.nodes.push_back({node, *end});
    }
    if (names.size() < kNamesPerPage) return ends;
    after = names.back();
  }
}

Answer<v1::ServerStatus> get_server_status(Coordinator& coordinator, Store& store,
                                           const Access& access, const Caller& caller,
                                           const v1::GetServerStatusRequest& /*request*/) {
  const double now_unix_s = unix_seconds();
  v1::ServerStatus status;
  if (const auto outage = coordinator.storage_outage()) {
    status.set_storage_failure(outage->why);
    status.set_storage_failing_since(rfc3339(std::floor(outage->since_unix_s)));
  }
  add_issuer(access, status);
  const auto ends = ends_of(store, access, now_unix_s, &caller);
  // What can be said is said, above all while the store fails.
  if (!ends.ok()) return status;
  for (const ServerNotice& notice : notices_of(*ends, now_unix_s)) {
    if (status.notices_size() == kMaxNotices) break;
    v1::ServerNotice& added = *status.add_notices();
    added.set_kind(to_wire(notice.kind));
    added.set_subject(notice.subject);
    added.set_message(notice.message);
    added.set_time(rfc3339(std::floor(notice.end_unix_s)));
  }
  return status;
}

void add_certificate_end(const Access& access, double now_unix_s, v1::Node& node) {
  const auto name = parse_node_name(node.name());
  const auto end = name ? access.certificate_end_unix_s(*name) : std::nullopt;
  if (!end) return;
  constexpr double kDay_s = 86400;
  node.set_certificate_expire_time(rfc3339(std::floor(*end)));
  node.set_certificate_days_left((*end - now_unix_s) / kDay_s);
}

}  // namespace stripline::server
