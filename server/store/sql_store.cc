#include "server/store/sql_store.h"

#include <cstdint>
#include <type_traits>
#include <utility>

#include "server/store/compression.h"
#include "server/store/point_filter.h"
#include "server/store/point_records.h"
#include "server/store/sql_feedback.h"
#include "server/store/sql_operations.h"
#include "server/store/sql_retention.h"
#include "server/store/sql_rows.h"
#include "server/store/sql_security.h"

namespace stripline::server {
namespace {

constexpr int64_t kNoLimit = INT64_MAX;

// Version ?2 of model ?1; with 0 the newest that is not withdrawn, one that is provisional, stale
// or was not judged only when there is no other, and one that failed its validation last of all.
constexpr std::string_view kWanted =
    " FROM model_versions WHERE model = ?1 AND"
    " (version = ?2 OR (?2 = 0 AND NOT EXISTS (SELECT 1 FROM version_marks m WHERE m.model = ?1"
    "  AND m.version = model_versions.version AND m.mark = 'withdrawn')))"
    " ORDER BY EXISTS (SELECT 1 FROM version_marks m WHERE m.model = ?1"
    "  AND m.version = model_versions.version AND m.mark = 'failed'),"
    " EXISTS (SELECT 1 FROM version_marks m WHERE m.model = ?1"
    "  AND m.version = model_versions.version AND m.mark <> 'withdrawn'), version DESC LIMIT 1";

template <typename Value>
Result<Value> read_first_column(SqlStatement& row) {
  Value value{};
  row.read(value);
  return value;
}

Result<VersionKey> read_version_key(SqlStatement& row) {
  return VersionKey{row.text(0), row.integer(1)};
}

// Each with the labels whose last move named it.
void add_labels(std::vector<ModelVersionRecord>& versions, const std::vector<LabelRecord>& moves) {
  for (size_t i = 0; i < moves.size(); ++i) {
    const bool is_last = i + 1 == moves.size() || moves[i + 1].label != moves[i].label;
    if (!is_last) continue;
    for (ModelVersionRecord& version : versions) {
      if (version.key == moves[i].key) version.labels.push_back(moves[i].label);
    }
  }
}

}  // namespace

// All rows of a query, each through `read_row`.
template <typename Read, typename... Values>
auto SqlStore::select(Read read_row, std::string_view sql, const Values&... values)
    -> Result<std::vector<std::decay_t<decltype(*read_row(std::declval<SqlStatement&>()))>>> {
  std::vector<std::decay_t<decltype(*read_row(std::declval<SqlStatement&>()))>> rows;
  STRIPLINE_RETURN_IF_ERROR(read([&](SqlDatabase& database) -> Status {
    rows.clear();
    STRIPLINE_ASSIGN_OR_RETURN(const auto statement, database.prepare(sql));
    statement->bind(values...);
    while (statement->step()) {
      STRIPLINE_ASSIGN_OR_RETURN(auto row, read_row(*statement));
      rows.push_back(std::move(row));
    }
    return statement->status();
  }));
  return rows;
}

template <typename Read, typename... Values>
auto SqlStore::select_one(Read read_row, std::string_view sql, const Values&... values)
    -> Result<std::optional<std::decay_t<decltype(*read_row(std::declval<SqlStatement&>()))>>> {
  using Row = std::decay_t<decltype(*read_row(std::declval<SqlStatement&>()))>;
  STRIPLINE_ASSIGN_OR_RETURN(auto rows, select(read_row, sql, values...));
  if (rows.empty()) return std::optional<Row>();
  return std::optional<Row>(std::move(rows.front()));
}

template <typename... Values>
Result<std::string> SqlStore::select_text(std::string_view sql, const std::string& what,
                                          const Values&... values) {
  STRIPLINE_ASSIGN_OR_RETURN(auto text, select_one(read_first_column<std::string>, sql, values...));
  if (!text) return Error(ErrorCode::not_found, what + " is not stored");
  return std::move(*text);
}

Result<std::vector<NodeRecord>> SqlStore::nodes(const std::string& after, size_t limit) {
  return select(read_node,
                std::string(kNodeColumns) + " FROM nodes WHERE name > ? ORDER BY name LIMIT ?",
                after, limit);
}

Result<std::vector<std::string>> SqlStore::node_names(const std::string& after, size_t limit) {
  return select(read_first_column<std::string>,
                "SELECT name FROM nodes WHERE name > ? ORDER BY name LIMIT ?", after, limit);
}

Result<std::optional<NodeRecord>> SqlStore::node(const std::string& name) {
  return select_one(read_node, std::string(kNodeColumns) + " FROM nodes WHERE name = ?", name);
}

Result<std::vector<NodeHold>> SqlStore::node_holds() {
  return select(read_node_hold, kNodeHoldColumns);
}

Result<uint64_t> SqlStore::count_nodes() {
  STRIPLINE_ASSIGN_OR_RETURN(const auto count,
                             select_one(read_first_column<uint64_t>, "SELECT count(*) FROM nodes"));
  return *count;
}

Result<int64_t> SqlStore::next_campaign_number() {
  const auto read_row = [](SqlStatement& row) -> Result<int64_t> { return row.integer(0) + 1; };
  STRIPLINE_ASSIGN_OR_RETURN(
      const auto number,
      select_one(read_row, "SELECT value FROM meta WHERE key = 'last_campaign'"));
  return number.value_or(1);
}

Result<std::optional<CampaignRecord>> SqlStore::campaign(int64_t number) {
  return select_one(
      read_campaign,
      std::string(kCampaignColumns) + " FROM campaigns WHERE number = ? AND state <> 'DELETED'",
      number);
}

Result<std::optional<CampaignRecord>> SqlStore::campaign_of_request(const std::string& owner,
                                                                    const std::string& request_id) {
  return select_one(read_campaign,
                    std::string(kCampaignColumns) +
                        " FROM campaigns WHERE owner = ? AND request_id = ? AND request_id <> ''",
                    owner, request_id);
}

Result<std::vector<CampaignRecord>> SqlStore::campaigns(int64_t before, size_t limit) {
  return select(read_campaign,
                std::string(kCampaignColumns) +
                    " FROM campaigns WHERE number < ? AND state <> 'DELETED'"
                    " ORDER BY number DESC LIMIT ?",
                before == 0 ? kNoLimit : before, limit);
}

Result<std::vector<VersionKey>> SqlStore::versions_of(int64_t campaign) {
  return select(read_version_key,
                "SELECT model, version FROM model_versions WHERE campaigns LIKE ?"
                " ORDER BY model, version",
                "%\"" + campaign_name(campaign) + "\"%");  // a JSON array of such names
}

Result<std::vector<CampaignRecord>> SqlStore::unfinished_campaigns() {
  return select(read_campaign, std::string(kCampaignColumns) +
                                   " FROM campaigns WHERE state IN"
                                   " ('QUEUED', 'RUNNING', 'PAUSED', 'DRAINING', 'FITTING')"
                                   " ORDER BY number");
}

Result<std::vector<CampaignRecord>> SqlStore::expendable_campaigns(double ended_before_unix_s,
                                                                   size_t limit) {
  return select(read_campaign, std::string(kCampaignColumns) + std::string(kExpendable),
                ended_before_unix_s, limit);
}

Result<std::vector<RunRecord>> SqlStore::runs(int64_t campaign) {
  return select(read_run, std::string(kRunColumns) + " FROM runs WHERE campaign = ? ORDER BY run",
                campaign);
}

Result<std::string> SqlStore::run_plan(const RunKey& run) {
  return select_text("SELECT assignment FROM plans WHERE campaign = ? AND run = ?",
                     "plan of " + run_name(run), run.campaign, run.run);
}

Result<std::vector<PointRecord>> SqlStore::points(int64_t campaign, const PointFilter& filter,
                                                  uint32_t from, size_t limit) {
  const PointMatcher matcher(filter);
  std::vector<PointRecord> points;
  STRIPLINE_RETURN_IF_ERROR(read([&](SqlDatabase& database) -> Status {
    points.clear();
    STRIPLINE_ASSIGN_OR_RETURN(
        const auto statement,
        database.prepare(std::string(kPointColumns) +
                         " WHERE campaign = ?1 AND place >= ?2 AND (?3 = '' OR experiment = ?3)"
                         " AND (?4 = '' OR variant = ?4) ORDER BY place"));
    statement->bind(campaign, from, filter.experiment, filter.variant);
    while (points.size() < limit && statement->step()) {
      if (!matcher.matches(statement->text(3))) continue;
      STRIPLINE_ASSIGN_OR_RETURN(PointRecord point, read_point(*statement));
      points.push_back(std::move(point));
    }
    return statement->status();
  }));
  return points;
}

Result<std::vector<ExperimentSummary>> SqlStore::point_summary(int64_t campaign) {
  const auto read_row = [](SqlStatement& row) -> Result<ExperimentSummary> {
    return ExperimentSummary{row.text(0), row.unsigned_integer(1), row.unsigned_integer(2),
                             row.unsigned_integer(3)};
  };
  return select(read_row,
                "SELECT experiment, count(*), count(median),"
                " count(CASE WHEN median IS NULL AND failed > 0 THEN 1 END)"
                " FROM points WHERE campaign = ? GROUP BY experiment ORDER BY experiment",
                campaign);
}

Result<PointColumns> SqlStore::point_columns(int64_t campaign, const std::string& experiment) {
  PointColumns columns(experiment);
  STRIPLINE_RETURN_IF_ERROR(read([&](SqlDatabase& database) -> Status {
    columns = PointColumns(experiment);
    STRIPLINE_ASSIGN_OR_RETURN(
        const auto statement,
        database.prepare(std::string(kPointColumns) +
                         " WHERE campaign = ? AND experiment = ? ORDER BY place"));
    statement->bind(campaign, experiment);
    while (statement->step()) {
      STRIPLINE_RETURN_IF_ERROR(columns.add({.place = static_cast<uint32_t>(statement->integer(0)),
                                             .variant = statement->text(2),
                                             .params_json = statement->text(3),
                                             .runs = static_cast<uint32_t>(statement->integer(4)),
                                             .failed = static_cast<uint32_t>(statement->integer(5)),
                                             .samples = statement->unsigned_integer(6),
                                             .median = statement->optional_real(7),
                                             .low = statement->optional_real(8),
                                             .high = statement->optional_real(9)}));
    }
    return statement->status();
  }));
  return columns;
}

Result<std::optional<campaign::MedianTable>> SqlStore::point_medians(int64_t campaign) {
  std::optional<campaign::MedianTable> table;
  STRIPLINE_RETURN_IF_ERROR(read([&](SqlDatabase& database) -> Status {
    table.emplace();
    STRIPLINE_ASSIGN_OR_RETURN(
        const auto statement,
        database.prepare("SELECT experiment, variant, params, runs - failed, medians FROM points"
                         " WHERE campaign = ? ORDER BY place"));
    statement->bind(campaign);
    while (statement->step()) {
      STRIPLINE_ASSIGN_OR_RETURN(const auto medians, medians_of_bytes(statement->blob(4)));
      if (medians.size() != statement->unsigned_integer(3)) {
        table.reset();
        return {};
      }
      table->add(statement->text(0), statement->text(1), statement->text(2), medians);
    }
    return statement->status();
  }));
  return table;
}

Result<std::optional<std::string>> SqlStore::sampling_node(const RunKey& run, uint64_t fence) {
  return select_one(
      read_first_column<std::string>,
      "SELECT sampling_node FROM attempts WHERE campaign = ? AND run = ? AND fence = ?",
      run.campaign, run.run, fence);
}

Result<std::optional<RunAttempt>> SqlStore::attempt(const RunKey& run, uint64_t fence) {
  return select_one(
      read_attempt,
      std::string(kAttemptColumns) + " FROM attempts WHERE campaign = ? AND run = ? AND fence = ?",
      run.campaign, run.run, fence);
}

// The rows of a deleted campaign go in sweeps.
Result<std::vector<AttemptRecord>> SqlStore::attempts_between(double from_unix_s, double to_unix_s,
                                                              size_t limit) {
  return select(read_attempt_record,
                std::string(kAttemptRecordColumns) +
                    " WHERE started <= ?2 AND (ended >= ?1 OR ended IS NULL) AND NOT EXISTS"
                    " (SELECT 1 FROM campaigns WHERE number = campaign AND state = 'DELETED')"
                    " ORDER BY started DESC, campaign DESC, fence DESC LIMIT ?3",
                from_unix_s, to_unix_s, limit);
}

Result<std::vector<AttemptFacts>> SqlStore::attempt_facts(const RunKey& run, uint64_t fence) {
  return select(read_facts,
                std::string(kFactsColumns) +
                    " FROM attempt_nodes WHERE campaign = ? AND run = ? AND fence = ?"
                    " ORDER BY node",
                run.campaign, run.run, fence);
}

Result<std::optional<bool>> SqlStore::has_batch(const RunKey& run, uint64_t fence, uint64_t seq,
                                                const std::string& data) {
  const auto read_row = [&](SqlStatement& row) -> Result<bool> {
    STRIPLINE_ASSIGN_OR_RETURN(const std::string stored, decompressed(row.blob(0)));
    return stored == data;
  };
  return select_one(read_row,
                    "SELECT (SELECT data FROM payloads WHERE batch = id) FROM batches"
                    " WHERE campaign = ? AND run = ? AND fence = ? AND seq = ?",
                    run.campaign, run.run, fence, seq);
}

Result<uint64_t> SqlStore::contiguous_batches(const RunKey& run, uint64_t fence) {
  STRIPLINE_ASSIGN_OR_RETURN(
      const auto last,
      select_one(read_first_column<uint64_t>,
                 "SELECT stored FROM attempts WHERE campaign = ? AND run = ? AND fence = ?",
                 run.campaign, run.run, fence));
  return last.value_or(0);
}

Result<std::vector<BatchRecord>> SqlStore::attempt_batches(const RunKey& run, uint64_t fence) {
  return select(read_batch,
                std::string(kBatchColumns) +
                    " FROM batches WHERE campaign = ? AND run = ? AND fence = ? ORDER BY seq",
                run.campaign, run.run, fence);
}

Result<std::vector<BatchRecord>> SqlStore::batches(int64_t campaign, int64_t after, size_t limit) {
  return select(read_batch,
                std::string(kBatchColumns) +
                    " FROM batches WHERE campaign = ? AND id > ? ORDER BY id LIMIT ?",
                campaign, after, limit);
}

Result<std::vector<EventRecord>> SqlStore::events(int64_t campaign, uint64_t cursor, size_t limit) {
  return select(read_event,
                std::string(kEventColumns) +
                    " FROM events WHERE campaign = ? AND cursor > ? ORDER BY cursor LIMIT ?",
                campaign, cursor, limit);
}

Result<std::vector<ModelRecord>> SqlStore::models(const std::string& after, size_t limit) {
  return select(read_model,
                std::string(kModelColumns) + " FROM models WHERE name > ? ORDER BY name LIMIT ?",
                after, limit);
}

Result<std::optional<ModelRecord>> SqlStore::model(const std::string& name) {
  return select_one(read_model, std::string(kModelColumns) + " FROM models WHERE name = ?", name);
}

Result<std::vector<ModelVersionRecord>> SqlStore::model_versions(const std::string& model,
                                                                 int64_t before, size_t limit) {
  STRIPLINE_ASSIGN_OR_RETURN(
      auto versions,
      select(read_version,
             std::string(kVersionColumns) +
                 " FROM model_versions WHERE model = ? AND version < ? ORDER BY version DESC"
                 " LIMIT ?",
             model, before == 0 ? kNoLimit : before, limit));
  STRIPLINE_RETURN_IF_ERROR(add_what_is_known(model, versions));
  return versions;
}

Result<std::optional<ModelVersionRecord>> SqlStore::model_version(const VersionKey& key) {
  STRIPLINE_ASSIGN_OR_RETURN(
      auto versions, select(read_version, std::string(kVersionColumns) + std::string(kWanted),
                            key.model, key.version));
  if (versions.empty()) return std::optional<ModelVersionRecord>();
  STRIPLINE_RETURN_IF_ERROR(add_what_is_known(key.model, versions));
  return std::optional(std::move(versions.front()));
}

Result<std::vector<LabelRecord>> SqlStore::labels(const std::string& model) {
  return select(read_label, std::string(kLabelColumns) + " WHERE model = ? ORDER BY label, place",
                model);
}

Result<std::string> SqlStore::model_content(const VersionKey& key) {
  return select_text("SELECT content" + std::string(kWanted), version_name(key), key.model,
                     key.version);
}

Result<std::vector<CheckRecord>> SqlStore::checks(const std::string& model) {
  return select(read_check, std::string(kCheckColumns) + " WHERE model = ? ORDER BY time", model);
}

// What is stored of versions elsewhere than in their rows.
Status SqlStore::add_what_is_known(const std::string& model,
                                   std::vector<ModelVersionRecord>& versions) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto moves, labels(model));
  add_labels(versions, moves);
  STRIPLINE_ASSIGN_OR_RETURN(const auto all, checks(model));
  for (const CheckRecord& check : all) {
    for (ModelVersionRecord& version : versions) {
      if (version.key == check.key) version.checks.push_back(check);
    }
  }
  return {};
}

Result<std::vector<NodeModelRecord>> SqlStore::node_models() {
  return select(read_node_model, std::string(kNodeModelColumns) + " ORDER BY node, model, version");
}

Result<std::optional<VersionKey>> SqlStore::version_of_content(const std::string& sha256) {
  return select_one(
      read_version_key,
      "SELECT model, version FROM model_versions WHERE sha256 = ? ORDER BY created DESC, version"
      " DESC LIMIT 1",
      sha256);
}

Result<std::vector<FeedbackRecord>> SqlStore::feedback(const VersionKey& key, uint64_t before,
                                                       size_t limit) {
  return select(read_feedback,
                std::string(kFeedbackColumns) +
                    " WHERE model = ?1 AND (version = ?2 OR ?2 = 0) AND id < ?3"
                    " ORDER BY id DESC LIMIT ?4",
                key.model, key.version, before == 0 ? kNoLimit : static_cast<int64_t>(before),
                limit);
}

Result<int64_t> SqlStore::next_operation_number() {
  const auto read_row = [](SqlStatement& row) -> Result<int64_t> { return row.integer(0) + 1; };
  STRIPLINE_ASSIGN_OR_RETURN(
      const auto number,
      select_one(read_row, "SELECT number FROM operations ORDER BY number DESC LIMIT 1"));
  return number.value_or(1);
}

Result<std::optional<OperationRecord>> SqlStore::operation(int64_t number) {
  return select_one(read_operation, std::string(kOperationColumns) + " WHERE number = ?", number);
}

Result<std::optional<OperationRecord>> SqlStore::operation_of_request(
    const std::string& actor, const std::string& request_id) {
  return select_one(
      read_operation,
      std::string(kOperationColumns) + " WHERE actor = ? AND request_id = ? AND request_id <> ''",
      actor, request_id);
}

Result<std::vector<OperationRecord>> SqlStore::operations(int64_t before, size_t limit) {
  return select(read_operation,
                std::string(kOperationColumns) + " WHERE number < ? ORDER BY number DESC LIMIT ?",
                before == 0 ? kNoLimit : before, limit);
}

Result<std::vector<OperationRecord>> SqlStore::unfinished_operations() {
  return select(read_operation, std::string(kOperationColumns) + " WHERE state = ? ORDER BY number",
                std::string(to_string(OperationState::running)));
}

Result<std::vector<TokenRecord>> SqlStore::tokens() { return select(read_token, kTokenColumns); }

Result<std::vector<NodeBound>> SqlStore::node_bounds() {
  return select(read_node_bound, kNodeBoundColumns);
}

Result<std::vector<AuditRecord>> SqlStore::audit(int64_t before, size_t limit) {
  return select(read_audit, std::string(kAuditColumns) + " WHERE id < ? ORDER BY id DESC LIMIT ?",
                before == 0 ? kNoLimit : before, limit);
}

Result<std::vector<AuditRecord>> SqlStore::audit_of_nodes(double from_unix_s, double to_unix_s,
                                                          size_t limit) {
  return select(read_audit,
                std::string(kAuditColumns) +
                    " WHERE object LIKE 'nodes/%' AND time >= ? AND time <= ?"
                    " ORDER BY time DESC, id DESC LIMIT ?",
                from_unix_s, to_unix_s, limit);
}

}  // namespace stripline::server
