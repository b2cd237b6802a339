// What of deleted campaigns is still in the tables, and how much room the tables take.
#pragma once

#include <string_view>

#include "server/sqlite.h"
#include "server/store.h"

namespace stripline::server {

/// Campaigns that have ended and from which no version of a model was fitted, as the rest of a
/// query that begins with kCampaignColumns: those that ended before ?1, at most ?2.
extern const std::string_view kExpendable;

/// See Store::sweep().
Result<bool> sweep_deleted(SqliteDatabase& database);

/// See Store::size().
Result<StoreSize> size_of(SqliteDatabase& database);

}  // namespace stripline::server
