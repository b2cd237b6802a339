#include "server/store/sql_changes.h"

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/json.h"
#include "base/sha256.h"
#include "optimizer/experiment/json.h"
#include "server/store/compression.h"
#include "server/store/point_records.h"
#include "server/store/sql_feedback.h"
#include "server/store/sql_operations.h"
#include "server/store/version_json.h"

namespace stripline::server {
namespace {

Status write_campaigns(SqlDatabase& database, const std::vector<CampaignRecord>& records) {
  return write_all(database, records, R"sql(
      INSERT INTO campaigns (number, spec, state, message, created, updated, request_id,
                             request_sha256, requirements, feeds_model, planned_run_s, measured_s,
                             samples, model_version, fit_failures, stop_reason, width, retries,
                             owner, labels)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (number) DO UPDATE SET
        spec = excluded.spec, state = excluded.state, message = excluded.message,
        updated = excluded.updated, measured_s = excluded.measured_s, samples = excluded.samples,
        model_version = excluded.model_version, fit_failures = excluded.fit_failures,
        stop_reason = excluded.stop_reason, width = excluded.width,
        retries = excluded.retries, labels = excluded.labels)sql",
                   [](SqlStatement& s, const CampaignRecord& r) {
                     s.bind(r.number, dumped(to_json(r.spec)), to_string(r.state), r.message,
                            r.created_unix_s, r.updated_unix_s, r.request_id, r.request_sha256,
                            dumped(Json(r.requirements)), r.feeds_model, r.planned_run_s,
                            r.measured_s, r.samples, r.model_version, r.fit_failures, r.stop_reason,
                            r.width, r.retries, r.owner, dumped(Json(r.labels)));
                   });
}

Status write_runs(SqlDatabase& database, const std::vector<RunRecord>& records) {
  return write_all(database, records, R"sql(
      INSERT INTO runs (campaign, run, state, fence, failures, rank_nodes, points_done,
                        points_total, points_core, points_all, duration_s, message, points_least,
                        start_s, grid)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (campaign, run) DO UPDATE SET
        state = excluded.state, fence = excluded.fence, failures = excluded.failures,
        rank_nodes = excluded.rank_nodes, points_done = excluded.points_done,
        points_total = excluded.points_total, points_all = excluded.points_all,
        duration_s = excluded.duration_s,
        message = excluded.message, start_s = excluded.start_s, grid = excluded.grid)sql",
                   [](SqlStatement& s, const RunRecord& r) {
                     s.bind(r.key.campaign, r.key.run, to_string(r.state), r.fence, r.failures,
                            dumped(Json(r.rank_nodes)), r.points_done, r.points_total,
                            r.points_core, r.points_all, r.duration_s, r.message, r.points_least,
                            r.start_s, r.grid);
                   });
}

Status write_points(SqlDatabase& database, const std::vector<CampaignPoints>& campaigns) {
  for (const CampaignPoints& campaign : campaigns) {
    uint32_t place = campaign.first;
    STRIPLINE_RETURN_IF_ERROR(write_all(
        database, campaign.points,
        "INSERT INTO points (campaign, place, experiment, variant, params) VALUES (?, ?, ?, ?, ?)",
        [&](SqlStatement& s, const experiment::Point& point) {
          s.bind(campaign.campaign, place++, point.experiment, point.variant,
                 dumped(experiment::to_json(point).at("params")));
        }));
  }
  return {};
}

Status write_point_updates(SqlDatabase& database, const std::vector<PointUpdate>& updates) {
  return write_all(database, updates, R"sql(
      UPDATE points SET runs = ?, failed = ?, samples = ?, median = ?, low = ?, high = ?,
                        medians = ?
      WHERE campaign = ? AND place = ?)sql",
                   [](SqlStatement& s, const PointUpdate& update) {
                     const PointRecord& r = update.now;
                     const auto estimate = r.estimate.value_or(campaign::Estimate());
                     s.bind(r.runs, r.failed, r.samples,
                            r.estimate ? std::optional(estimate.median) : std::nullopt,
                            estimate.low, estimate.high, SqlBlob{bytes_of_medians(update.medians)},
                            update.campaign, r.place);
                   });
}

Status write_attempts(SqlDatabase& database, const std::vector<RunAttempt>& attempts) {
  return write_all(database, attempts, R"sql(
      INSERT INTO attempts (campaign, run, fence, sampling_node, instances, addresses, started)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (campaign, run, fence) DO UPDATE SET addresses = excluded.addresses)sql",
                   [](SqlStatement& s, const RunAttempt& a) {
                     s.bind(a.run.campaign, a.run.run, a.fence, a.sampling_node,
                            dumped(Json(a.instances)), dumped(Json(a.addresses)), a.started_unix_s);
                   });
}

Status write_attempt_ends(SqlDatabase& database, const std::vector<AttemptEnd>& ends) {
  return write_all(database, ends,
                   "UPDATE attempts SET ended = ?, outcome = ?, reason = ?"
                   " WHERE campaign = ? AND run = ? AND fence = ?",
                   [](SqlStatement& s, const AttemptEnd& e) {
                     s.bind(e.time_unix_s, to_string(e.outcome), e.reason, e.run.campaign,
                            e.run.run, e.fence);
                   });
}

Status write_facts(SqlDatabase& database, const std::vector<AttemptFacts>& facts) {
  STRIPLINE_RETURN_IF_ERROR(
      write_all(database, facts, "INSERT INTO fingerprints VALUES (?, ?) ON CONFLICT DO NOTHING",
                [](SqlStatement& s, const AttemptFacts& r) {
                  const std::string text = dumped(Json(r.facts));
                  s.bind(sha256_hex(text), text);
                }));
  return write_all(
      database, facts, "INSERT INTO attempt_nodes VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
      [](SqlStatement& s, const AttemptFacts& r) {
        s.bind(r.run.campaign, r.run.run, r.fence, r.node, sha256_hex(dumped(Json(r.facts))));
      });
}

Status write_payloads(SqlDatabase& database, const std::vector<const BatchRecord*>& batches) {
  if (batches.empty()) return {};
  STRIPLINE_ASSIGN_OR_RETURN(
      const auto insert,
      database.prepare("INSERT INTO payloads SELECT id, ?5 FROM batches"
                       " WHERE campaign = ?1 AND run = ?2 AND fence = ?3 AND seq = ?4"));
  for (const BatchRecord* r : batches) {
    STRIPLINE_ASSIGN_OR_RETURN(const std::string frame, compressed(r->data));
    insert->bind(r->run.campaign, r->run.run, r->fence, r->seq, SqlBlob{frame});
    STRIPLINE_RETURN_IF_ERROR(insert->run());
  }
  return {};
}

// The attempt remembers up to where its batches are complete: asking for that, at each batch, must
// not count those that are stored already.
Status write_batches(SqlDatabase& database, const std::vector<const BatchRecord*>& batches) {
  STRIPLINE_RETURN_IF_ERROR(
      write_all(database, batches,
                "INSERT INTO batches (campaign, run, fence, seq, orphan, received, samples)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                [](SqlStatement& s, const BatchRecord* r) {
                  s.bind(r->run.campaign, r->run.run, r->fence, r->seq, r->orphan,
                         r->received_unix_s, r->samples);
                }));
  STRIPLINE_RETURN_IF_ERROR(write_payloads(database, batches));
  std::set<std::tuple<int64_t, uint32_t, uint64_t>> attempts;
  for (const BatchRecord* r : batches) attempts.emplace(r->run.campaign, r->run.run, r->fence);
  return write_all(database, attempts, R"sql(
      WITH RECURSIVE present(seq) AS (
        SELECT stored FROM attempts WHERE campaign = ?1 AND run = ?2 AND fence = ?3
        UNION ALL
        SELECT b.seq FROM present JOIN batches b
          ON b.campaign = ?1 AND b.run = ?2 AND b.fence = ?3 AND b.seq = present.seq + 1)
      UPDATE attempts SET stored = (SELECT max(seq) FROM present)
      WHERE campaign = ?1 AND run = ?2 AND fence = ?3)sql",
                   [](SqlStatement& s, const auto& attempt) {
                     const auto& [campaign, run, fence] = attempt;
                     s.bind(campaign, run, fence);
                   });
}

Status write_live_batches(SqlDatabase& database, const std::vector<const BatchRecord*>& batches) {
  STRIPLINE_RETURN_IF_ERROR(write_batches(database, batches));
  return write_all(database, batches,
                   "UPDATE batches SET orphan = 1"
                   " WHERE campaign = ?1 AND run = ?2 AND fence = ?3 AND seq = ?4 AND NOT EXISTS"
                   " (SELECT 1 FROM runs r WHERE r.campaign = ?1 AND r.run = ?2 AND r.fence = ?3"
                   "  AND r.state = ?5)",
                   [](SqlStatement& s, const BatchRecord* r) {
                     s.bind(r->run.campaign, r->run.run, r->fence, r->seq,
                            to_string(RunState::active));
                   });
}

Status write_versions(SqlDatabase& database, const std::vector<NewModelVersion>& versions) {
  STRIPLINE_RETURN_IF_ERROR(write_all(
      database, versions, "INSERT INTO models VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING",
      [](SqlStatement& s, const NewModelVersion& v) {
        s.bind(v.record.key.model, v.fabric, v.record.created_unix_s);
      }));
  STRIPLINE_RETURN_IF_ERROR(write_all(
      database, versions,
      "INSERT INTO model_versions (model, version, sha256, campaigns, created,"
      " summary, content, size_bytes, findings) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      [](SqlStatement& s, const NewModelVersion& v) {
        s.bind(v.record.key.model, v.record.key.version, v.record.sha256,
               dumped(Json(v.record.campaigns)), v.record.created_unix_s, v.record.summary,
               v.content, v.content.size(), dumped(to_json(v.record.findings)));
      }));
  std::vector<ModelVersionRecord> provisional;
  for (const NewModelVersion& version : versions) {
    if (!version.record.provisional.empty()) provisional.push_back(version.record);
  }
  return write_all(database, provisional,
                   "INSERT INTO version_marks VALUES (?, ?, 'provisional', ?, ?)",
                   [](SqlStatement& s, const ModelVersionRecord& v) {
                     s.bind(v.key.model, v.key.version, v.provisional, v.created_unix_s);
                   });
}

// A version that is marked so again keeps the first reason.
Status write_marks(SqlDatabase& database, std::string_view mark,
                   const std::vector<Withdrawal>& marked) {
  return write_all(database, marked,
                   "INSERT INTO version_marks VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                   [&](SqlStatement& s, const Withdrawal& w) {
                     s.bind(w.key.model, w.key.version, mark, w.reason, w.time_unix_s);
                   });
}

// What happens again is remembered from the first time on.
Status write_past(SqlDatabase& database, const Changes& changes) {
  constexpr std::string_view kInsert =
      "INSERT INTO version_past VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING";
  STRIPLINE_RETURN_IF_ERROR(
      write_all(database, changes.staled_in_use, kInsert, [](SqlStatement& s, const Withdrawal& w) {
        s.bind(w.key.model, w.key.version, std::string_view("stale in use"), w.time_unix_s);
      }));
  return write_all(database, changes.labels, kInsert, [](SqlStatement& s, const LabelRecord& r) {
    s.bind(r.key.model, r.key.version, r.label, r.time_unix_s);
  });
}

// A verdict holds until the next validation.
Status write_validations(SqlDatabase& database, const std::vector<ValidationRecord>& records) {
  STRIPLINE_RETURN_IF_ERROR(write_all(
      database, records,
      "DELETE FROM version_marks WHERE model = ? AND version = ?"
      " AND mark IN ('failed', 'unjudged')",
      [](SqlStatement& s, const ValidationRecord& r) { s.bind(r.key.model, r.key.version); }));
  return write_all(database, records,
                   "INSERT INTO validations VALUES (?, ?, ?) ON CONFLICT (model, version)"
                   " DO UPDATE SET report = excluded.report",
                   [](SqlStatement& s, const ValidationRecord& r) {
                     s.bind(r.key.model, r.key.version, dumped(to_json(r)));
                   });
}

Status write_labels(SqlDatabase& database, const Changes& changes) {
  STRIPLINE_RETURN_IF_ERROR(write_all(
      database, changes.unlabelled,
      "DELETE FROM model_labels WHERE model = ? AND label = ? AND place = ?",
      [](SqlStatement& s, const LabelRecord& r) { s.bind(r.key.model, r.label, r.place); }));
  return write_all(database, changes.labels,
                   "INSERT INTO model_labels (model, version, label, place, actor, time, nodes)"
                   " VALUES (?, ?, ?, ?, ?, ?, ?)",
                   [](SqlStatement& s, const LabelRecord& r) {
                     s.bind(r.key.model, r.key.version, r.label, r.place, r.actor, r.time_unix_s,
                            dumped(Json(r.nodes)));
                   });
}

Status write_checks(SqlDatabase& database, const std::vector<CheckRecord>& records) {
  return write_all(database, records,
                   "INSERT INTO model_checks VALUES (?, ?, ?, ?, ?)"
                   " ON CONFLICT (model, version, campaign) DO UPDATE SET report = excluded.report",
                   [](SqlStatement& s, const CheckRecord& r) {
                     s.bind(r.key.model, r.key.version, r.campaign, r.time_unix_s,
                            dumped(to_json(r.reading)));
                   });
}

Status write_node_models(SqlDatabase& database, const std::vector<NodeModelRecord>& records) {
  return write_all(database, records,
                   "INSERT INTO node_models VALUES (?, ?, ?, ?, ?, ?)"
                   " ON CONFLICT (node, model, version) DO UPDATE SET applied = excluded.applied,"
                   " reason = excluded.reason, time = excluded.time",
                   [](SqlStatement& s, const NodeModelRecord& r) {
                     s.bind(r.node, r.key.model, r.key.version, r.applied, r.reason, r.time_unix_s);
                   });
}

// The rest goes in sweeps. A request that comes again after that makes a new campaign.
Status write_deletions(SqlDatabase& database, const std::vector<int64_t>& campaigns) {
  return write_all(database, campaigns,
                   "UPDATE campaigns SET state = 'DELETED', request_id = '' WHERE number = ?",
                   [](SqlStatement& s, int64_t number) { s.bind(number); });
}

// Removed nodes come first: one that is written in the same step has come again.
Status write_nodes(SqlDatabase& database, const Changes& changes) {
  const auto bind_name = [](SqlStatement& s, const std::string& name) { s.bind(name); };
  for (const char* table :
       {"DELETE FROM nodes WHERE name = ?", "DELETE FROM node_models WHERE node = ?"}) {
    STRIPLINE_RETURN_IF_ERROR(write_all(database, changes.removed_nodes, table, bind_name));
  }
  for (const auto* names : {&changes.removed_nodes, &changes.released_nodes}) {
    STRIPLINE_RETURN_IF_ERROR(
        write_all(database, *names, "DELETE FROM node_holds WHERE node = ?", bind_name));
  }
  STRIPLINE_RETURN_IF_ERROR(write_all(database, changes.holds, R"sql(
      INSERT INTO node_holds VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (node) DO UPDATE SET
        reason = excluded.reason, actor = excluded.actor, since = excluded.since,
        deadline = excluded.deadline)sql",
                                      [](SqlStatement& s, const NodeHold& h) {
                                        s.bind(h.node, h.reason, h.actor, h.since_unix_s,
                                               h.deadline_unix_s);
                                      }));
  return write_all(database, changes.nodes, R"sql(
      INSERT INTO nodes (name, agent_version, fingerprint, fabrics, experiments, last_seen, cluster)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (name) DO UPDATE SET
        agent_version = excluded.agent_version, fingerprint = excluded.fingerprint,
        fabrics = excluded.fabrics, experiments = excluded.experiments,
        last_seen = excluded.last_seen, cluster = excluded.cluster)sql",
                   [](SqlStatement& s, const NodeRecord& r) {
                     s.bind(r.name, r.agent_version, dumped(Json(r.fingerprint)),
                            dumped(Json(r.fabrics)), dumped(Json(r.experiments)),
                            r.last_seen_unix_s, r.cluster);
                   });
}

}  // namespace

Status write_changes(SqlDatabase& database, const Changes& changes) {
  STRIPLINE_RETURN_IF_ERROR(write_nodes(database, changes));
  STRIPLINE_RETURN_IF_ERROR(write_campaigns(database, changes.campaigns));
  STRIPLINE_RETURN_IF_ERROR(write_runs(database, changes.runs));
  STRIPLINE_RETURN_IF_ERROR(
      write_all(database, changes.plans,
                "INSERT INTO plans VALUES (?, ?, ?) ON CONFLICT (campaign, run)"
                " DO UPDATE SET assignment = excluded.assignment",
                [](SqlStatement& s, const RunPlan& p) {
                  s.bind(p.run.campaign, p.run.run, p.assignment_json);
                }));
  STRIPLINE_RETURN_IF_ERROR(write_points(database, changes.points));
  STRIPLINE_RETURN_IF_ERROR(write_point_updates(database, changes.point_updates));
  STRIPLINE_RETURN_IF_ERROR(write_attempts(database, changes.attempts));
  STRIPLINE_RETURN_IF_ERROR(write_attempt_ends(database, changes.attempt_ends));
  STRIPLINE_RETURN_IF_ERROR(write_facts(database, changes.facts));
  STRIPLINE_RETURN_IF_ERROR(write_all(
      database, changes.orphaned, "UPDATE batches SET orphan = 1 WHERE campaign = ? AND run = ?",
      [](SqlStatement& s, const RunKey& key) { s.bind(key.campaign, key.run); }));
  std::vector<const BatchRecord*> batches;
  for (const BatchRecord& batch : changes.batches) batches.push_back(&batch);
  STRIPLINE_RETURN_IF_ERROR(write_batches(database, batches));
  STRIPLINE_RETURN_IF_ERROR(write_live_batches(database, changes.live_batches));
  STRIPLINE_RETURN_IF_ERROR(
      write_all(database, changes.events,
                "INSERT INTO events (campaign, time, message, view) VALUES (?, ?, ?, ?)",
                [](SqlStatement& s, const EventRecord& r) {
                  s.bind(r.campaign, r.time_unix_s, r.message, r.view_json);
                }));
  STRIPLINE_RETURN_IF_ERROR(write_versions(database, changes.versions));
  STRIPLINE_RETURN_IF_ERROR(write_marks(database, "withdrawn", changes.withdrawals));
  STRIPLINE_RETURN_IF_ERROR(write_marks(database, "stale", changes.staled));
  STRIPLINE_RETURN_IF_ERROR(write_marks(database, "lost", changes.lost));
  STRIPLINE_RETURN_IF_ERROR(write_validations(database, changes.validations));
  STRIPLINE_RETURN_IF_ERROR(write_marks(database, "failed", changes.failed));
  STRIPLINE_RETURN_IF_ERROR(write_marks(database, "unjudged", changes.unjudged));
  STRIPLINE_RETURN_IF_ERROR(write_labels(database, changes));
  STRIPLINE_RETURN_IF_ERROR(write_past(database, changes));
  STRIPLINE_RETURN_IF_ERROR(write_checks(database, changes.checks));
  STRIPLINE_RETURN_IF_ERROR(write_node_models(database, changes.node_models));
  STRIPLINE_RETURN_IF_ERROR(write_feedback(database, changes.feedback));
  STRIPLINE_RETURN_IF_ERROR(write_operations(database, changes.operations));
  return write_deletions(database, changes.deleted_campaigns);
}

}  // namespace stripline::server
