// Logging in, tokens, nodes' certificates and the audit trail.
#pragma once

#include "cli/command.h"

namespace stripline::cli {

Result<int> run(const Global& global, const Login& command);
Result<int> run(const Global& global, const Logout& command);
Result<int> run(const Global& global, const TokenCreate& command);
Result<int> run(const Global& global, const TokenList& command);
Result<int> run(const Global& global, const TokenRevoke& command);
Result<int> run(const Global& global, const AuditList& command);

}  // namespace stripline::cli
