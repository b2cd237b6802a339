// What of deleted campaigns is still in the tables.
#pragma once

#include <string_view>

#include "server/store/sql.h"
#include "server/store/store.h"

namespace stripline::server {

/// Campaigns that have ended and from which no version of a model was fitted, as the rest of a
/// query that begins with kCampaignColumns: those that ended before ?1, at most ?2.
extern const std::string_view kExpendable;

/// See Store::sweep(). The caller holds a transaction.
Result<bool> sweep_deleted(SqlDatabase& database);

}  // namespace stripline::server
