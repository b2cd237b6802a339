// `stripline-server token`: a token from whoever owns the server's data, without asking a server.
// What lets an operator in again when no administrator's token is valid any more.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "server/process/server.h"
#include "server/security/new_token.h"

namespace stripline::server {

/// Puts a token into the database, which a server may be using: it accepts the token within a
/// second. `data_dir` has the certificates. The audit trail names this user of this machine.
/// Errors: not_found without certificates or a database; invalid_argument; failed_precondition for
/// a database of another version; those of the database.
Result<NewToken> add_token(const std::filesystem::path& data_dir, const StoreLocation& store,
                           const TokenOrder& order, double now_unix_s);

}  // namespace stripline::server
