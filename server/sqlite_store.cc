#include "server/sqlite_store.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "server/clock.h"
#include "server/compression.h"
#include "server/file_lock.h"
#include "server/point_filter.h"
#include "server/sqlite.h"
#include "server/sqlite_retention.h"
#include "server/sqlite_rows.h"
#include "server/sqlite_schema.h"
#include "server/sqlite_security.h"

namespace stripline::server {
namespace {

constexpr int64_t kNoLimit = INT64_MAX;
constexpr std::chrono::seconds kCheckpointEvery{1};

// Version ?2 of model ?1; with 0 the newest that is not withdrawn, a provisional one only when
// there is no other.
constexpr std::string_view kWanted =
    " FROM model_versions WHERE model = ?1 AND"
    " (version = ?2 OR (?2 = 0 AND NOT EXISTS (SELECT 1 FROM version_marks m WHERE m.model = ?1"
    "  AND m.version = model_versions.version AND m.mark = 'withdrawn')))"
    " ORDER BY EXISTS (SELECT 1 FROM version_marks m WHERE m.model = ?1"
    "  AND m.version = model_versions.version AND m.mark = 'provisional'), version DESC LIMIT 1";

class SqliteStore final : public Store {
 public:
  // Three connections: to write; to read, which waits for no write; and to copy what was written
  // from the log into the database.
  SqliteStore(FileLock lock, SqliteDatabase database, SqliteDatabase reader,
              SqliteDatabase checkpointer, std::string installation_id, uint64_t fence_base)
      : lock_(std::move(lock)),
        database_(std::move(database)),
        reader_(std::move(reader)),
        checkpointer_(std::move(checkpointer)),
        installation_id_(std::move(installation_id)),
        fence_base_(fence_base),
        checkpoints_([this](const std::stop_token& stop) { run_checkpoints(stop); }) {}

  Status apply(const Changes& changes) override;
  Status probe() override;

  std::string installation_id() const override { return installation_id_; }
  uint64_t fence_base() const override { return fence_base_; }

  Result<std::vector<NodeRecord>> nodes(const std::string& after, size_t limit) override {
    return select(read_node,
                  std::string(kNodeColumns) + " FROM nodes WHERE name > ? ORDER BY name LIMIT ?",
                  after, limit);
  }
  Result<std::optional<NodeRecord>> node(const std::string& name) override {
    return select_one(read_node, std::string(kNodeColumns) + " FROM nodes WHERE name = ?", name);
  }
  Result<std::vector<NodeHold>> node_holds() override {
    return select(read_node_hold, kNodeHoldColumns);
  }

  Result<uint64_t> count_nodes() override {
    const auto read = [](SqliteStatement& row) -> Result<uint64_t> {
      return row.unsigned_integer(0);
    };
    STRIPLINE_ASSIGN_OR_RETURN(const auto count, select_one(read, "SELECT count(*) FROM nodes"));
    return *count;
  }

  Result<int64_t> next_campaign_number() override {
    const auto read = [](SqliteStatement& row) -> Result<int64_t> { return row.integer(0) + 1; };
    STRIPLINE_ASSIGN_OR_RETURN(
        const auto number, select_one(read, "SELECT value FROM meta WHERE key = 'last_campaign'"));
    return number.value_or(1);
  }
  Result<std::optional<CampaignRecord>> campaign(int64_t number) override {
    return select_one(
        read_campaign,
        std::string(kCampaignColumns) + " FROM campaigns WHERE number = ? AND state <> 'DELETED'",
        number);
  }
  Result<std::optional<CampaignRecord>> campaign_of_request(
      const std::string& request_id) override {
    return select_one(
        read_campaign,
        std::string(kCampaignColumns) + " FROM campaigns WHERE request_id = ? AND request_id <> ''",
        request_id);
  }
  Result<std::vector<CampaignRecord>> campaigns(int64_t before, size_t limit) override {
    return select(read_campaign,
                  std::string(kCampaignColumns) +
                      " FROM campaigns WHERE number < ? AND state <> 'DELETED'"
                      " ORDER BY number DESC LIMIT ?",
                  before == 0 ? kNoLimit : before, limit);
  }
  Result<std::vector<CampaignRecord>> unfinished_campaigns() override {
    return select(read_campaign, std::string(kCampaignColumns) +
                                     " FROM campaigns WHERE state IN"
                                     " ('QUEUED', 'RUNNING', 'FITTING') ORDER BY number");
  }

  Result<std::vector<CampaignRecord>> expendable_campaigns(double ended_before_unix_s,
                                                           size_t limit) override {
    return select(read_campaign, std::string(kCampaignColumns) + std::string(kExpendable),
                  ended_before_unix_s, limit);
  }
  Result<bool> sweep() override {
    const std::lock_guard lock(mutex_);
    const auto swept = sweep_deleted(database_);
    if (swept.ok() && *swept) ask_for_checkpoint();
    return swept;
  }
  Result<StoreSize> size() override {
    const std::lock_guard lock(reader_mutex_);
    return size_of(reader_);
  }

  Result<std::vector<RunRecord>> runs(int64_t campaign) override {
    return select(read_run, std::string(kRunColumns) + " FROM runs WHERE campaign = ? ORDER BY run",
                  campaign);
  }
  Result<std::string> run_plan(const RunKey& run) override {
    return select_text("SELECT assignment FROM plans WHERE campaign = ? AND run = ?",
                       "plan of " + run_name(run), run.campaign, run.run);
  }

  Result<std::vector<PointRecord>> points(int64_t campaign, const PointFilter& filter,
                                          uint32_t from, size_t limit) override {
    const std::lock_guard lock(reader_mutex_);
    STRIPLINE_ASSIGN_OR_RETURN(
        SqliteStatement statement,
        reader_.prepare(std::string(kPointColumns) +
                        " WHERE campaign = ?1 AND place >= ?2 AND (?3 = '' OR experiment = ?3)"
                        " AND (?4 = '' OR variant = ?4) ORDER BY place"));
    statement.bind(campaign, from, filter.experiment, filter.variant);
    const PointMatcher matcher(filter);
    std::vector<PointRecord> points;
    while (points.size() < limit && statement.step()) {
      if (!matcher.matches(statement.text(3))) continue;
      STRIPLINE_ASSIGN_OR_RETURN(PointRecord point, read_point(statement));
      points.push_back(std::move(point));
    }
    STRIPLINE_RETURN_IF_ERROR(statement.status());
    return points;
  }

  Result<std::optional<std::string>> sampling_node(const RunKey& run, uint64_t fence) override {
    const auto read = [](SqliteStatement& row) -> Result<std::string> { return row.text(0); };
    return select_one(
        read, "SELECT sampling_node FROM attempts WHERE campaign = ? AND run = ? AND fence = ?",
        run.campaign, run.run, fence);
  }
  Result<std::optional<RunAttempt>> attempt(const RunKey& run, uint64_t fence) override {
    return select_one(read_attempt,
                      std::string(kAttemptColumns) +
                          " FROM attempts WHERE campaign = ? AND run = ? AND fence = ?",
                      run.campaign, run.run, fence);
  }
  Result<std::vector<AttemptFacts>> attempt_facts(const RunKey& run, uint64_t fence) override {
    return select(read_facts,
                  std::string(kFactsColumns) +
                      " FROM attempt_nodes WHERE campaign = ? AND run = ? AND fence = ?"
                      " ORDER BY node",
                  run.campaign, run.run, fence);
  }
  Result<std::optional<bool>> has_batch(const RunKey& run, uint64_t fence, uint64_t seq,
                                        const std::string& data) override {
    const auto read = [&](SqliteStatement& row) -> Result<bool> {
      STRIPLINE_ASSIGN_OR_RETURN(const std::string stored, decompressed(row.blob(0)));
      return stored == data;
    };
    return select_one(read,
                      "SELECT (SELECT data FROM payloads WHERE batch = id) FROM batches"
                      " WHERE campaign = ? AND run = ? AND fence = ? AND seq = ?",
                      run.campaign, run.run, fence, seq);
  }
  Result<uint64_t> contiguous_batches(const RunKey& run, uint64_t fence) override {
    const auto read = [](SqliteStatement& row) -> Result<uint64_t> {
      return row.unsigned_integer(0);
    };
    STRIPLINE_ASSIGN_OR_RETURN(
        const auto last,
        select_one(read, "SELECT stored FROM attempts WHERE campaign = ? AND run = ? AND fence = ?",
                   run.campaign, run.run, fence));
    return last.value_or(0);
  }
  Result<std::vector<BatchRecord>> attempt_batches(const RunKey& run, uint64_t fence) override {
    return select(read_batch,
                  std::string(kBatchColumns) +
                      " FROM batches WHERE campaign = ? AND run = ? AND fence = ? ORDER BY seq",
                  run.campaign, run.run, fence);
  }
  Result<std::vector<BatchRecord>> batches(int64_t campaign, int64_t after, size_t limit) override {
    return select(read_batch,
                  std::string(kBatchColumns) +
                      " FROM batches WHERE campaign = ? AND id > ? ORDER BY id LIMIT ?",
                  campaign, after, limit);
  }

  Result<std::vector<EventRecord>> events(int64_t campaign, uint64_t cursor,
                                          size_t limit) override {
    return select(read_event,
                  std::string(kEventColumns) +
                      " FROM events WHERE campaign = ? AND cursor > ? ORDER BY cursor LIMIT ?",
                  campaign, cursor, limit);
  }

  Result<std::vector<ModelRecord>> models(const std::string& after, size_t limit) override {
    return select(read_model,
                  std::string(kModelColumns) + " FROM models WHERE name > ? ORDER BY name LIMIT ?",
                  after, limit);
  }
  Result<std::optional<ModelRecord>> model(const std::string& name) override {
    return select_one(read_model, std::string(kModelColumns) + " FROM models WHERE name = ?", name);
  }
  Result<std::vector<ModelVersionRecord>> model_versions(const std::string& model, int64_t before,
                                                         size_t limit) override {
    return select(
        read_version,
        std::string(kVersionColumns) +
            " FROM model_versions WHERE model = ? AND version < ? ORDER BY version DESC LIMIT ?",
        model, before == 0 ? kNoLimit : before, limit);
  }
  Result<std::optional<ModelVersionRecord>> model_version(const VersionKey& key) override {
    return select_one(read_version, std::string(kVersionColumns) + std::string(kWanted), key.model,
                      key.version);
  }
  Result<std::string> model_content(const VersionKey& key) override {
    return select_text("SELECT content" + std::string(kWanted), version_name(key), key.model,
                       key.version);
  }

  Result<std::vector<TokenRecord>> tokens() override { return select(read_token, kTokenColumns); }
  Result<std::vector<NodeBound>> node_bounds() override {
    return select(read_node_bound, kNodeBoundColumns);
  }
  Result<std::vector<AuditRecord>> audit(int64_t before, size_t limit) override {
    return select(read_audit, std::string(kAuditColumns) + " WHERE id < ? ORDER BY id DESC LIMIT ?",
                  before == 0 ? kNoLimit : before, limit);
  }

 private:
  // All rows of a query, each through `read`.
  template <typename Read, typename... Values>
  auto select(Read read, std::string_view sql, const Values&... values)
      -> Result<std::vector<std::decay_t<decltype(*read(std::declval<SqliteStatement&>()))>>> {
    const std::lock_guard lock(reader_mutex_);
    STRIPLINE_ASSIGN_OR_RETURN(SqliteStatement statement, reader_.prepare(sql));
    std::vector<std::decay_t<decltype(*read(statement))>> rows;
    statement.bind(values...);
    while (statement.step()) {
      STRIPLINE_ASSIGN_OR_RETURN(auto row, read(statement));
      rows.push_back(std::move(row));
    }
    STRIPLINE_RETURN_IF_ERROR(statement.status());
    return rows;
  }

  template <typename Read, typename... Values>
  auto select_one(Read read, std::string_view sql, const Values&... values)
      -> Result<std::optional<std::decay_t<decltype(*read(std::declval<SqliteStatement&>()))>>> {
    using Row = std::decay_t<decltype(*read(std::declval<SqliteStatement&>()))>;
    STRIPLINE_ASSIGN_OR_RETURN(auto rows, select(read, sql, values...));
    if (rows.empty()) return std::optional<Row>();
    return std::optional<Row>(std::move(rows.front()));
  }

  template <typename... Values>
  Result<std::string> select_text(std::string_view sql, const std::string& what,
                                  const Values&... values) {
    const auto read = [](SqliteStatement& row) -> Result<std::string> { return row.text(0); };
    STRIPLINE_ASSIGN_OR_RETURN(auto text, select_one(read, sql, values...));
    if (!text) return Error(ErrorCode::not_found, what + " is not stored");
    return std::move(*text);
  }

  Status write(const Changes& changes);
  void ask_for_checkpoint();
  void run_checkpoints(const std::stop_token& stop);

  FileLock lock_;
  std::mutex mutex_;
  bool failing_ = false;  // the last step could not be stored
  SqliteDatabase database_;
  std::mutex reader_mutex_;
  SqliteDatabase reader_;
  SqliteDatabase checkpointer_;  // of its thread
  const std::string installation_id_;
  const uint64_t fence_base_;
  std::mutex written_mutex_;
  std::condition_variable_any has_written_;
  bool written_ = false;  // since the last checkpoint
  std::jthread checkpoints_;
};

Status SqliteStore::apply(const Changes& changes) {
  const double start_s = steady_seconds();
  const std::lock_guard lock(mutex_);
  Status stored = write(changes);
  // What the store refuses because it holds something else is no failure of the store.
  failing_ = !stored.ok() && stored.error().code() != ErrorCode::already_exists;
  observer_(steady_seconds() - start_s, !failing_);
  return stored;
}

// Without something to write nothing would be tried.
Status SqliteStore::probe() {
  const std::lock_guard lock(mutex_);
  if (!failing_) return {};
  STRIPLINE_RETURN_IF_ERROR(
      database_.execute("UPDATE meta SET value = value WHERE key = 'installation_id'"));
  failing_ = false;
  return {};
}

Status SqliteStore::write(const Changes& changes) {
  STRIPLINE_ASSIGN_OR_RETURN(SqliteTransaction transaction, SqliteTransaction::begin(database_));
  STRIPLINE_RETURN_IF_ERROR(write_changes(database_, changes));
  STRIPLINE_RETURN_IF_ERROR(write_security(database_, changes));
  STRIPLINE_RETURN_IF_ERROR(transaction.commit());
  ask_for_checkpoint();
  return {};
}

void SqliteStore::ask_for_checkpoint() {
  {
    const std::lock_guard written(written_mutex_);
    written_ = true;
  }
  has_written_.notify_one();
}

// Commits need not wait until the log has been copied.
void SqliteStore::run_checkpoints(const std::stop_token& stop) {
  std::unique_lock lock(written_mutex_);
  while (has_written_.wait(lock, stop, [&] { return written_; })) {
    has_written_.wait_for(lock, stop, kCheckpointEvery, [] { return false; });
    written_ = false;
    lock.unlock();
    // What it cannot copy now it copies the next time, or whoever opens the database.
    (void)checkpointer_.execute("PRAGMA wal_checkpoint(PASSIVE)");
    lock.lock();
  }
}

}  // namespace

Result<std::unique_ptr<Store>> open_sqlite_store(const std::filesystem::path& path) {
  std::filesystem::path lock_path = path;
  lock_path += ".lock";
  Result<FileLock> lock = FileLock::acquire(lock_path);
  if (!lock.ok()) {
    if (lock.error().code() != ErrorCode::already_exists) return lock.error();
    return Error(ErrorCode::already_exists,
                 "database '" + path.string() + "' is in use by another stripline-server: " +
                     lock.error().message() + "; stop it or choose another --data-dir");
  }
  STRIPLINE_ASSIGN_OR_RETURN(SqliteDatabase database, open_store_database(path));
  STRIPLINE_RETURN_IF_ERROR(create_security_tables(database));
  STRIPLINE_ASSIGN_OR_RETURN(
      std::string id, database.query_text("SELECT value FROM meta WHERE key = 'installation_id'"));
  STRIPLINE_ASSIGN_OR_RETURN(
      const std::string base,
      database.query_text("SELECT value FROM meta WHERE key = 'fence_base'"));
  STRIPLINE_RETURN_IF_ERROR(database.execute("PRAGMA wal_autocheckpoint = 0"));
  STRIPLINE_ASSIGN_OR_RETURN(SqliteDatabase reader, SqliteDatabase::open(path.string()));
  STRIPLINE_RETURN_IF_ERROR(reader.execute("PRAGMA query_only = ON"));
  STRIPLINE_ASSIGN_OR_RETURN(SqliteDatabase checkpointer, SqliteDatabase::open(path.string()));
  return std::unique_ptr<Store>(std::make_unique<SqliteStore>(
      std::move(*lock), std::move(database), std::move(reader), std::move(checkpointer),
      std::move(id), std::stoull("0" + base)));
}

}  // namespace stripline::server
