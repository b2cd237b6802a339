#include "server/store/sqlite_migrations.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "optimizer/campaign/point_table.h"
#include "server/store/compression.h"
#include "server/store/point_records.h"
#include "server/store/sql_changes.h"
#include "server/store/sql_rows.h"

namespace stripline::server {
namespace {

// "STLN": marks our files for sqlite3 and file(1).
constexpr std::string_view kApplicationId = "0x53544c4e";

// Version 1, never to be changed: databases of it are out there.
constexpr std::string_view kFirstTables = R"sql(
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;

CREATE TABLE nodes (
  name TEXT PRIMARY KEY,
  agent_version TEXT NOT NULL,
  fingerprint TEXT NOT NULL,   -- JSON object
  fabrics TEXT NOT NULL,       -- JSON array
  experiments TEXT NOT NULL,   -- JSON array of declarations as text
  last_seen REAL NOT NULL
) STRICT;

CREATE TABLE campaigns (
  number INTEGER PRIMARY KEY,
  spec TEXT NOT NULL,          -- JSON object
  state TEXT NOT NULL,
  message TEXT NOT NULL,
  created REAL NOT NULL,
  updated REAL NOT NULL,
  request_id TEXT NOT NULL,
  request_sha256 TEXT NOT NULL,
  requirements TEXT NOT NULL,  -- JSON object
  feeds_model INTEGER NOT NULL,
  planned_run_s REAL NOT NULL,
  measured_s REAL NOT NULL,
  samples INTEGER NOT NULL,
  model_version TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX campaigns_by_request ON campaigns (request_id) WHERE request_id <> '';
CREATE INDEX campaigns_by_state ON campaigns (state);

CREATE TABLE runs (
  campaign INTEGER NOT NULL REFERENCES campaigns (number),
  run INTEGER NOT NULL,
  state TEXT NOT NULL,
  fence INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  rank_nodes TEXT NOT NULL,    -- JSON array
  points_done INTEGER NOT NULL,
  points_total INTEGER NOT NULL,
  points_core INTEGER NOT NULL,
  points_all INTEGER NOT NULL,
  duration_s REAL NOT NULL,
  message TEXT NOT NULL,
  PRIMARY KEY (campaign, run)
) STRICT, WITHOUT ROWID;

CREATE TABLE plans (
  campaign INTEGER NOT NULL,
  run INTEGER NOT NULL,
  assignment TEXT NOT NULL,    -- JSON object
  PRIMARY KEY (campaign, run),
  FOREIGN KEY (campaign, run) REFERENCES runs (campaign, run)
) STRICT;

CREATE TABLE batches (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  campaign INTEGER NOT NULL,
  run INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  orphan INTEGER NOT NULL,
  received REAL NOT NULL,
  samples INTEGER NOT NULL,
  data TEXT NOT NULL,          -- JSON array of SampleSeries
  UNIQUE (campaign, run, fence, seq),
  FOREIGN KEY (campaign, run) REFERENCES runs (campaign, run)
) STRICT;
CREATE INDEX batches_by_campaign ON batches (campaign, id);

CREATE TABLE events (
  cursor INTEGER PRIMARY KEY AUTOINCREMENT,
  campaign INTEGER NOT NULL REFERENCES campaigns (number),
  time REAL NOT NULL,
  message TEXT NOT NULL,
  view TEXT NOT NULL           -- JSON object
) STRICT;
CREATE INDEX events_by_campaign ON events (campaign, cursor);

CREATE TABLE models (
  name TEXT PRIMARY KEY,
  fabric TEXT NOT NULL,
  created REAL NOT NULL
) STRICT;

CREATE TABLE model_versions (
  model TEXT NOT NULL REFERENCES models (name),
  version INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  campaigns TEXT NOT NULL,     -- JSON array
  created REAL NOT NULL,
  summary TEXT NOT NULL,
  content TEXT NOT NULL,
  PRIMARY KEY (model, version)
) STRICT;
CREATE TRIGGER model_versions_are_immutable BEFORE UPDATE ON model_versions
BEGIN SELECT RAISE(ABORT, 'model versions are immutable'); END;
)sql";

// Databases of version 1 may lack these: they came without a version of their own.
constexpr std::string_view kLaterFirstTables = R"sql(
CREATE TABLE IF NOT EXISTS attempts (
  campaign INTEGER NOT NULL,
  run INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  sampling_node TEXT NOT NULL,
  PRIMARY KEY (campaign, run, fence)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS version_marks (
  model TEXT NOT NULL,
  version INTEGER NOT NULL,
  mark TEXT NOT NULL,          -- 'provisional' or 'withdrawn'
  reason TEXT NOT NULL,
  time REAL NOT NULL,
  PRIMARY KEY (model, version, mark),
  FOREIGN KEY (model, version) REFERENCES model_versions (model, version)
) STRICT, WITHOUT ROWID;
INSERT OR IGNORE INTO attempts
  SELECT campaign, run, fence, json_extract(rank_nodes, '$[0]') FROM runs
  WHERE fence > 0 AND json_array_length(rank_nodes) > 0;
)sql";

// `stored`: the batches 1 to so many of the attempt are there. What samples are is apart from what
// is known of them, so that making them orphans does not write them again.
constexpr std::string_view kSecondTables = R"sql(
ALTER TABLE runs ADD COLUMN start_s REAL NOT NULL DEFAULT 0;

ALTER TABLE attempts ADD COLUMN stored INTEGER NOT NULL DEFAULT 0;
UPDATE attempts SET stored = (
  WITH own(seq) AS (
    SELECT 0 UNION ALL
    SELECT seq FROM batches b WHERE b.campaign = attempts.campaign AND b.run = attempts.run
                                AND b.fence = attempts.fence)
  SELECT min(seq) FROM own WHERE NOT EXISTS (
    SELECT 1 FROM batches b WHERE b.campaign = attempts.campaign AND b.run = attempts.run
                              AND b.fence = attempts.fence AND b.seq = own.seq + 1));

CREATE TABLE payloads (
  batch INTEGER PRIMARY KEY REFERENCES batches (id),
  data TEXT NOT NULL           -- JSON array of SampleSeries
) STRICT;
INSERT INTO payloads SELECT id, data FROM batches;
ALTER TABLE batches DROP COLUMN data;

DROP TRIGGER model_versions_are_immutable;
ALTER TABLE model_versions ADD COLUMN size_bytes INTEGER NOT NULL DEFAULT 0;
UPDATE model_versions SET size_bytes = length(CAST(content AS BLOB));
CREATE TRIGGER model_versions_are_immutable BEFORE UPDATE ON model_versions
BEGIN SELECT RAISE(ABORT, 'model versions are immutable'); END;
)sql";

// What nodes were when they took part in an attempt, each set of facts once.
constexpr std::string_view kThirdTables = R"sql(
CREATE TABLE fingerprints (
  sha256 TEXT PRIMARY KEY,
  facts TEXT NOT NULL          -- JSON object
) STRICT, WITHOUT ROWID;
CREATE TRIGGER fingerprints_are_immutable BEFORE UPDATE ON fingerprints
BEGIN SELECT RAISE(ABORT, 'fingerprints are immutable'); END;
CREATE TABLE attempt_nodes (
  campaign INTEGER NOT NULL,
  run INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  node TEXT NOT NULL,
  fingerprint TEXT NOT NULL REFERENCES fingerprints (sha256),
  PRIMARY KEY (campaign, run, fence, node),
  FOREIGN KEY (campaign, run, fence) REFERENCES attempts (campaign, run, fence)
) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('fence_base', '0');
)sql";

// What a server that starts again needs to know of runs that are being measured.
constexpr std::string_view kFourthTables = R"sql(
ALTER TABLE attempts ADD COLUMN instances TEXT NOT NULL DEFAULT '{}';  -- JSON object, by node
ALTER TABLE attempts ADD COLUMN addresses TEXT NOT NULL DEFAULT '[]';  -- JSON array, by rank
)sql";

// A node's row keeps the names of experiments alone. A campaign's number is given out once, even if
// the campaign is deleted.
constexpr std::string_view kSixthTables = R"sql(
UPDATE nodes SET experiments = (
  SELECT json_group_array(json_extract(value, '$.name')) FROM json_each(nodes.experiments)
  WHERE json_valid(value) AND json_extract(value, '$.name') IS NOT NULL);
INSERT INTO meta SELECT 'last_campaign', CAST(coalesce(max(number), 0) AS TEXT) FROM campaigns;
CREATE TRIGGER campaigns_are_counted AFTER INSERT ON campaigns BEGIN
  UPDATE meta SET value = CAST(max(CAST(value AS INTEGER), NEW.number) AS TEXT)
  WHERE key = 'last_campaign';
END;
)sql";

// Which nodes operators keep from new runs, and of which cluster nodes are.
constexpr std::string_view kSeventhTables = R"sql(
ALTER TABLE nodes ADD COLUMN cluster TEXT NOT NULL DEFAULT 'default';
CREATE TABLE node_holds (
  node TEXT PRIMARY KEY,
  reason TEXT NOT NULL,
  actor TEXT NOT NULL,
  since REAL NOT NULL,
  deadline REAL NOT NULL       -- what it works on ends then; 0: at its own end
) STRICT, WITHOUT ROWID;
)sql";

// Samples, compressed; and what campaigns measure, from the plan of their first run: all have the
// same.
constexpr std::string_view kEighthTables = R"sql(
CREATE TABLE points (
  campaign INTEGER NOT NULL REFERENCES campaigns (number),
  place INTEGER NOT NULL,      -- in the plan, from 0 on
  experiment TEXT NOT NULL,
  variant TEXT NOT NULL,
  params TEXT NOT NULL,        -- JSON object
  PRIMARY KEY (campaign, place)
) STRICT, WITHOUT ROWID;
INSERT INTO points
  SELECT campaign, key, json_extract(value, '$.experiment'), json_extract(value, '$.variant'),
         json_extract(value, '$.params')
  FROM plans, json_each(iif(json_valid(assignment), assignment, '{}'), '$.points')
  WHERE run = (SELECT min(run) FROM plans first WHERE first.campaign = plans.campaign);
CREATE TABLE compressed_payloads (
  batch INTEGER PRIMARY KEY REFERENCES batches (id),
  data BLOB NOT NULL           -- a frame of zstd: a JSON array of SampleSeries
) STRICT;
)sql";

Status add_run_column(SqliteDatabase& database, const std::string& name, const std::string& value) {
  STRIPLINE_ASSIGN_OR_RETURN(
      const std::string present,
      database.query_text("SELECT count(*) FROM pragma_table_info('runs') WHERE name = '" + name +
                          "'"));
  if (present != "0") return {};
  return database.execute("ALTER TABLE runs ADD COLUMN " + name +
                          " INTEGER NOT NULL DEFAULT 0; UPDATE runs SET " + name + " = " + value);
}

Status to_second(SqliteDatabase& database) {
  STRIPLINE_RETURN_IF_ERROR(add_run_column(database, "points_core", "points_total"));
  STRIPLINE_RETURN_IF_ERROR(add_run_column(database, "points_all", "points_total"));
  STRIPLINE_RETURN_IF_ERROR(add_run_column(database, "points_least", "0"));
  STRIPLINE_RETURN_IF_ERROR(database.execute(std::string(kLaterFirstTables)));
  return database.execute(std::string(kSecondTables));
}

Status to_third(SqliteDatabase& database) { return database.execute(std::string(kThirdTables)); }

Status to_fourth(SqliteDatabase& database) { return database.execute(std::string(kFourthTables)); }

Status to_fifth(SqliteDatabase& database) {
  return database.execute(
      "ALTER TABLE campaigns ADD COLUMN fit_failures INTEGER NOT NULL DEFAULT 0");
}

Status to_sixth(SqliteDatabase& database) { return database.execute(std::string(kSixthTables)); }

Status to_seventh(SqliteDatabase& database) {
  return database.execute(std::string(kSeventhTables));
}

Status compress_payloads(SqliteDatabase& database) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto plain,
                             database.prepare("SELECT batch, data FROM payloads ORDER BY batch"));
  STRIPLINE_ASSIGN_OR_RETURN(const auto insert,
                             database.prepare("INSERT INTO compressed_payloads VALUES (?, ?)"));
  while (plain->step()) {
    STRIPLINE_ASSIGN_OR_RETURN(const std::string frame, compressed(plain->text(1)));
    STRIPLINE_RETURN_IF_ERROR(insert->bind(plain->integer(0), SqlBlob{frame}).run());
  }
  return plain->status();
}

Status to_eighth(SqliteDatabase& database) {
  STRIPLINE_RETURN_IF_ERROR(database.execute(std::string(kEighthTables)));
  STRIPLINE_RETURN_IF_ERROR(compress_payloads(database));
  return database.execute(
      "DROP TABLE payloads; ALTER TABLE compressed_payloads RENAME TO payloads");
}

// Why campaigns ended and how surely, and what is known of each of their points.
constexpr std::string_view kNinthTables = R"sql(
ALTER TABLE campaigns ADD COLUMN stop_reason TEXT NOT NULL DEFAULT '';
ALTER TABLE campaigns ADD COLUMN width REAL NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN grid INTEGER NOT NULL DEFAULT 0;
UPDATE runs SET grid = points_total;
ALTER TABLE points ADD COLUMN runs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE points ADD COLUMN failed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE points ADD COLUMN samples INTEGER NOT NULL DEFAULT 0;
ALTER TABLE points ADD COLUMN median REAL;
ALTER TABLE points ADD COLUMN low REAL;   -- of the interval of the median
ALTER TABLE points ADD COLUMN high REAL;
)sql";

// What the samples of a campaign's finished runs say of its points; not those that cannot be read.
Status sum_up(SqliteDatabase& database, int64_t campaign) {
  STRIPLINE_ASSIGN_OR_RETURN(
      const auto planned,
      database.prepare(std::string(kPointColumns) + " WHERE campaign = ? ORDER BY place"));
  planned->bind(campaign);
  campaign::PointTable table;
  while (planned->step()) {
    STRIPLINE_ASSIGN_OR_RETURN(PointRecord record, read_point(*planned));
    table.add(std::move(record.point));
  }
  STRIPLINE_RETURN_IF_ERROR(planned->status());
  STRIPLINE_ASSIGN_OR_RETURN(
      const auto batches,
      database.prepare("SELECT b.run, p.data FROM batches b JOIN payloads p ON p.batch = b.id"
                       " JOIN runs r ON r.campaign = b.campaign AND r.run = b.run"
                       " WHERE b.campaign = ? AND b.orphan = 0 AND r.state = 'FINISHED'"
                       " AND b.fence = r.fence ORDER BY b.id"));
  batches->bind(campaign);
  while (batches->step()) {
    const auto data = decompressed(batches->blob(1));
    const auto series = data.ok() ? series_of_batch(*data) : data.error();
    if (series.ok()) add_samples(table, static_cast<uint32_t>(batches->integer(0)), *series);
  }
  STRIPLINE_RETURN_IF_ERROR(batches->status());
  Changes changes;
  for (uint32_t place = 0; place < table.points().size(); ++place) {
    changes.point_updates.push_back({campaign, record_of(table, place)});
  }
  return write_changes(database, changes);
}

Status to_ninth(SqliteDatabase& database) {
  STRIPLINE_RETURN_IF_ERROR(database.execute(std::string(kNinthTables)));
  std::vector<int64_t> campaigns;
  STRIPLINE_ASSIGN_OR_RETURN(const auto measured,
                             database.prepare("SELECT DISTINCT campaign FROM points"));
  while (measured->step()) campaigns.push_back(measured->integer(0));
  STRIPLINE_RETURN_IF_ERROR(measured->status());
  for (const int64_t campaign : campaigns) {
    STRIPLINE_RETURN_IF_ERROR(sum_up(database, campaign));
  }
  return {};
}

// What fits found, how versions did on other points, and which versions labels name.
constexpr std::string_view kTenthTables = R"sql(
ALTER TABLE model_versions ADD COLUMN findings TEXT NOT NULL DEFAULT '[]';  -- JSON array
CREATE TABLE validations (
  model TEXT NOT NULL,
  version INTEGER NOT NULL,
  report TEXT NOT NULL,        -- JSON object
  PRIMARY KEY (model, version),
  FOREIGN KEY (model, version) REFERENCES model_versions (model, version)
) STRICT, WITHOUT ROWID;
CREATE TABLE model_labels (
  model TEXT NOT NULL,
  label TEXT NOT NULL,
  place INTEGER NOT NULL,      -- of the move, from 1 on; the last one counts
  version INTEGER NOT NULL,
  actor TEXT NOT NULL,
  time REAL NOT NULL,
  PRIMARY KEY (model, label, place),
  FOREIGN KEY (model, version) REFERENCES model_versions (model, version)
) STRICT, WITHOUT ROWID;
)sql";

Status to_tenth(SqliteDatabase& database) { return database.execute(std::string(kTenthTables)); }

// Which nodes try a version, what nodes have answered to the offer of one, and how points that were
// measured again lie to it.
constexpr std::string_view kEleventhTables = R"sql(
ALTER TABLE model_labels ADD COLUMN nodes TEXT NOT NULL DEFAULT '[]';  -- JSON array
CREATE TABLE node_models (
  node TEXT NOT NULL,
  model TEXT NOT NULL,
  version INTEGER NOT NULL,
  applied INTEGER NOT NULL,    -- 0: it was rejected
  reason TEXT NOT NULL,
  time REAL NOT NULL,
  PRIMARY KEY (node, model, version),
  FOREIGN KEY (model, version) REFERENCES model_versions (model, version)
) STRICT, WITHOUT ROWID;
CREATE TABLE model_checks (
  model TEXT NOT NULL,
  version INTEGER NOT NULL,
  campaign TEXT NOT NULL,
  time REAL NOT NULL,
  report TEXT NOT NULL,        -- JSON object
  PRIMARY KEY (model, version, campaign),
  FOREIGN KEY (model, version) REFERENCES model_versions (model, version)
) STRICT, WITHOUT ROWID;
)sql";

Status to_eleventh(SqliteDatabase& database) {
  return database.execute(std::string(kEleventhTables));
}

// What runs saw of versions.
constexpr std::string_view kTwelfthTables = R"sql(
CREATE TABLE model_feedback (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  model TEXT NOT NULL,
  version INTEGER NOT NULL,
  time REAL NOT NULL,
  sender TEXT NOT NULL,
  sha256 TEXT NOT NULL UNIQUE, -- of the report
  report TEXT NOT NULL,        -- JSON object
  FOREIGN KEY (model, version) REFERENCES model_versions (model, version)
) STRICT;
CREATE INDEX model_feedback_by_version ON model_feedback (model, version, id);
)sql";

Status to_twelfth(SqliteDatabase& database) {
  return database.execute(std::string(kTwelfthTables));
}

// Campaigns may go on after their end, and be in states that earlier servers do not know.
Status to_thirteenth(SqliteDatabase& database) {
  return database.execute("ALTER TABLE campaigns ADD COLUMN retries INTEGER NOT NULL DEFAULT 0");
}

// What has happened to versions, which labels do not tell once their moves are taken back. The
// audit trail tells it of those of before; of a stale one only whether it was stable at some time.
constexpr std::string_view kFourteenthTables = R"sql(
CREATE TABLE version_past (
  model TEXT NOT NULL,
  version INTEGER NOT NULL,
  what TEXT NOT NULL,          -- 'canary', 'stable', or 'stale in use': while it was stable
  time REAL NOT NULL,            -- of the first time
  PRIMARY KEY (model, version, what),
  FOREIGN KEY (model, version) REFERENCES model_versions (model, version)
) STRICT, WITHOUT ROWID;
INSERT INTO version_past
  SELECT v.model, v.version, l.label, min(a.time)
  FROM (SELECT 'canary' AS label UNION SELECT 'stable') AS l
    JOIN audit a ON a.action = 'promote model version to ' || l.label
    JOIN model_versions v ON a.object = 'models/' || v.model || '/versions/' || v.version
  GROUP BY v.model, v.version, l.label;
INSERT INTO version_past
  SELECT m.model, m.version, 'stale in use', m.time
  FROM version_marks m JOIN version_past p ON p.model = m.model AND p.version = m.version
  WHERE m.mark = 'stale' AND p.what = 'stable';
)sql";

Status to_fourteenth(SqliteDatabase& database) {
  return database.execute(std::string(kFourteenthTables));
}

// What takes longer than a call.
constexpr std::string_view kFifteenthTables = R"sql(
CREATE TABLE operations (
  number INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  request TEXT NOT NULL,       -- JSON object
  state TEXT NOT NULL,
  message TEXT NOT NULL,
  result TEXT NOT NULL,
  actor TEXT NOT NULL,
  request_id TEXT NOT NULL,
  request_sha256 TEXT NOT NULL,
  created REAL NOT NULL,
  updated REAL NOT NULL,
  failures INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX operations_by_request ON operations (request_id) WHERE request_id <> '';
)sql";

Status to_fifteenth(SqliteDatabase& database) {
  return database.execute(std::string(kFifteenthTables));
}

// Owners of campaigns, as the audit trail knows them, so that the names of requests of one caller
// are not those of another; tokens that enrol several nodes; and when certificates of nodes end.
constexpr std::string_view kSixteenthTables = R"sql(
ALTER TABLE campaigns ADD COLUMN owner TEXT NOT NULL DEFAULT '';
UPDATE campaigns SET owner = coalesce((
  SELECT actor FROM audit WHERE object = 'campaigns/c' || number
    AND action IN ('create campaign', 'import campaign') ORDER BY id LIMIT 1), '');
DROP INDEX IF EXISTS campaigns_by_request;
CREATE UNIQUE INDEX campaigns_by_owner ON campaigns (owner, request_id) WHERE request_id <> '';
DROP INDEX IF EXISTS operations_by_request;
CREATE UNIQUE INDEX operations_by_actor ON operations (actor, request_id) WHERE request_id <> '';
ALTER TABLE tokens ADD COLUMN count INTEGER NOT NULL DEFAULT 1;  -- of enrolments it is for
ALTER TABLE tokens ADD COLUMN uses INTEGER NOT NULL DEFAULT 0;   -- of those, made with it
ALTER TABLE tokens ADD COLUMN last_used REAL NOT NULL DEFAULT 0; -- 0: never
UPDATE tokens SET uses = 1, last_used = ended WHERE used_by <> '';
ALTER TABLE node_bounds ADD COLUMN until REAL NOT NULL DEFAULT 0;  -- 0: not known
)sql";

Status to_sixteenth(SqliteDatabase& database) {
  return database.execute(std::string(kSixteenthTables));
}

// What people call campaigns: a JSON array.
Status to_seventeenth(SqliteDatabase& database) {
  return database.execute("ALTER TABLE campaigns ADD COLUMN labels TEXT NOT NULL DEFAULT '[]'");
}

// The one at place n takes version n + 1 to n + 2.
constexpr std::array kMigrations = {&to_second,     &to_third,     &to_fourth,    &to_fifth,
                                    &to_sixth,      &to_seventh,   &to_eighth,    &to_ninth,
                                    &to_tenth,      &to_eleventh,  &to_twelfth,   &to_thirteenth,
                                    &to_fourteenth, &to_fifteenth, &to_sixteenth, &to_seventeenth};
static_assert(kMigrations.size() + 1 == kStoreSchemaVersion);

}  // namespace

Status create_first_tables(SqliteDatabase& database) {
  STRIPLINE_RETURN_IF_ERROR(database.execute(std::string(kFirstTables)));
  return database.execute(
      "PRAGMA application_id = " + std::string(kApplicationId) + ";" +
      "INSERT INTO meta VALUES ('schema_version', '1');" +
      "INSERT INTO meta VALUES ('installation_id', lower(hex(randomblob(4))));");
}

Status migrate(SqliteDatabase& database, int version) {
  if (version == kStoreSchemaVersion) return {};
  for (auto step = static_cast<size_t>(version) - 1; step < kMigrations.size(); ++step) {
    STRIPLINE_RETURN_IF_ERROR(kMigrations[step](database));
  }
  return database.execute("UPDATE meta SET value = '" + std::to_string(kStoreSchemaVersion) +
                          "' WHERE key = 'schema_version'");
}

}  // namespace stripline::server
