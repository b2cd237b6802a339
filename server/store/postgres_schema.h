// The server's tables in PostgreSQL. They are in a schema of their own, "stripline".
#pragma once

#include <string_view>

#include "base/result.h"
#include "server/store/postgres.h"

namespace stripline::server {

/// What messages call it: its URL is not for everyone.
inline constexpr std::string_view kThisDatabase = "the database";

/// False: there are none yet. Errors: those of table_version() (schema.h); failed_precondition when
/// another program made those that there are.
Result<bool> has_postgres_tables(PostgresConnection& connection);

/// Creates the tables, or brings them up to date, whole or not at all; one server at a time, others
/// wait. Errors: those of has_postgres_tables(); unavailable when the user may not create them.
Status prepare_postgres_tables(PostgresConnection& connection);

}  // namespace stripline::server
