// The one of several servers that writes to a PostgreSQL database. Two things decide. A lock that
// belongs to a connection is free as soon as its server dies; it only decides who may try. The
// token is what keeps a server out that has been replaced: each step names it, in its transaction
// (postgres_schema.cc), and each server that takes over gets a larger one. A server that lives but
// gives no sign of life for the length of its lease, because it was stopped or cannot reach the
// database, loses both to the next.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "base/result.h"
#include "server/store/postgres.h"

namespace stripline::server {

/// Thread-safe.
class PostgresLease {
 public:
  /// `address`: where clients find this server.
  PostgresLease(std::string url, std::string address, double lease_s);
  PostgresLease(const PostgresLease&) = delete;
  PostgresLease& operator=(const PostgresLease&) = delete;
  /// Gives it back, so that another server takes over at once.
  ~PostgresLease();

  /// True if this server is now the one that writes; false while another one is. To be called again
  /// until then. Errors: those of PostgresConnection and of prepare_postgres_tables().
  Result<bool> try_to_take();

  /// Where the one that writes is, as far as is known; empty: unknown.
  std::string writer_address() const;

  /// This server's term, once it has taken the lease.
  int64_t token() const { return token_; }

  /// Renews the lease, on a thread of its own, from now on. `lost` is called on it, once, when this
  /// server must not write any more.
  void keep(std::function<void(const Error&)> lost);

 private:
  Status connect();
  Result<bool> lock();
  Status end_silent_writer();
  Result<bool> may_follow();
  Status take();
  void run(const std::stop_token& stop);
  Result<bool> renew();

  const std::string url_;
  const std::string address_;
  const double lease_s_;
  mutable std::mutex mutex_;
  std::unique_ptr<PostgresConnection> connection_;
  bool locked_ = false;  // by this connection
  int64_t token_ = 0;
  std::string writer_address_;
  std::function<void(const Error&)> lost_;
  std::jthread keeper_;
};

}  // namespace stripline::server
