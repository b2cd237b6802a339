// Logging in, tokens, nodes' certificates and the audit trail.
#pragma once

#include "cli/command.h"

namespace stripline::cli {

int run(const Global& global, const Login& command);
int run(const Global& global, const Logout& command);
int run(const Global& global, const TokenCreate& command);
int run(const Global& global, const TokenList& command);
int run(const Global& global, const TokenRevoke& command);
int run(const Global& global, const AuditList& command);

}  // namespace stripline::cli
