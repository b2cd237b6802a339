#include "server/store/sql_security.h"

namespace stripline::server {

const std::string_view kTokenColumns =
    "SELECT secret_sha256, role, subject, created, expires, ended, used_by, count, uses, last_used"
    " FROM tokens";
const std::string_view kNodeBoundColumns = "SELECT node, not_before, until FROM node_bounds";
const std::string_view kAuditColumns = "SELECT id, time, actor, action, object FROM audit";

Status write_security(SqlDatabase& database, const Changes& changes) {
  STRIPLINE_RETURN_IF_ERROR(write_all(database, changes.tokens, R"sql(
      INSERT INTO tokens (secret_sha256, role, subject, created, expires, ended, used_by, count,
                          uses, last_used)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (secret_sha256) DO UPDATE SET
        role = excluded.role, subject = excluded.subject, created = excluded.created,
        expires = excluded.expires, ended = excluded.ended, used_by = excluded.used_by,
        count = excluded.count, uses = excluded.uses, last_used = excluded.last_used)sql",
                                      [](SqlStatement& s, const TokenRecord& r) {
                                        s.bind(r.secret_sha256, to_string(r.role), r.subject,
                                               r.created_unix_s, r.expires_unix_s, r.ended_unix_s,
                                               r.used_by, r.count, r.uses, r.last_used_unix_s);
                                      }));
  STRIPLINE_RETURN_IF_ERROR(
      write_all(database, changes.node_bounds,
                "INSERT INTO node_bounds (node, not_before, until) VALUES (?, ?, ?)"
                " ON CONFLICT (node) DO UPDATE SET not_before = excluded.not_before,"
                " until = excluded.until",
                [](SqlStatement& s, const NodeBound& r) {
                  s.bind(r.node, r.not_before_unix_s, r.until_unix_s);
                }));
  return write_all(database, changes.audit,
                   "INSERT INTO audit (time, actor, action, object) VALUES (?, ?, ?, ?)",
                   [](SqlStatement& s, const AuditRecord& r) {
                     s.bind(r.time_unix_s, r.actor, r.action, r.object);
                   });
}

Result<TokenRecord> read_token(SqlStatement& row) {
  TokenRecord r{row.text(0),
                role_from_string(row.text(1)),
                row.text(2),
                row.real(3),
                row.real(4),
                row.real(5),
                row.text(6),
                static_cast<uint32_t>(row.integer(7)),
                static_cast<uint32_t>(row.integer(8)),
                row.real(9)};
  if (r.role == Role::nobody) {
    return Error(ErrorCode::data_loss, "stored role '" + row.text(1) + "' is unknown");
  }
  return r;
}

Result<NodeBound> read_node_bound(SqlStatement& row) {
  return NodeBound{row.text(0), row.real(1), row.real(2)};
}

Result<AuditRecord> read_audit(SqlStatement& row) {
  return AuditRecord{row.integer(0), row.real(1), row.text(2), row.text(3), row.text(4)};
}

}  // namespace stripline::server
