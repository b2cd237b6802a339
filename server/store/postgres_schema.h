// The server's tables in PostgreSQL: those of sqlite_migrations.h as they are now, and who writes
// to them. They are in a schema of their own, "stripline".
#pragma once

#include "base/result.h"
#include "server/store/postgres.h"

namespace stripline::server {

/// The version of these tables that this build writes and reads; sqlite_migrations.h counts its
/// own.
inline constexpr int kPostgresSchemaVersion = 9;

/// That of the tables; 0: there are none yet. Errors: failed_precondition when another program or a
/// newer Stripline made them.
Result<int> postgres_table_version(PostgresConnection& connection);

/// Creates the tables, or brings them up to date, whole or not at all; one server at a time, others
/// wait. Errors: those of postgres_table_version(); unavailable when the user may not create them.
Status prepare_postgres_tables(PostgresConnection& connection);

}  // namespace stripline::server
