#include "server/store/sqlite_store.h"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "server/clock.h"
#include "server/store/file_lock.h"
#include "server/store/log_bound.h"
#include "server/store/readers.h"
#include "server/store/sql_changes.h"
#include "server/store/sql_retention.h"
#include "server/store/sql_security.h"
#include "server/store/sql_store.h"
#include "server/store/sqlite.h"
#include "server/store/sqlite_schema.h"
#include "server/store/step_size.h"

namespace stripline::server {
namespace {

constexpr std::chrono::seconds kCheckpointEvery{1};
// A log of this many pages (16 MiB) is larger than what is written between two checkpoints.
constexpr int64_t kLargeLogPages = 4096;
constexpr int64_t kLargeLogBytes = kLargeLogPages * 4096;

Result<uint64_t> pragma(SqlDatabase& database, const std::string& name) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, database.query_text("PRAGMA " + name));
  return std::stoull("0" + text);
}

// The file behind a name.
using FileIdentity = std::pair<dev_t, ino_t>;

std::optional<FileIdentity> identity_of(const std::filesystem::path& path) {
  struct stat found = {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return FileIdentity{found.st_dev, found.st_ino};
}

// A file of the open database must stay where it is: what is written into one that was removed or
// replaced is gone when the server ends.
class OpenFile {
 public:
  explicit OpenFile(std::filesystem::path path)
      : path_(std::move(path)), opened_(identity_of(path_)) {}

  const std::filesystem::path& path() const { return path_; }

  Status check() const {
    if (!opened_ || identity_of(path_) == opened_) return {};
    return Error(ErrorCode::unavailable,
                 "'" + path_.string() +
                     "' was removed or replaced while the server runs, which stores nothing any "
                     "more: put the file back, or stop the server, restore a backup, and start it");
  }

 private:
  std::filesystem::path path_;
  std::optional<FileIdentity> opened_;  // nullopt: it was not there
};

class SqliteStore final : public SqlStore {
 public:
  // Connections: to write; to read, which wait for no write; and to copy what was written from the
  // log into the database. `path`: the database's.
  SqliteStore(const std::filesystem::path& path, FileLock lock, SqliteDatabase database,
              std::vector<std::unique_ptr<SqliteDatabase>> readers, SqliteDatabase checkpointer,
              std::string installation_id, uint64_t fence_base)
      : lock_(std::move(lock)),
        file_(path),
        log_(path.string() + "-wal"),
        database_(std::move(database)),
        readers_(std::move(readers)),
        checkpointer_(std::move(checkpointer)),
        installation_id_(std::move(installation_id)),
        fence_base_(fence_base),
        checkpoints_([this](const std::stop_token& stop) { run_checkpoints(stop); }) {}

  Status apply(const Changes& changes) override;
  Status probe() override;

  std::string installation_id() const override { return installation_id_; }
  uint64_t fence_base() const override { return fence_base_; }
  Result<bool> sweep() override;
  Result<StoreSize> size() override;

 private:
  Status read(const Use& use) override;
  Status write(const Changes& changes);
  void ask_for_checkpoint();
  void run_checkpoints(const std::stop_token& stop);
  void checkpoint();
  void bound_log();
  Status check_files() const;
  Status store_trial();

  FileLock lock_;
  const OpenFile file_;
  const OpenFile log_;
  std::mutex mutex_;
  SqliteDatabase database_;
  Readers<SqliteDatabase> readers_;
  std::mutex checkpointer_mutex_;
  SqliteDatabase checkpointer_;
  LogBound log_bound_;
  int64_t reported_pages_ = 0;  // pages of the log when it was last reported as large
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
  health_.note_step(stored, bytes_of(changes), unix_seconds());
  // What the store refuses because it holds something else is no failure of the store.
  if (stored.ok()) bound_log();
  observer_(steady_seconds() - start_s,
            stored.ok() || stored.error().code() == ErrorCode::already_exists);
  return stored;
}

// After an outage there may be nothing else to write for long.
Status SqliteStore::probe() {
  const std::lock_guard lock(mutex_);
  if (Status there = check_files(); !there.ok()) {
    health_.note_step(there, 0, unix_seconds());
    return there;
  }
  if (!health_.outage()) return {};
  const Status stored = store_trial();
  health_.note_trial(stored);
  return stored;
}

Status SqliteStore::check_files() const {
  STRIPLINE_RETURN_IF_ERROR(file_.check());
  return log_.check();
}

Status SqliteStore::store_trial() {
  STRIPLINE_ASSIGN_OR_RETURN(const auto insert,
                             database_.prepare("INSERT OR REPLACE INTO meta VALUES ('trial', ?)"));
  STRIPLINE_RETURN_IF_ERROR(insert->bind(trial_text(health_.trial_bytes())).run());
  STRIPLINE_RETURN_IF_ERROR(database_.execute("DELETE FROM meta WHERE key = 'trial'"));
  ask_for_checkpoint();
  return {};
}

Status SqliteStore::write(const Changes& changes) {
  STRIPLINE_RETURN_IF_ERROR(check_files());
  STRIPLINE_ASSIGN_OR_RETURN(SqliteTransaction transaction, SqliteTransaction::begin(database_));
  STRIPLINE_RETURN_IF_ERROR(write_changes(database_, changes));
  STRIPLINE_RETURN_IF_ERROR(write_security(database_, changes));
  STRIPLINE_RETURN_IF_ERROR(transaction.commit());
  ask_for_checkpoint();
  return {};
}

// By the first connection that is free, else by the next one.
Status SqliteStore::read(const Use& use) { return use(*readers_.take()); }

Result<bool> SqliteStore::sweep() {
  const std::lock_guard lock(mutex_);
  STRIPLINE_RETURN_IF_ERROR(check_files());
  STRIPLINE_ASSIGN_OR_RETURN(SqliteTransaction transaction, SqliteTransaction::begin(database_));
  STRIPLINE_ASSIGN_OR_RETURN(const bool swept, sweep_deleted(database_));
  STRIPLINE_RETURN_IF_ERROR(transaction.commit());
  if (swept) ask_for_checkpoint();
  return swept;
}

Result<StoreSize> SqliteStore::size() {
  StoreSize size;
  STRIPLINE_RETURN_IF_ERROR(read([&](SqlDatabase& database) -> Status {
    STRIPLINE_ASSIGN_OR_RETURN(const uint64_t page_bytes, pragma(database, "page_size"));
    STRIPLINE_ASSIGN_OR_RETURN(const uint64_t pages, pragma(database, "page_count"));
    STRIPLINE_ASSIGN_OR_RETURN(const uint64_t free, pragma(database, "freelist_count"));
    size = {pages * page_bytes, free * page_bytes};
    return {};
  }));
  return size;
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
    checkpoint();
    lock.lock();
  }
}

// What it cannot copy now it copies the next time, or whoever opens the database. A log that is
// copied whole is written from its beginning again, but keeps its size: one that has become large
// is cut.
void SqliteStore::checkpoint() {
  const std::lock_guard lock(checkpointer_mutex_);
  int64_t pages = 0;
  int64_t copied = 0;
  {
    const auto statement = checkpointer_.prepare("PRAGMA wal_checkpoint(PASSIVE)");
    if (!statement.ok() || !(*statement)->step()) return;
    pages = (*statement)->integer(1);
    copied = (*statement)->integer(2);
  }
  if (pages < kLargeLogPages) {
    reported_pages_ = 0;
    return;
  }
  if (copied == pages) {
    // Fails at once while somebody reads in it: the next commit tries again.
    (void)checkpointer_.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    return;
  }
  if (pages < 2 * reported_pages_) return;
  reported_pages_ = pages;
  spdlog::warn(
      "the database's write-ahead log has {} pages, of which {} can be copied into the database: a "
      "program that reads the file (sqlite3, a backup) has kept a transaction open since; end it",
      pages, copied);
}

// After a step, whose mutex is held: no one writes, and where no reader of ours is at work nothing
// keeps the log but another program.
void SqliteStore::bound_log() {
  std::error_code none;
  const auto bytes = std::filesystem::file_size(log_.path(), none);
  if (none) return;
  const LogBound::Cut cut = log_bound_.next(bytes, steady_seconds());
  if (cut == LogBound::Cut::no) return;
  const bool waits = cut == LogBound::Cut::when_unread;
  const auto readers = waits ? readers_.take_all() : readers_.try_take_all();
  if (readers.empty()) return;
  // What a checkpoint copies meanwhile need not be copied here.
  const std::lock_guard lock(checkpointer_mutex_);
  // Fails while another program reads in it: checkpoint() says so.
  (void)checkpointer_.execute("PRAGMA wal_checkpoint(TRUNCATE)");
}

std::filesystem::path beside(const std::filesystem::path& path, const char* suffix) {
  return path.string() + suffix;
}

// Where the tables of a new database are made, so that an empty file under its own name is never
// the beginning of one.
constexpr const char* kNewSuffix = ".new";

// `had_lock`: a server has run in this folder before.
Status create_database(const std::filesystem::path& path, bool had_lock) {
  const std::filesystem::path fresh = beside(path, kNewSuffix);
  std::error_code ignored;
  if (had_lock && !std::filesystem::exists(fresh, ignored)) {
    return Error(ErrorCode::data_loss,
                 "there is no '" + path.string() + "', but '" + beside(path, ".lock").string() +
                     "' says that a server has kept its data here: mount the disk or restore a "
                     "backup (--restore), or remove that file to begin with an empty database");
  }
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::filesystem::remove(beside(fresh, suffix), ignored);
  }
  // It is in one file once it is closed.
  if (auto made = open_store_database(fresh); !made.ok()) return made.error();
  std::error_code failure;
  std::filesystem::rename(fresh, path, failure);
  if (!failure) return {};
  return Error(ErrorCode::unavailable, "cannot rename '" + fresh.string() + "' to '" +
                                           path.filename().string() + "': " + failure.message());
}

// Opening anything else would wait, or take it for a new database.
Status check_file(const std::filesystem::path& path) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) {
    return Error(ErrorCode::data_loss,
                 "'" + path.string() + "' is not a file; remove it, and restore a backup");
  }
  if (std::filesystem::file_size(path, failure) > 0 || failure) return {};
  return Error(ErrorCode::data_loss, "'" + path.string() +
                                         "' is empty: restore it from a backup (--restore), or "
                                         "remove it and '" +
                                         beside(path, ".lock").filename().string() +
                                         "' to begin with an empty database");
}

}  // namespace

Result<std::unique_ptr<Store>> open_sqlite_store(const std::filesystem::path& path) {
  const std::filesystem::path lock_path = beside(path, ".lock");
  std::error_code ignored;
  const bool had_lock = std::filesystem::exists(lock_path, ignored);
  Result<FileLock> lock = FileLock::acquire(lock_path);
  if (!lock.ok()) {
    if (lock.error().code() != ErrorCode::already_exists) return lock.error();
    return Error(ErrorCode::already_exists,
                 "database '" + path.string() + "' is in use by another stripline-server: " +
                     lock.error().message() + "; stop it or choose another --data-dir");
  }
  if (std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) {
    STRIPLINE_RETURN_IF_ERROR(check_file(path));
  } else {
    STRIPLINE_RETURN_IF_ERROR(create_database(path, had_lock));
  }
  STRIPLINE_ASSIGN_OR_RETURN(SqliteDatabase database, open_store_database(path));
  STRIPLINE_ASSIGN_OR_RETURN(
      std::string id, database.query_text("SELECT value FROM meta WHERE key = 'installation_id'"));
  STRIPLINE_ASSIGN_OR_RETURN(
      const std::string base,
      database.query_text("SELECT value FROM meta WHERE key = 'fence_base'"));
  STRIPLINE_RETURN_IF_ERROR(database.execute("PRAGMA wal_autocheckpoint = 0"));
  // A commit that begins the log again cuts what is above, which readers had kept from the
  // checkpoint.
  STRIPLINE_RETURN_IF_ERROR(
      database.execute("PRAGMA journal_size_limit = " + std::to_string(kLargeLogBytes)));
  std::vector<std::unique_ptr<SqliteDatabase>> readers;
  for (size_t i = 0; i < kReaders; ++i) {
    STRIPLINE_ASSIGN_OR_RETURN(SqliteDatabase reader, SqliteDatabase::open(path.string()));
    STRIPLINE_RETURN_IF_ERROR(reader.execute("PRAGMA query_only = ON"));
    readers.push_back(std::make_unique<SqliteDatabase>(std::move(reader)));
  }
  STRIPLINE_ASSIGN_OR_RETURN(SqliteDatabase checkpointer, SqliteDatabase::open(path.string()));
  // No reader or writer waits for a checkpoint, and it waits for none of them.
  STRIPLINE_RETURN_IF_ERROR(checkpointer.execute("PRAGMA busy_timeout = 0"));
  // What a server that was killed has left.
  (void)checkpointer.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  return std::unique_ptr<Store>(std::make_unique<SqliteStore>(
      path, std::move(*lock), std::move(database), std::move(readers), std::move(checkpointer),
      std::move(id), std::stoull("0" + base)));
}

}  // namespace stripline::server
