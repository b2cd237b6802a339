// The tables of people, nodes and the audit trail, and their rows.
#pragma once

#include <string_view>

#include "server/sqlite.h"
#include "server/store.h"

namespace stripline::server {

/// Creates what is missing of them. Older servers leave them alone.
Status create_security_tables(SqliteDatabase& database);

/// Those members of a step. The caller holds a transaction.
Status write_security(SqliteDatabase& database, const Changes& changes);

// As in sqlite_rows.h.
extern const std::string_view kTokenColumns;
Result<TokenRecord> read_token(SqliteStatement& row);
extern const std::string_view kNodeBoundColumns;
Result<NodeBound> read_node_bound(SqliteStatement& row);
extern const std::string_view kAuditColumns;
Result<AuditRecord> read_audit(SqliteStatement& row);

}  // namespace stripline::server
