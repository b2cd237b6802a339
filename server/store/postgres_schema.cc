#include "server/store/postgres_schema.h"

#include <string>

#include "server/store/schema.h"

namespace stripline::server {
namespace {

// Servers that start at the same time make the tables one after the other.
constexpr const char* kMakingTables = "SELECT pg_advisory_xact_lock(6004508102917974885)";

Status make_tables(PostgresConnection& connection) {
  STRIPLINE_ASSIGN_OR_RETURN(const bool present, has_postgres_tables(connection));
  if (!present) {
    // An administrator may have made the schema for a user who may not.
    STRIPLINE_ASSIGN_OR_RETURN(
        const std::string schemas,
        connection.query_text("SELECT count(*) FROM pg_namespace WHERE nspname = 'stripline'"));
    if (schemas == "0") STRIPLINE_RETURN_IF_ERROR(connection.execute("CREATE SCHEMA stripline"));
    STRIPLINE_RETURN_IF_ERROR(create_tables(connection, SqlDialect::postgresql));
  }
  return migrate(connection, SqlDialect::postgresql, std::string(kThisDatabase));
}

}  // namespace

Result<bool> has_postgres_tables(PostgresConnection& connection) {
  STRIPLINE_ASSIGN_OR_RETURN(
      const std::string tables,
      connection.query_text("SELECT count(*) FROM pg_tables WHERE schemaname = 'stripline'"));
  if (tables == "0") return false;
  STRIPLINE_ASSIGN_OR_RETURN(
      const std::string ours,
      connection.query_text("SELECT count(*) FROM pg_tables"
                            " WHERE schemaname = 'stripline' AND tablename = 'meta'"));
  if (ours == "0") {
    return Error(ErrorCode::failed_precondition,
                 "the database's schema 'stripline' is another program's; name another database");
  }
  STRIPLINE_RETURN_IF_ERROR(table_version(connection, std::string(kThisDatabase)));
  return true;
}

Status prepare_postgres_tables(PostgresConnection& connection) {
  STRIPLINE_RETURN_IF_ERROR(connection.execute("BEGIN"));
  Status made = connection.execute(kMakingTables);
  if (made.ok()) made = make_tables(connection);
  if (!made.ok()) {
    (void)connection.execute("ROLLBACK");
    return made.error();
  }
  return connection.execute("COMMIT");
}

}  // namespace stripline::server
