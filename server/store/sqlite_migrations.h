// From the tables of the first version to those of this build, step by step. A new database is made
// by the same steps, so that it has the tables of one that was brought up to date.
#pragma once

#include "base/result.h"
#include "server/store/sqlite.h"

namespace stripline::server {

/// The version of the tables that this build writes and reads.
inline constexpr int kStoreSchemaVersion = 17;

/// Creates the tables of version 1, with an installation's id, in an empty database.
Status create_first_tables(SqliteDatabase& database);

/// Makes the tables those of kStoreSchemaVersion, or leaves them as they are on an error.
/// `version`: that they have, from 1 on. Call it in a transaction.
Status migrate(SqliteDatabase& database, int version);

}  // namespace stripline::server
