#include "server/store/sql_rows.h"

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/json.h"
#include "optimizer/experiment/json.h"
#include "server/store/compression.h"
#include "server/store/version_json.h"

namespace stripline::server {

const std::string_view kNodeColumns =
    "SELECT name, agent_version, fingerprint, fabrics, experiments, last_seen, cluster";
const std::string_view kNodeHoldColumns =
    "SELECT node, reason, actor, since, deadline FROM node_holds";
const std::string_view kCampaignColumns =
    "SELECT number, spec, state, message, created, updated, request_id, request_sha256,"
    " requirements, feeds_model, planned_run_s, measured_s, samples, model_version,"
    " fit_failures, stop_reason, width, retries, owner, labels";
const std::string_view kRunColumns =
    "SELECT campaign, run, state, fence, failures, rank_nodes, points_done, points_total,"
    " points_core, points_all, duration_s, message, points_least, start_s, grid";
const std::string_view kPointColumns =
    "SELECT place, experiment, variant, params, runs, failed, samples, median, low, high FROM "
    "points";
const std::string_view kBatchColumns =
    "SELECT id, campaign, run, fence, seq, orphan, received, samples,"
    " (SELECT data FROM payloads WHERE batch = id)";
const std::string_view kAttemptColumns =
    "SELECT campaign, run, fence, sampling_node, instances, addresses, started";
const std::string_view kAttemptRecordColumns =
    "SELECT campaign, run, fence, started, instances, ended, outcome, reason FROM attempts";
const std::string_view kFactsColumns =
    "SELECT campaign, run, fence, node,"
    " (SELECT facts FROM fingerprints WHERE sha256 = fingerprint)";
const std::string_view kEventColumns = "SELECT cursor, campaign, time, message, view";
const std::string_view kModelColumns =
    "SELECT name, fabric, created,"
    " coalesce((SELECT version FROM model_versions v WHERE v.model = name AND NOT EXISTS"
    "   (SELECT 1 FROM version_marks m"
    "    WHERE m.model = v.model AND m.version = v.version AND m.mark = 'withdrawn')"
    "  ORDER BY EXISTS (SELECT 1 FROM version_marks m WHERE m.model = v.model"
    "   AND m.version = v.version AND m.mark = 'failed'),"
    "   EXISTS (SELECT 1 FROM version_marks m WHERE m.model = v.model"
    "   AND m.version = v.version AND m.mark <> 'withdrawn'), version DESC LIMIT 1), 0),"
    " (SELECT max(version) FROM model_versions v WHERE v.model = name)";
const std::string_view kVersionColumns =
    "SELECT model, version, sha256, campaigns, created, size_bytes, summary,"
    " (SELECT reason FROM version_marks m WHERE m.model = model_versions.model"
    "  AND m.version = model_versions.version AND m.mark = 'provisional'),"
    " (SELECT reason FROM version_marks m WHERE m.model = model_versions.model"
    "  AND m.version = model_versions.version AND m.mark = 'withdrawn'),"
    " (SELECT reason FROM version_marks m WHERE m.model = model_versions.model"
    "  AND m.version = model_versions.version AND m.mark = 'stale'), findings,"
    " (SELECT report FROM validations v WHERE v.model = model_versions.model"
    "  AND v.version = model_versions.version),"
    " (SELECT count(*) FROM version_past p WHERE p.model = model_versions.model"
    "  AND p.version = model_versions.version AND p.what = 'stale in use'),"
    " (SELECT count(*) FROM version_past p WHERE p.model = model_versions.model"
    "  AND p.version = model_versions.version AND p.what = 'canary'),"
    " (SELECT count(*) FROM version_past p WHERE p.model = model_versions.model"
    "  AND p.version = model_versions.version AND p.what = 'stable'),"
    " (SELECT reason FROM version_marks m WHERE m.model = model_versions.model"
    "  AND m.version = model_versions.version AND m.mark = 'lost')";
const std::string_view kLabelColumns =
    "SELECT model, version, label, place, actor, time, nodes FROM model_labels";
const std::string_view kCheckColumns =
    "SELECT model, version, campaign, time, report FROM model_checks";
const std::string_view kNodeModelColumns =
    "SELECT node, model, version, applied, reason, time FROM node_models";

namespace {

template <typename Value>
Result<Value> stored(const std::string& text, const char* what) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json json, parse_json(text, what));
  try {
    return json.get<Value>();
  } catch (const Json::exception& error) {
    return Error(ErrorCode::data_loss, std::string(what) + ": " + error.what());
  }
}

}  // namespace

Result<NodeHold> read_node_hold(SqlStatement& row) {
  return NodeHold{row.text(0), row.text(1), row.text(2), row.real(3), row.real(4)};
}

Result<NodeRecord> read_node(SqlStatement& row) {
  NodeRecord r;
  row.read(r.name, r.agent_version, std::ignore, std::ignore, std::ignore, r.last_seen_unix_s,
           r.cluster);
  STRIPLINE_ASSIGN_OR_RETURN(r.fingerprint, (stored<std::map<std::string, std::string>>(
                                                row.text(2), "stored fingerprint")));
  STRIPLINE_ASSIGN_OR_RETURN(r.fabrics,
                             stored<std::vector<std::string>>(row.text(3), "stored fabrics"));
  STRIPLINE_ASSIGN_OR_RETURN(r.experiments,
                             stored<std::vector<std::string>>(row.text(4), "stored experiments"));
  return r;
}

Result<CampaignRecord> read_campaign(SqlStatement& row) {
  CampaignRecord r;
  row.read(r.number, std::ignore, std::ignore, r.message, r.created_unix_s, r.updated_unix_s,
           r.request_id, r.request_sha256, std::ignore, r.feeds_model, r.planned_run_s,
           r.measured_s, r.samples, r.model_version, r.fit_failures, r.stop_reason, r.width,
           r.retries, r.owner);
  STRIPLINE_ASSIGN_OR_RETURN(const Json spec, parse_json(row.text(1), "stored campaign spec"));
  STRIPLINE_ASSIGN_OR_RETURN(r.spec, campaign::spec_from_json(spec));
  const auto state = campaign_state_from_string(row.text(2));
  if (!state) {
    return Error(ErrorCode::data_loss, "stored campaign state '" + row.text(2) + "' is unknown");
  }
  r.state = *state;
  STRIPLINE_ASSIGN_OR_RETURN(
      r.requirements, (stored<std::map<std::string, int64_t>>(row.text(8), "stored requirements")));
  STRIPLINE_ASSIGN_OR_RETURN(r.labels,
                             stored<std::vector<std::string>>(row.text(19), "stored labels"));
  return r;
}

Result<RunRecord> read_run(SqlStatement& row) {
  RunRecord r;
  row.read(r.key.campaign, r.key.run, std::ignore, r.fence, r.failures, std::ignore, r.points_done,
           r.points_total, r.points_core, r.points_all, r.duration_s, r.message, r.points_least,
           r.start_s, r.grid);
  const auto state = run_state_from_string(row.text(2));
  if (!state) {
    return Error(ErrorCode::data_loss, "stored run state '" + row.text(2) + "' is unknown");
  }
  r.state = *state;
  STRIPLINE_ASSIGN_OR_RETURN(r.rank_nodes,
                             stored<std::vector<std::string>>(row.text(5), "stored rank nodes"));
  return r;
}

Result<BatchRecord> read_batch(SqlStatement& row) {
  BatchRecord r;
  row.read(r.id, r.run.campaign, r.run.run, r.fence, r.seq, r.orphan, r.received_unix_s, r.samples);
  STRIPLINE_ASSIGN_OR_RETURN(r.data, decompressed(row.blob(8)));
  return r;
}

Result<PointRecord> read_point(SqlStatement& row) {
  PointRecord r;
  row.read(r.place, std::ignore, std::ignore, std::ignore, r.runs, r.failed, r.samples);
  STRIPLINE_ASSIGN_OR_RETURN(Json params, parse_json(row.text(3), "stored point"));
  STRIPLINE_ASSIGN_OR_RETURN(r.point, experiment::point_from_json({{"experiment", row.text(1)},
                                                                   {"variant", row.text(2)},
                                                                   {"params", std::move(params)}}));
  if (const auto median = row.optional_real(7)) {
    r.estimate = campaign::Estimate{*median, row.optional_real(8), row.optional_real(9)};
  }
  return r;
}

Result<RunAttempt> read_attempt(SqlStatement& row) {
  RunAttempt r;
  row.read(r.run.campaign, r.run.run, r.fence, r.sampling_node);
  STRIPLINE_ASSIGN_OR_RETURN(
      r.instances, (stored<std::map<std::string, std::string>>(row.text(4), "stored instances")));
  STRIPLINE_ASSIGN_OR_RETURN(r.addresses,
                             stored<std::vector<std::string>>(row.text(5), "stored addresses"));
  r.started_unix_s = row.optional_real(6);
  return r;
}

Result<AttemptRecord> read_attempt_record(SqlStatement& row) {
  AttemptRecord r;
  row.read(r.run.campaign, r.run.run, r.fence, r.started_unix_s);
  STRIPLINE_ASSIGN_OR_RETURN(const auto instances, (stored<std::map<std::string, std::string>>(
                                                       row.text(4), "stored instances")));
  for (const auto& [node, instance] : instances) r.nodes.push_back(node);
  r.ended_unix_s = row.optional_real(5);
  if (!r.ended_unix_s) return r;
  const auto outcome = attempt_outcome_from_string(row.text(6));
  if (!outcome) {
    return Error(ErrorCode::data_loss, "stored outcome '" + row.text(6) + "' is unknown");
  }
  r.outcome = *outcome;
  r.reason = row.text(7);
  return r;
}

Result<AttemptFacts> read_facts(SqlStatement& row) {
  AttemptFacts r;
  row.read(r.run.campaign, r.run.run, r.fence, r.node);
  STRIPLINE_ASSIGN_OR_RETURN(
      r.facts, (stored<std::map<std::string, std::string>>(row.text(4), "stored fingerprint")));
  return r;
}

Result<EventRecord> read_event(SqlStatement& row) {
  return EventRecord{row.unsigned_integer(0), row.integer(1), row.real(2), row.text(3),
                     row.text(4)};
}

Result<ModelRecord> read_model(SqlStatement& row) {
  return ModelRecord{row.text(0), row.text(1), row.real(2), row.integer(3), row.integer(4)};
}

Result<ModelVersionRecord> read_version(SqlStatement& row) {
  ModelVersionRecord r;
  row.read(r.key.model, r.key.version, r.sha256, std::ignore, r.created_unix_s, r.size_bytes,
           r.summary, r.provisional, r.withdrawn, r.stale, std::ignore, std::ignore, r.stale_in_use,
           r.was_canary, r.was_stable, r.lost);
  STRIPLINE_ASSIGN_OR_RETURN(r.campaigns,
                             stored<std::vector<std::string>>(row.text(3), "stored campaigns"));
  STRIPLINE_ASSIGN_OR_RETURN(const Json findings, parse_json(row.text(10), "stored findings"));
  STRIPLINE_ASSIGN_OR_RETURN(r.findings, findings_from_json(findings));
  if (const std::string report = row.text(11); !report.empty()) {
    STRIPLINE_ASSIGN_OR_RETURN(const Json json, parse_json(report, "stored validation"));
    STRIPLINE_ASSIGN_OR_RETURN(r.validation, validation_from_json(json));
    r.validation->key = r.key;
  }
  return r;
}

Result<LabelRecord> read_label(SqlStatement& row) {
  auto nodes = stored<std::vector<std::string>>(row.text(6), "stored canaries");
  if (!nodes.ok()) {
    return nodes.error().with_context("move " + std::to_string(row.integer(3)) + " of the label " +
                                      row.text(2));
  }
  return LabelRecord{{row.text(0), row.integer(1)},
                     row.text(2),
                     row.integer(3),
                     row.text(4),
                     row.real(5),
                     *std::move(nodes)};
}

Result<CheckRecord> read_check(SqlStatement& row) {
  CheckRecord r{{row.text(0), row.integer(1)}, row.text(2), row.real(3), {}};
  STRIPLINE_ASSIGN_OR_RETURN(const Json report, parse_json(row.text(4), "stored check"));
  STRIPLINE_ASSIGN_OR_RETURN(r.reading, reading_from_json(report));
  return r;
}

Result<NodeModelRecord> read_node_model(SqlStatement& row) {
  return NodeModelRecord{
      row.text(0), {row.text(1), row.integer(2)}, row.integer(3) != 0, row.text(4), row.real(5)};
}

}  // namespace stripline::server
