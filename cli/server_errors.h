// What a server says of a call that failed, in the words of the command line.
#pragma once

#include <string>

#include "base/result.h"
#include "proto/rpc_error.h"

namespace stripline::cli {

/// An error of a call, with a hint. Its code is chosen so that exit_code_for() gives the documented
/// exit code: what the server calls a failed precondition may be a wrong name (UNSUPPORTED_FABRIC),
/// missing agents (NOT_ENOUGH_NODES) or a conflict (CAMPAIGN_FINISHED). `by_issuer`: the user came
/// in by 'login --oidc'.
Error explained(const RpcError& error, const std::string& server, bool by_issuer = false);

}  // namespace stripline::cli
