// What both doors, gRPC and HTTP, answer callers about themselves, and do for administrators:
// requests of stripline.v1 to messages. The caller has been let in. Include from .cc files of the
// services.
#pragma once

#include "server/problem.h"
#include "server/security/access.h"
#include "server/store/store.h"
#include "stripline/v1/access.pb.h"

namespace stripline::server {

// Problems are those that access.proto names, and the store's.

Answer<v1::WhoAmIResponse> who_am_i(const Caller& caller, const v1::WhoAmIRequest& request);
/// How people sign in; of empty members where no issuer vouches for them.
Answer<v1::SignIn> get_sign_in(const Access& access, const v1::GetSignInRequest& request);
Answer<v1::CreateTokenResponse> create_token(Access& access, const Caller& caller,
                                             const v1::CreateTokenRequest& request);
Answer<v1::ListTokensResponse> list_tokens(const Access& access,
                                           const v1::ListTokensRequest& request);
Answer<v1::Token> revoke_token(Access& access, const Caller& caller,
                               const v1::RevokeTokenRequest& request);
Answer<v1::RevokeNodeResponse> revoke_node(Access& access, const Caller& caller,
                                           const v1::RevokeNodeRequest& request);
Answer<v1::ListAuditEventsResponse> list_audit_events(Store& store,
                                                      const v1::ListAuditEventsRequest& request);

}  // namespace stripline::server
