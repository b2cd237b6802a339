// The server's tables, described once for SQLite and PostgreSQL, and what takes them from one
// version to the next.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/store/sql.h"

namespace stripline::server {

enum class SqlDialect { sqlite, postgresql };

/// What takes tables to the next version: statements with type tokens.
using Migrations = std::span<const std::string_view>;

/// The migrations of this build, from version 1 on.
Migrations migrations();

/// `text` with its type tokens, as "{integer}", in the words of a database.
std::string in_dialect(std::string_view text, SqlDialect dialect);

/// Creates the tables of version 1, with an installation's id, in an empty database. Call it in a
/// transaction.
Status create_tables(SqlDatabase& database, SqlDialect dialect);

/// The version of the tables. `where` names the database in messages. Errors: failed_precondition
/// for tables that a newer Stripline made, or one of before the first release, which says what to
/// do about it.
Result<int> table_version(SqlDatabase& database, const std::string& where,
                          Migrations steps = migrations());

/// Makes the tables those of the last migration. Call it in a transaction, which is to be given up
/// on an error. Errors: those of table_version().
Status migrate(SqlDatabase& database, SqlDialect dialect, const std::string& where,
               Migrations steps = migrations());

/// Success if the tables are those that this build writes and reads. Errors: those of
/// table_version(), and failed_precondition for tables that migrate() would change.
Status check_table_version(SqlDatabase& database, const std::string& where,
                           Migrations steps = migrations());

}  // namespace stripline::server
