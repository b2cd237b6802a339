#include "server/sqlite_schema.h"

#include <cstring>
#include <fstream>
#include <string>

namespace stripline::server {
namespace {

// "STLN": marks our files for sqlite3 and file(1).
constexpr int kApplicationId = 0x53544c4e;

constexpr std::string_view kTables = R"sql(
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

// Tables that databases of before do not have. An older server that opens the file again leaves
// them alone, so that the version stays.
constexpr std::string_view kAddedTables = R"sql(
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

Status add_columns(SqliteDatabase& database) {
  STRIPLINE_ASSIGN_OR_RETURN(
      const std::string present,
      database.query_text(
          "SELECT count(*) FROM pragma_table_info('runs') WHERE name = 'points_least'"));
  if (present != "0") return {};
  return database.execute("ALTER TABLE runs ADD COLUMN points_least INTEGER NOT NULL DEFAULT 0");
}

// An existing, non-empty file must begin as every SQLite database does; SQLite itself would say no
// more than "file is not a database".
Status check_header(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};  // Not there yet, or unreadable, which opening will report.
  char header[16] = {};
  file.read(header, sizeof header);
  if (file.gcount() == 0) return {};
  if (file.gcount() < 16 || std::memcmp(header, "SQLite format 3", 16) != 0) {
    return Error(ErrorCode::data_loss,
                 "'" + path.string() +
                     "' is not an SQLite database; move it away or choose another --data-dir");
  }
  return {};
}

Error foreign(const std::filesystem::path& path) {
  return {ErrorCode::failed_precondition,
          "'" + path.string() +
              "' is a database of another program; move it away or choose another --data-dir"};
}

Status create_tables(SqliteDatabase& database) {
  STRIPLINE_ASSIGN_OR_RETURN(SqliteTransaction transaction, SqliteTransaction::begin(database));
  STRIPLINE_RETURN_IF_ERROR(database.execute(std::string(kTables)));
  STRIPLINE_RETURN_IF_ERROR(database.execute(
      "PRAGMA application_id = " + std::to_string(kApplicationId) + ";" +
      "INSERT INTO meta VALUES ('schema_version', '" + std::to_string(kStoreSchemaVersion) + "');" +
      "INSERT INTO meta VALUES ('installation_id', lower(hex(randomblob(4))));"));
  return transaction.commit();
}

Status check_ours(SqliteDatabase& database, const std::filesystem::path& path) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string id, database.query_text("PRAGMA application_id"));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string tables,
                             database.query_text("SELECT count(*) FROM sqlite_schema"));
  if (id == "0" && tables == "0") return create_tables(database);
  if (id != std::to_string(kApplicationId)) return foreign(path);
  STRIPLINE_ASSIGN_OR_RETURN(
      const std::string version,
      database.query_text("SELECT value FROM meta WHERE key = 'schema_version'"));
  if (version != std::to_string(kStoreSchemaVersion)) {
    return Error(ErrorCode::failed_precondition, "'" + path.string() + "' has table version " +
                                                     version + ", this build reads " +
                                                     std::to_string(kStoreSchemaVersion) +
                                                     "; start the stripline-server that wrote it");
  }
  return {};
}

}  // namespace

Result<SqliteDatabase> open_store_database(const std::filesystem::path& path) {
  STRIPLINE_RETURN_IF_ERROR(check_header(path));
  STRIPLINE_ASSIGN_OR_RETURN(SqliteDatabase database, SqliteDatabase::open(path.string()));
  const auto prepare = [&]() -> Status {
    const Result<std::string> check = database.query_text("PRAGMA quick_check(1)");
    if (!check.ok()) return check.error();
    if (*check != "ok") return Error(ErrorCode::data_loss, *check);
    STRIPLINE_RETURN_IF_ERROR(database.execute(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"));
    STRIPLINE_RETURN_IF_ERROR(check_ours(database, path));
    STRIPLINE_RETURN_IF_ERROR(add_columns(database));
    return database.execute(std::string(kAddedTables));
  };
  if (Status status = prepare(); !status.ok()) {
    if (status.error().code() != ErrorCode::data_loss) return status.error();
    return Error(ErrorCode::data_loss, "'" + path.string() + "' is damaged or truncated (" +
                                           status.error().message() +
                                           "); restore it from a backup or move it away");
  }
  return database;
}

}  // namespace stripline::server
