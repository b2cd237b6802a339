#include "server/store/postgres_store.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "server/clock.h"
#include "server/store/postgres.h"
#include "server/store/postgres_lease.h"
#include "server/store/postgres_schema.h"
#include "server/store/readers.h"
#include "server/store/schema.h"
#include "server/store/sql_changes.h"
#include "server/store/sql_retention.h"
#include "server/store/sql_security.h"
#include "server/store/sql_store.h"
#include "server/store/step_size.h"

namespace stripline::server {
namespace {

// How long a step waits for a database that has just been lost, to find out what became of it.
constexpr double kDoubt_s = 2;
constexpr std::chrono::milliseconds kDoubtPause{100};
// Between attempts to reach a database that is gone: other callers fail at once.
constexpr double kLeastRetry_s = 0.1;
constexpr double kLongestRetry_s = 2;
// How old the size of what is stored may be: it is summed up row by row.
constexpr double kSizeAge_s = 60;

// What campaigns have left in the tables that grow, without the room that deleted rows still take.
constexpr const char* kUsedBytes =
    "SELECT (SELECT coalesce(sum(octet_length(data)), 0) FROM payloads)"
    " + (SELECT coalesce(sum(octet_length(view) + octet_length(message)), 0) FROM events)"
    " + (SELECT coalesce(sum(octet_length(experiment) + octet_length(variant)"
    "    + octet_length(params) + coalesce(octet_length(medians), 0)), 0) FROM points)"
    " + (SELECT coalesce(sum(octet_length(assignment)), 0) FROM plans)"
    " + (SELECT coalesce(sum(octet_length(content)), 0) FROM model_versions)";

// The first statement of each transaction that writes. The server that takes over waits for its
// end.
constexpr std::string_view kBeginStep = "SELECT begin_step(?, ?)";

template <typename... Values>
Status run(PostgresConnection& connection, std::string_view sql, const Values&... values) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto statement, connection.prepare(sql));
  return statement->bind(values...).run();
}

// A connection that is made again, with back-off.
class Reconnecting {
 public:
  explicit Reconnecting(std::string url) : url_(std::move(url)) {}

  Result<PostgresConnection*> get() {
    if (connection_ && !connection_->broken()) return connection_.get();
    if (failure_ && steady_seconds() < next_s_) return *failure_;
    connection_.reset();
    auto opened = PostgresConnection::open(url_);
    if (!opened.ok()) {
      pause_s_ = failure_ ? std::min(2 * pause_s_, kLongestRetry_s) : kLeastRetry_s;
      next_s_ = steady_seconds() + pause_s_;
      failure_ = opened.error();
      return opened.error();
    }
    failure_.reset();
    connection_ = std::move(*opened);
    return connection_.get();
  }

 private:
  const std::string url_;
  std::unique_ptr<PostgresConnection> connection_;
  std::optional<Error> failure_;
  double pause_s_ = 0;
  double next_s_ = 0;
};

// Each is made when it is first used.
std::vector<std::unique_ptr<Reconnecting>> connections_for_reads(const std::string& url) {
  std::vector<std::unique_ptr<Reconnecting>> connections;
  for (size_t i = 0; i < kReaders; ++i) connections.push_back(std::make_unique<Reconnecting>(url));
  return connections;
}

class PostgresStore final : public SqlStore {
 public:
  PostgresStore(const std::string& url, std::unique_ptr<PostgresLease> lease,
                std::string installation_id, uint64_t fence_base)
      : installation_id_(std::move(installation_id)),
        fence_base_(fence_base),
        writer_(url),
        readers_(connections_for_reads(url)),
        lease_(std::move(lease)) {
    lease_->keep([this](const Error& why) { lose(why); });
  }

  Status apply(const Changes& changes) override;
  Status probe() override;
  void on_lost(std::function<void(const Error&)> notify) override;

  std::string installation_id() const override { return installation_id_; }
  uint64_t fence_base() const override { return fence_base_; }
  Result<bool> sweep() override;
  Result<StoreSize> size() override;

 private:
  Status read(const Use& use) override;
  Status write(const Changes& changes);
  Result<bool> last_step_is_stored(PostgresConnection& connection) const;
  Status resolve(PostgresConnection& connection);
  Status wait_for_outcome(const Error& lost);
  Status check_writer();
  Status reach_database();
  Status store_trial();
  Status noting_loss(const Status& status);
  void lose(const Error& why);

  const std::string installation_id_;
  const uint64_t fence_base_;
  std::mutex mutex_;
  int64_t step_ = 0;
  bool in_doubt_ = false;  // whether the last step was stored, which no caller knows
  Reconnecting writer_;
  Readers<Reconnecting> readers_;
  std::mutex size_mutex_;
  StoreSize size_;
  double sized_s_ = 0;  // 0: it must be summed up
  std::mutex lost_mutex_;
  std::optional<Error> lost_;
  std::function<void(const Error&)> notify_;
  std::unique_ptr<PostgresLease> lease_;  // last, so that it ends first
};

void PostgresStore::lose(const Error& why) {
  const std::lock_guard guard(lost_mutex_);
  if (lost_) return;
  lost_ = why;
  if (notify_) notify_(why);
}

void PostgresStore::on_lost(std::function<void(const Error&)> notify) {
  const std::lock_guard guard(lost_mutex_);
  notify_ = std::move(notify);
  if (lost_ && notify_) notify_(*lost_);
}

Status PostgresStore::check_writer() {
  const std::lock_guard guard(lost_mutex_);
  if (!lost_) return {};
  return Error(ErrorCode::unavailable,
               "this server does not write to the database any more: " + lost_->message());
}

// Once another server writes, it stays so.
Status PostgresStore::noting_loss(const Status& status) {
  if (status.ok() || status.error().code() != ErrorCode::aborted) return status;
  lose(status.error());
  return check_writer();
}

Status PostgresStore::apply(const Changes& changes) {
  const double start_s = steady_seconds();
  const std::lock_guard lock(mutex_);
  Status stored = check_writer();
  if (stored.ok()) stored = noting_loss(write(changes));
  health_.note_step(stored, bytes_of(changes), unix_seconds());
  // What the store refuses because it holds something else is no failure of the store.
  observer_(steady_seconds() - start_s,
            stored.ok() || stored.error().code() == ErrorCode::already_exists);
  return stored;
}

// All statements are sent before the first answer is waited for: a step takes one trip to the
// database and back, however many rows it writes.
Status PostgresStore::write(const Changes& changes) {
  STRIPLINE_ASSIGN_OR_RETURN(PostgresConnection* const connection, writer_.get());
  STRIPLINE_RETURN_IF_ERROR(resolve(*connection));
  STRIPLINE_RETURN_IF_ERROR(connection->begin_gathering());
  const auto send = [&]() -> Status {
    STRIPLINE_RETURN_IF_ERROR(run(*connection, "BEGIN"));
    STRIPLINE_RETURN_IF_ERROR(run(*connection, kBeginStep, lease_->token(), ++step_));
    STRIPLINE_RETURN_IF_ERROR(write_changes(*connection, changes));
    STRIPLINE_RETURN_IF_ERROR(write_security(*connection, changes));
    return run(*connection, "COMMIT");
  };
  if (Status sent = send(); !sent.ok()) {
    connection->give_up();  // a transaction whose end was not sent is none
    return sent;
  }
  const Status stored = connection->finish_gathering(in_doubt_);
  return in_doubt_ ? wait_for_outcome(stored.error()) : stored;
}

// Waits until the transaction of that step has ended, should it still be in progress.
Result<bool> PostgresStore::last_step_is_stored(PostgresConnection& connection) const {
  STRIPLINE_ASSIGN_OR_RETURN(
      const std::string step,
      connection.query_text("SELECT step FROM writer WHERE token = " +
                            std::to_string(lease_->token()) + " FOR UPDATE"));
  if (step.empty()) return Error(ErrorCode::aborted, "another server has taken over");
  return step == std::to_string(step_);
}

// The connection was lost between sending a step and hearing that it is stored. Whoever asked must
// learn one or the other.
Status PostgresStore::wait_for_outcome(const Error& lost) {
  const double end_s = steady_seconds() + kDoubt_s;
  while (steady_seconds() < end_s && check_writer().ok()) {
    const auto connection = writer_.get();
    if (connection.ok()) {
      STRIPLINE_ASSIGN_OR_RETURN(const bool stored, last_step_is_stored(**connection));
      in_doubt_ = false;
      return stored ? Status() : lost;
    }
    std::this_thread::sleep_for(kDoubtPause);
  }
  return lost;
}

// A step that was reported as failed and turns out to be stored: what this server has in memory is
// not what is in the database. It must start over.
Status PostgresStore::resolve(PostgresConnection& connection) {
  if (!in_doubt_) return {};
  STRIPLINE_ASSIGN_OR_RETURN(const bool stored, last_step_is_stored(connection));
  in_doubt_ = false;
  if (!stored) return {};
  return Error(ErrorCode::aborted,
               "a step is stored whose answer was lost with the connection; starting over");
}

// Without something to write nothing would be tried.
Status PostgresStore::probe() {
  const std::lock_guard lock(mutex_);
  Status reached = check_writer();
  if (reached.ok()) reached = reach_database();
  if (!reached.ok()) {
    health_.note_step(reached, 0, unix_seconds());
    return reached;
  }
  if (!health_.outage()) return {};
  const Status stored = noting_loss(store_trial());
  health_.note_trial(stored);
  return stored;
}

// That the connection is lost shows when it is used.
Status PostgresStore::reach_database() {
  STRIPLINE_ASSIGN_OR_RETURN(PostgresConnection* const connection, writer_.get());
  const auto answer = connection->query_text("SELECT 1");
  return answer.ok() ? Status() : answer.error();
}

Status PostgresStore::store_trial() {
  STRIPLINE_ASSIGN_OR_RETURN(PostgresConnection* const connection, writer_.get());
  STRIPLINE_RETURN_IF_ERROR(resolve(*connection));
  const auto change = [&](std::string_view sql, const auto&... values) -> Status {
    STRIPLINE_RETURN_IF_ERROR(connection->execute("BEGIN"));
    STRIPLINE_RETURN_IF_ERROR(run(*connection, kBeginStep, lease_->token(), ++step_));
    STRIPLINE_RETURN_IF_ERROR(run(*connection, sql, values...));
    return connection->execute("COMMIT");
  };
  Status stored = change(
      "INSERT INTO meta VALUES ('trial', ?)"
      " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
      trial_text(health_.trial_bytes()));
  if (stored.ok()) stored = change("DELETE FROM meta WHERE key = 'trial'");
  if (!stored.ok()) connection->give_up();
  return stored;
}

Status PostgresStore::read(const Use& use) {
  const auto reader = readers_.take();
  STRIPLINE_ASSIGN_OR_RETURN(PostgresConnection * connection, reader->get());
  Status first = use(*connection);
  if (first.ok() || !connection->broken()) return first;
  // It may have been lost long before.
  STRIPLINE_ASSIGN_OR_RETURN(connection, reader->get());
  return use(*connection);
}

Result<bool> PostgresStore::sweep() {
  const std::lock_guard lock(mutex_);
  STRIPLINE_RETURN_IF_ERROR(check_writer());
  STRIPLINE_ASSIGN_OR_RETURN(PostgresConnection* const connection, writer_.get());
  STRIPLINE_RETURN_IF_ERROR(noting_loss(resolve(*connection)));
  bool swept = false;
  const auto change = [&]() -> Status {
    STRIPLINE_RETURN_IF_ERROR(connection->execute("BEGIN"));
    STRIPLINE_RETURN_IF_ERROR(run(*connection, kBeginStep, lease_->token(), ++step_));
    STRIPLINE_ASSIGN_OR_RETURN(swept, sweep_deleted(*connection));
    return connection->execute("COMMIT");
  };
  if (const Status changed = change(); !changed.ok()) {
    connection->give_up();
    return noting_loss(changed).error();
  }
  if (swept) {
    const std::lock_guard sized(size_mutex_);
    sized_s_ = 0;
  }
  return swept;
}

Result<StoreSize> PostgresStore::size() {
  const std::lock_guard sized(size_mutex_);
  if (sized_s_ != 0 && steady_seconds() - sized_s_ < kSizeAge_s) return size_;
  StoreSize size;
  STRIPLINE_RETURN_IF_ERROR(read([&](SqlDatabase& database) -> Status {
    STRIPLINE_ASSIGN_OR_RETURN(const std::string all,
                               database.query_text("SELECT pg_database_size(current_database())"));
    STRIPLINE_ASSIGN_OR_RETURN(const std::string used, database.query_text(kUsedBytes));
    size.bytes = std::stoull("0" + all);
    size.free_bytes = size.bytes - std::min<uint64_t>(size.bytes, std::stoull("0" + used));
    return {};
  }));
  size_ = size;
  sized_s_ = steady_seconds();
  return size_;
}

class Turn final : public PostgresTurn {
 public:
  explicit Turn(const PostgresOptions& options)
      : url_(options.url),
        lease_(std::make_unique<PostgresLease>(options.url, options.address, options.lease_s)) {}

  Result<std::unique_ptr<Store>> take() override {
    STRIPLINE_ASSIGN_OR_RETURN(const bool taken, lease_->try_to_take());
    if (!taken) return std::unique_ptr<Store>();
    STRIPLINE_ASSIGN_OR_RETURN(const auto connection, PostgresConnection::open(url_));
    STRIPLINE_ASSIGN_OR_RETURN(
        std::string id,
        connection->query_text("SELECT value FROM meta WHERE key = 'installation_id'"));
    STRIPLINE_ASSIGN_OR_RETURN(
        const std::string base,
        connection->query_text("SELECT value FROM meta WHERE key = 'fence_base'"));
    return std::unique_ptr<Store>(std::make_unique<PostgresStore>(
        url_, std::move(lease_), std::move(id), std::stoull("0" + base)));
  }

  std::string writer_address() const override { return lease_ ? lease_->writer_address() : ""; }

 private:
  const std::string url_;
  std::unique_ptr<PostgresLease> lease_;  // until the store has it
};

}  // namespace

Status add_to_postgres(const std::string& url, const Changes& changes) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto connection, PostgresConnection::open(url));
  STRIPLINE_ASSIGN_OR_RETURN(const bool present, has_postgres_tables(*connection));
  if (!present) return Error(ErrorCode::not_found, "no server has used this database yet");
  STRIPLINE_RETURN_IF_ERROR(check_table_version(*connection, std::string(kThisDatabase)));
  STRIPLINE_RETURN_IF_ERROR(connection->execute("BEGIN"));
  STRIPLINE_RETURN_IF_ERROR(write_security(*connection, changes));
  return connection->execute("COMMIT");
}

std::string postgres_missing() { return {}; }

Status check_postgres_url(const std::string& url) {
  const auto shown = printable_postgres_url(url);
  return shown.ok() ? Status() : Status(shown.error());
}

Result<std::unique_ptr<PostgresTurn>> queue_for_postgres(const PostgresOptions& options) {
  STRIPLINE_RETURN_IF_ERROR(check_postgres_url(options.url));
  return std::unique_ptr<PostgresTurn>(std::make_unique<Turn>(options));
}

Result<std::unique_ptr<Store>> open_postgres_store(const std::string& url) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto turn, queue_for_postgres({.url = url}));
  STRIPLINE_ASSIGN_OR_RETURN(auto store, turn->take());
  if (store) return store;
  const std::string address = turn->writer_address();
  return Error(ErrorCode::already_exists, "the database is in use by another stripline-server" +
                                              (address.empty() ? "" : " at " + address) +
                                              "; stop it first");
}

}  // namespace stripline::server
