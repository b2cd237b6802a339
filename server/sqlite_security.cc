#include "server/sqlite_security.h"

#include <string>

namespace stripline::server {

const std::string_view kTokenColumns =
    "SELECT secret_sha256, role, subject, created, expires, ended, used_by FROM tokens";
const std::string_view kNodeBoundColumns = "SELECT node, not_before FROM node_bounds";
const std::string_view kAuditColumns = "SELECT id, time, actor, action, object FROM audit";

Status create_security_tables(SqliteDatabase& database) {
  return database.execute(R"sql(
CREATE TABLE IF NOT EXISTS tokens (
  secret_sha256 TEXT PRIMARY KEY,
  role TEXT NOT NULL,
  subject TEXT NOT NULL,
  created REAL NOT NULL,
  expires REAL NOT NULL,
  ended REAL NOT NULL,         -- revoked or used up; 0: neither
  used_by TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS node_bounds (
  node TEXT PRIMARY KEY,
  not_before REAL NOT NULL     -- certificates that began earlier are not accepted
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  time REAL NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  object TEXT NOT NULL
) STRICT;
)sql");
}

Status write_security(SqliteDatabase& database, const Changes& changes) {
  for (const TokenRecord& r : changes.tokens) {
    STRIPLINE_ASSIGN_OR_RETURN(
        SqliteStatement statement,
        database.prepare("INSERT OR REPLACE INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?)"));
    statement.bind(r.secret_sha256, to_string(r.role), r.subject, r.created_unix_s,
                   r.expires_unix_s, r.ended_unix_s, r.used_by);
    STRIPLINE_RETURN_IF_ERROR(statement.run());
  }
  for (const NodeBound& r : changes.node_bounds) {
    STRIPLINE_ASSIGN_OR_RETURN(
        SqliteStatement statement,
        database.prepare("INSERT OR REPLACE INTO node_bounds VALUES (?, ?)"));
    statement.bind(r.node, r.not_before_unix_s);
    STRIPLINE_RETURN_IF_ERROR(statement.run());
  }
  for (const AuditRecord& r : changes.audit) {
    STRIPLINE_ASSIGN_OR_RETURN(
        SqliteStatement statement,
        database.prepare("INSERT INTO audit (time, actor, action, object) VALUES (?, ?, ?, ?)"));
    statement.bind(r.time_unix_s, r.actor, r.action, r.object);
    STRIPLINE_RETURN_IF_ERROR(statement.run());
  }
  return {};
}

Result<TokenRecord> read_token(SqliteStatement& row) {
  TokenRecord r{row.text(0), role_from_string(row.text(1)),
                row.text(2), row.real(3),
                row.real(4), row.real(5),
                row.text(6)};
  if (r.role == Role::nobody) {
    return Error(ErrorCode::data_loss, "stored role '" + row.text(1) + "' is unknown");
  }
  return r;
}

Result<NodeBound> read_node_bound(SqliteStatement& row) {
  return NodeBound{row.text(0), row.real(1)};
}

Result<AuditRecord> read_audit(SqliteStatement& row) {
  return AuditRecord{row.integer(0), row.real(1), row.text(2), row.text(3), row.text(4)};
}

}  // namespace stripline::server
