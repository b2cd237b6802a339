// What /api/v1 answers to administrators: tokens, and what was changed.
#include "server/doors/admin_calls.h"
#include "server/doors/api_call.h"

namespace stripline::server {

http::Response Api::tokens(const Call& /*call*/) {
  return answered(Answer<v1::ListTokensResponse>(list_tokens(access_)));
}

http::Response Api::make_token(const Call& call) {
  const auto request = request_from<v1::CreateTokenRequest>(call.request);
  if (!request) return refused(request.problem());
  return answered(create_token(access_, call.caller, *request));
}

http::Response Api::revoke(const Call& call) {
  return acted<v1::RevokeTokenRequest>(call.request, call.name(2), [&](const auto& request) {
    return revoke_token(access_, call.caller, request);
  });
}

http::Response Api::audit(const Call& call) {
  v1::ListAuditEventsRequest list;
  if (const auto problem = set_page(call.request, list)) return refused(*problem);
  return answered(list_audit_events(store_, list));
}

}  // namespace stripline::server
