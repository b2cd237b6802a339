#include "server/store/postgres_lease.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "server/clock.h"
#include "server/store/postgres_schema.h"

namespace stripline::server {
namespace {

// The lock's number, which pg_locks shows in two halves, is "STLNwrit" in ASCII.
constexpr const char* kTryLock = "SELECT pg_try_advisory_lock(6004508103086860660)";
constexpr const char* kLockHolders =
    "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
    " AND (classid::bigint << 32) + objid::bigint = 6004508103086860660 AND objsubid = 1"
    " AND granted AND pid <> pg_backend_pid()"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
// Steps that are in progress: each has changed the row of the writer.
constexpr const char* kEndSteps =
    "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE relation = 'writer'::regclass"
    " AND mode = 'RowExclusiveLock' AND pid <> pg_backend_pid()";
// How often in a lease it is renewed, and looked at.
constexpr double kRenewals = 5;
constexpr double kLongestPause_s = 2;

}  // namespace

PostgresLease::PostgresLease(std::string url, std::string address, double lease_s)
    : url_(std::move(url)), address_(std::move(address)), lease_s_(lease_s) {}

PostgresLease::~PostgresLease() {
  keeper_ = {};
  if (token_ == 0) return;
  // The next server need not wait to find out that no one is there. The connection may have been
  // lost unnoticed.
  for (int attempt = 0; attempt < 2 && connect().ok(); ++attempt) {
    const Status given = connection_->execute(
        "UPDATE lease SET seen = 'epoch' WHERE token = " + std::to_string(token_) +
        "; SELECT pg_advisory_unlock_all()");
    if (given.ok()) return;
  }
}

Status PostgresLease::connect() {
  if (connection_ && !connection_->broken()) return {};
  connection_.reset();
  locked_ = false;
  STRIPLINE_ASSIGN_OR_RETURN(auto connection, PostgresConnection::open(url_));
  // Tables of before are brought up to date by whoever writes, when no one else does.
  STRIPLINE_ASSIGN_OR_RETURN(const bool present, has_postgres_tables(*connection));
  if (!present) STRIPLINE_RETURN_IF_ERROR(prepare_postgres_tables(*connection));
  connection_ = std::move(connection);
  return {};
}

Result<bool> PostgresLease::lock() {
  if (locked_) return true;
  STRIPLINE_ASSIGN_OR_RETURN(const std::string got, connection_->query_text(kTryLock));
  locked_ = got == "t";
  return locked_;
}

std::string PostgresLease::writer_address() const {
  const std::lock_guard guard(mutex_);
  return writer_address_;
}

// A server that is stopped keeps its connection, and with it the lock.
Status PostgresLease::end_silent_writer() {
  STRIPLINE_ASSIGN_OR_RETURN(
      const std::string silent,
      connection_->query_text("SELECT clock_timestamp() - seen > make_interval(secs => " +
                              std::to_string(lease_s_) + ") FROM lease"));
  if (silent != "t") return {};
  return connection_->execute(kLockHolders);
}

// When the database has just started, all have lost their connections: the one that wrote gets the
// time of its lease to come back.
Result<bool> PostgresLease::may_follow() {
  STRIPLINE_ASSIGN_OR_RETURN(
      const std::string may,
      connection_->query_text("SELECT seen > pg_postmaster_start_time() OR clock_timestamp() -"
                              " seen > make_interval(secs => " +
                              std::to_string(lease_s_) + ") FROM lease"));
  return may == "t";
}

Status PostgresLease::take() {
  STRIPLINE_RETURN_IF_ERROR(connection_->execute(kEndSteps));
  STRIPLINE_RETURN_IF_ERROR(prepare_postgres_tables(*connection_));
  STRIPLINE_RETURN_IF_ERROR(connection_->execute("BEGIN"));
  const auto change = [&]() -> Status {
    STRIPLINE_ASSIGN_OR_RETURN(
        const std::string token,
        connection_->query_text("UPDATE writer SET token = token + 1, step = 0 RETURNING token"));
    STRIPLINE_ASSIGN_OR_RETURN(
        const auto update,
        connection_->prepare("UPDATE lease SET token = ?, address = ?, seen = clock_timestamp()"));
    token_ = std::stoll("0" + token);
    return update->bind(token_, address_).run();
  };
  Status changed = change();
  if (changed.ok()) changed = connection_->execute("COMMIT");
  if (changed.ok()) return {};
  token_ = 0;
  connection_.reset();
  return changed;
}

Result<bool> PostgresLease::try_to_take() {
  const std::lock_guard guard(mutex_);
  STRIPLINE_RETURN_IF_ERROR(connect());
  STRIPLINE_ASSIGN_OR_RETURN(writer_address_, connection_->query_text("SELECT address FROM lease"));
  STRIPLINE_ASSIGN_OR_RETURN(const bool may, may_follow());
  if (!may) return false;
  STRIPLINE_ASSIGN_OR_RETURN(const bool locked, lock());
  if (!locked) {
    STRIPLINE_RETURN_IF_ERROR(end_silent_writer());
    return false;
  }
  STRIPLINE_RETURN_IF_ERROR(take());
  writer_address_ = address_;
  return true;
}

void PostgresLease::keep(std::function<void(const Error&)> lost) {
  lost_ = std::move(lost);
  keeper_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

// False: it is another server's.
Result<bool> PostgresLease::renew() {
  const std::lock_guard guard(mutex_);
  STRIPLINE_RETURN_IF_ERROR(connect());
  // Where the connection was lost, another server may have the lock, which then takes the token.
  STRIPLINE_ASSIGN_OR_RETURN([[maybe_unused]] const bool locked, lock());
  STRIPLINE_ASSIGN_OR_RETURN(
      const std::string token,
      connection_->query_text("UPDATE lease SET seen = clock_timestamp() WHERE token = " +
                              std::to_string(token_) + " RETURNING token"));
  return !token.empty();
}

void PostgresLease::run(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  double renewed_s = steady_seconds();
  const auto pause = std::chrono::duration<double>(std::min(lease_s_ / kRenewals, kLongestPause_s));
  while (!stopped.wait_for(lock, stop, pause, [] { return false; }) && !stop.stop_requested()) {
    Result<bool> renewed = renew();
    // A connection that broke while this server was stopped says nothing of who writes now.
    if (!renewed.ok()) renewed = renew();
    if (renewed.ok() && *renewed) {
      renewed_s = steady_seconds();
    } else if (renewed.ok()) {
      lost_(Error(ErrorCode::aborted, "another server has taken over"));
      return;
    } else if (steady_seconds() - renewed_s > lease_s_) {
      lost_(renewed.error());
      return;
    }
  }
}

}  // namespace stripline::server
