#include "server/sqlite_store.h"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "server/clock.h"
#include "server/file_lock.h"
#include "server/sql_changes.h"
#include "server/sql_retention.h"
#include "server/sql_security.h"
#include "server/sql_store.h"
#include "server/sqlite.h"
#include "server/sqlite_schema.h"

namespace stripline::server {
namespace {

constexpr std::chrono::seconds kCheckpointEvery{1};
// A log of this many pages (16 MiB) is larger than what is written between two checkpoints.
constexpr int64_t kLargeLogPages = 4096;
constexpr int64_t kLargeLogBytes = kLargeLogPages * 4096;
// While somebody writes all the time, a log is never copied whole and so never begins again. One of
// this size is copied and cut between two steps, for which they wait.
constexpr uintmax_t kMostLogBytes = uintmax_t{64} << 20;
// Readers at a time: one that takes long does not keep the others waiting.
constexpr size_t kReaders = 4;

Result<uint64_t> pragma(SqlDatabase& database, const std::string& name) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, database.query_text("PRAGMA " + name));
  return std::stoull("0" + text);
}

class SqliteStore final : public SqlStore {
 public:
  // Connections: to write; to read, which wait for no write; and to copy what was written from the
  // log into the database. `path`: the database's.
  SqliteStore(const std::filesystem::path& path, FileLock lock, SqliteDatabase database,
              std::vector<SqliteDatabase> readers, SqliteDatabase checkpointer,
              std::string installation_id, uint64_t fence_base)
      : log_(path.string() + "-wal"),
        lock_(std::move(lock)),
        database_(std::move(database)),
        checkpointer_(std::move(checkpointer)),
        installation_id_(std::move(installation_id)),
        fence_base_(fence_base),
        checkpoints_([this](const std::stop_token& stop) { run_checkpoints(stop); }) {
    for (size_t i = 0; i < kReaders; ++i) readers_[i].database.emplace(std::move(readers.at(i)));
  }

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

  struct Reader {
    std::mutex mutex;
    std::optional<SqliteDatabase> database;
  };

  const std::filesystem::path log_;
  FileLock lock_;
  std::mutex mutex_;
  bool failing_ = false;  // the last step could not be stored
  SqliteDatabase database_;
  std::array<Reader, kReaders> readers_;
  std::atomic<size_t> next_reader_ = 0;
  std::mutex checkpointer_mutex_;
  SqliteDatabase checkpointer_;
  int64_t told_pages_ = 0;  // pages of the log when it was last reported as large
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
  if (stored.ok()) bound_log();
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

// By the first connection that is free, else by the next one.
Status SqliteStore::read(const Use& use) {
  for (Reader& reader : readers_) {
    const std::unique_lock lock(reader.mutex, std::try_to_lock);
    if (lock.owns_lock()) return use(*reader.database);
  }
  Reader& reader = readers_[next_reader_++ % kReaders];
  const std::lock_guard lock(reader.mutex);
  return use(*reader.database);
}

Result<bool> SqliteStore::sweep() {
  const std::lock_guard lock(mutex_);
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
    told_pages_ = 0;
    return;
  }
  if (copied == pages) {
    // Fails at once while somebody reads in it: the next commit tries again.
    (void)checkpointer_.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    return;
  }
  if (pages < 2 * told_pages_) return;
  told_pages_ = pages;
  spdlog::warn(
      "the database's write-ahead log has {} pages, of which {} can be copied into the database: a "
      "program that reads the file (sqlite3, a backup) has kept a transaction open since; end it",
      pages, copied);
}

// After a step, whose mutex is held: no one writes, and as soon as the readers have ended what they
// are at, nothing keeps the log.
void SqliteStore::bound_log() {
  std::error_code none;
  const auto bytes = std::filesystem::file_size(log_, none);
  if (none || bytes < kMostLogBytes) return;
  std::array<std::unique_lock<std::mutex>, kReaders> readers;
  for (size_t i = 0; i < kReaders; ++i) readers[i] = std::unique_lock(readers_[i].mutex);
  const std::lock_guard lock(checkpointer_mutex_);
  // Fails while another program reads in it: checkpoint() says so.
  (void)checkpointer_.execute("PRAGMA wal_checkpoint(TRUNCATE)");
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
  std::vector<SqliteDatabase> readers;
  for (size_t i = 0; i < kReaders; ++i) {
    STRIPLINE_ASSIGN_OR_RETURN(SqliteDatabase reader, SqliteDatabase::open(path.string()));
    STRIPLINE_RETURN_IF_ERROR(reader.execute("PRAGMA query_only = ON"));
    readers.push_back(std::move(reader));
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
