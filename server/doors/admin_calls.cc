#include "server/doors/admin_calls.h"

#include <charconv>

#include "server/clock.h"
#include "server/core/page_token.h"
#include "server/core/wire.h"
#include "server/store/names.h"

namespace stripline::server {
namespace {

constexpr const char* kAuditList = "audit";

Role from_wire(v1::Role role) {
  for (const Role ours :
       {Role::agent, Role::viewer, Role::operator_, Role::publisher, Role::admin}) {
    if (to_wire(ours) == role) return ours;
  }
  return Role::nobody;
}

v1::Token to_wire(const TokenRecord& record) {
  v1::Token token;
  token.set_name(record.name());
  token.set_role(to_wire(record.role));
  token.set_subject(record.subject);
  token.set_create_time(rfc3339(record.created_unix_s));
  token.set_expire_time(rfc3339(record.expires_unix_s));
  if (record.ended_unix_s != 0) token.set_end_time(rfc3339(record.ended_unix_s));
  if (!record.used_by.empty()) token.set_used_by(node_name(record.used_by));
  token.set_count(record.count);
  token.set_uses(record.uses);
  if (record.last_used_unix_s != 0) token.set_last_used_time(rfc3339(record.last_used_unix_s));
  return token;
}

}  // namespace

Answer<v1::WhoAmIResponse> who_am_i(const Caller& caller, const v1::WhoAmIRequest& /*request*/) {
  v1::WhoAmIResponse response;
  response.set_name(caller.name);
  response.set_role(to_wire(caller.role));
  if (caller.token_until_unix_s != 0) {
    response.set_token_expire_time(rfc3339(caller.token_until_unix_s));
  }
  return response;
}

Answer<v1::SignIn> get_sign_in(const Access& access, const v1::GetSignInRequest& /*request*/) {
  v1::SignIn sign_in;
  if (const People* people = access.people()) {
    sign_in.set_issuer(people->options().issuer.url);
    sign_in.set_client_id(people->options().device_client());
    sign_in.set_scopes(people->options().scopes);
  }
  return sign_in;
}

Answer<v1::CreateTokenResponse> create_token(Access& access, const Caller& caller,
                                             const v1::CreateTokenRequest& request) {
  STRIPLINE_ASSIGN_OR_RETURN(
      const auto made, access.create_token(caller, from_wire(request.role()), request.subject(),
                                           request.valid_s(), unix_seconds(), request.count()));
  v1::CreateTokenResponse response;
  *response.mutable_token() = to_wire(made.record);
  response.set_text(made.text);
  return response;
}

Answer<v1::ListTokensResponse> list_tokens(const Access& access,
                                           const v1::ListTokensRequest& /*request*/) {
  v1::ListTokensResponse response;
  for (const TokenRecord& record : access.tokens(unix_seconds())) {
    *response.add_tokens() = to_wire(record);
  }
  return response;
}

Answer<v1::Token> revoke_token(Access& access, const Caller& caller,
                               const v1::RevokeTokenRequest& request) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto revoked,
                             access.revoke_token(caller, request.name(), unix_seconds()));
  return to_wire(revoked);
}

Answer<v1::RevokeNodeResponse> revoke_node(Access& access, const Caller& caller,
                                           const v1::RevokeNodeRequest& request) {
  const auto node = parse_node_name(request.name());
  if (!node) return invalid_field("name", "'" + request.name() + "' is not of the form nodes/NAME");
  STRIPLINE_RETURN_IF_ERROR(access.revoke_node(caller, *node, unix_seconds()));
  return v1::RevokeNodeResponse();
}

Answer<v1::ListAuditEventsResponse> list_audit_events(Store& store,
                                                      const v1::ListAuditEventsRequest& request) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto limit, page_limit(request.page_size()));
  STRIPLINE_ASSIGN_OR_RETURN(const auto token, read_page_token(kAuditList, request.page_token()));
  int64_t before = 0;
  std::from_chars(token.data(), token.data() + token.size(), before);
  STRIPLINE_ASSIGN_OR_RETURN(const auto records, store.audit(before, limit + 1));
  v1::ListAuditEventsResponse response;
  for (size_t i = 0; i < records.size() && i < limit; ++i) {
    const AuditRecord& record = records[i];
    v1::AuditEvent& event = *response.add_events();
    event.set_time(rfc3339(record.time_unix_s));
    event.set_actor(record.actor);
    event.set_action(record.action);
    event.set_object(record.object);
  }
  if (records.size() > limit) {
    response.set_next_page_token(
        make_page_token(kAuditList, std::to_string(records[limit - 1].id)));
  }
  return response;
}

}  // namespace stripline::server
