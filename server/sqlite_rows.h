// Records to and from rows of the tables in sqlite_schema.cc.
#pragma once

#include <string_view>

#include "server/sqlite.h"
#include "server/store.h"

namespace stripline::server {

/// Writes a step. The caller holds a transaction.
Status write_changes(SqliteDatabase& database, const Changes& changes);

// "SELECT columns", in the order in which the function of that kind reads them. Reading fails with
// data_loss when a stored value is not what write_changes() writes.
extern const std::string_view kNodeColumns;
Result<NodeRecord> read_node(SqliteStatement& row);
extern const std::string_view kNodeHoldColumns;
Result<NodeHold> read_node_hold(SqliteStatement& row);
extern const std::string_view kCampaignColumns;
Result<CampaignRecord> read_campaign(SqliteStatement& row);
extern const std::string_view kPointColumns;
Result<PointRecord> read_point(SqliteStatement& row);
extern const std::string_view kRunColumns;
Result<RunRecord> read_run(SqliteStatement& row);
extern const std::string_view kBatchColumns;
Result<BatchRecord> read_batch(SqliteStatement& row);
extern const std::string_view kAttemptColumns;
Result<RunAttempt> read_attempt(SqliteStatement& row);
extern const std::string_view kFactsColumns;
Result<AttemptFacts> read_facts(SqliteStatement& row);
extern const std::string_view kEventColumns;
Result<EventRecord> read_event(SqliteStatement& row);
extern const std::string_view kModelColumns;
Result<ModelRecord> read_model(SqliteStatement& row);
extern const std::string_view kVersionColumns;
Result<ModelVersionRecord> read_version(SqliteStatement& row);

}  // namespace stripline::server
