// Writes to the tables in schema.cc. sql_rows.h reads them.
#pragma once

#include "server/store/sql.h"
#include "server/store/store.h"

namespace stripline::server {

/// Writes a step. The caller holds a transaction.
Status write_changes(SqlDatabase& database, const Changes& changes);

}  // namespace stripline::server
