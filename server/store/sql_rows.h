// Records from rows of the tables in schema.cc, which sql_changes.h writes.
#pragma once

#include <string_view>

#include "server/store/sql.h"
#include "server/store/store.h"

namespace stripline::server {

// "SELECT columns", in the order in which the function of that kind reads them. Reading fails with
// data_loss when a stored value is not what write_changes() writes.
extern const std::string_view kNodeColumns;
Result<NodeRecord> read_node(SqlStatement& row);
extern const std::string_view kNodeHoldColumns;
Result<NodeHold> read_node_hold(SqlStatement& row);
extern const std::string_view kCampaignColumns;
Result<CampaignRecord> read_campaign(SqlStatement& row);
extern const std::string_view kPointColumns;
Result<PointRecord> read_point(SqlStatement& row);
extern const std::string_view kRunColumns;
Result<RunRecord> read_run(SqlStatement& row);
extern const std::string_view kBatchColumns;
Result<BatchRecord> read_batch(SqlStatement& row);
extern const std::string_view kAttemptColumns;
Result<RunAttempt> read_attempt(SqlStatement& row);
extern const std::string_view kAttemptRecordColumns;
Result<AttemptRecord> read_attempt_record(SqlStatement& row);
extern const std::string_view kFactsColumns;
Result<AttemptFacts> read_facts(SqlStatement& row);
extern const std::string_view kEventColumns;
Result<EventRecord> read_event(SqlStatement& row);
extern const std::string_view kModelColumns;
Result<ModelRecord> read_model(SqlStatement& row);
extern const std::string_view kVersionColumns;
Result<ModelVersionRecord> read_version(SqlStatement& row);  ///< Without labels and checks.
extern const std::string_view kLabelColumns;
Result<LabelRecord> read_label(SqlStatement& row);
extern const std::string_view kCheckColumns;
Result<CheckRecord> read_check(SqlStatement& row);
extern const std::string_view kNodeModelColumns;
Result<NodeModelRecord> read_node_model(SqlStatement& row);

}  // namespace stripline::server
