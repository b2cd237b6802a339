// The store in a PostgreSQL database, of which one server at a time is the writer.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "server/store/store.h"

namespace stripline::server {

/// Why this build has no such store; empty: it has.
std::string postgres_missing();

/// Errors: invalid_argument for a URL that libpq does not understand or that holds a password,
/// which would be seen; unimplemented where postgres_missing().
Status check_postgres_url(const std::string& url);

struct PostgresOptions {
  std::string url;      ///< "postgresql://..."
  std::string address;  ///< Where clients find this server.
  double lease_s = 15;  ///< A server that gives no sign of life for this long is replaced.
};

/// A server's place in the queue of those that want to write to a database.
class PostgresTurn {
 public:
  virtual ~PostgresTurn() = default;
  /// The store, once it is this server's turn; nullptr while another server writes. To be called
  /// again until then. Errors: unavailable while the database cannot be reached;
  /// failed_precondition for one that is not ours, or is of a newer version, or has another
  /// encoding than UTF-8.
  virtual Result<std::unique_ptr<Store>> take() = 0;
  /// Where the server is that writes, as far as is known; empty: unknown.
  virtual std::string writer_address() const = 0;
};

/// Errors: those of check_postgres_url().
Result<std::unique_ptr<PostgresTurn>> queue_for_postgres(const PostgresOptions& options);

/// Adds tokens and what the audit trail says of them, beside the server that writes. Errors:
/// failed_precondition for tables of another version; those of the database.
Status add_to_postgres(const std::string& url, const Changes& changes);

/// The store, where no other server writes. Errors: also already_exists where one does, naming it.
Result<std::unique_ptr<Store>> open_postgres_store(const std::string& url);

}  // namespace stripline::server
