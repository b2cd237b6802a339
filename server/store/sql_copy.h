// All that a server stores, from one database to another, of whatever kind: so that a copy of a
// database in PostgreSQL is a file, and a file moves into PostgreSQL.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "server/store/sql.h"

namespace stripline::server {

/// Calls `row` for each row of a query, in order.
using ForEachRow = std::function<Status(const std::string& sql,
                                        const std::function<Status(const SqlStatement&)>& row)>;

/// Copies the rows of all tables into `target`, whose tables are those of this build, and hold
/// nothing. `from` reads the source, as it was at one moment. One of the two is `file`, a database
/// of SQLite, whose catalogue says which tables and columns there are. The caller holds a
/// transaction of each.
Status copy_rows(SqlDatabase& file, const ForEachRow& from, SqlDatabase& target);

}  // namespace stripline::server
