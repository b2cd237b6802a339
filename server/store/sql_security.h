// The tables of people, nodes and the audit trail, and their rows.
#pragma once

#include <string_view>

#include "server/store/sql.h"
#include "server/store/store.h"

namespace stripline::server {

/// Those members of a step. The caller holds a transaction.
Status write_security(SqlDatabase& database, const Changes& changes);

// As in sql_rows.h.
extern const std::string_view kTokenColumns;
Result<TokenRecord> read_token(SqlStatement& row);
extern const std::string_view kNodeBoundColumns;
Result<NodeBound> read_node_bound(SqlStatement& row);
extern const std::string_view kAuditColumns;
Result<AuditRecord> read_audit(SqlStatement& row);

}  // namespace stripline::server
