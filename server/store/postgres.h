// PostgreSQL's C interface, libpq, with owners, Results and deadlines: no call waits for an answer
// for longer than kPostgresPatience. Include from .cc files of the store only.
#pragma once

#include <chrono>
#include <cstdint>
#include <libpq-fe.h>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/store/sql.h"

namespace stripline::server {

/// A connection over which nothing comes for this long while an answer is due is given up.
inline constexpr std::chrono::seconds kPostgresPatience{10};

/// The SQLSTATE of a step of a server that is not the one that may write any more.
inline constexpr std::string_view kPostgresTakenOver = "SL001";

/// The error for an SQLSTATE; an empty one means that the connection is lost.
Error postgres_error(std::string_view sqlstate, const std::string& message);

/// What PostgreSQL takes for text: UTF-8 without NUL. Other bytes are replaced by U+FFFD.
std::string postgres_text(std::string_view text);

/// Where the URL points to, for people. Errors: invalid_argument for one that libpq does not
/// understand, or that holds a password: it would be seen.
Result<std::string> printable_postgres_url(const std::string& url);

struct PostgresParameter {
  Oid type = 0;
  std::string value;
  bool binary = false;
  bool null = false;
};

class PostgresConnection final : public SqlDatabase {
 public:
  /// Connects, to a database in UTF-8. Commits are synced, whatever the database's default is; a
  /// transaction that is left open ends soon. Errors: unavailable when it cannot be reached or lets
  /// no one in; failed_precondition for another encoding; invalid_argument for a wrong URL.
  static Result<std::unique_ptr<PostgresConnection>> open(const std::string& url);

  Status execute(const std::string& sql) override;
  Result<std::unique_ptr<SqlStatement>> prepare(std::string_view sql) override;

  /// From now on run() sends statements without waiting for what becomes of them, so that a
  /// transaction takes the time of one answer.
  Status begin_gathering();
  /// Waits for all of them. The error is that of the first that failed; those after it have not
  /// been carried out. `in_doubt`: the connection was lost before the last one was answered.
  Status finish_gathering(bool& in_doubt);

  /// Nothing more will come of it, or is to come.
  bool broken() const { return broken_; }
  void give_up() { broken_ = true; }

 private:
  friend class PostgresStatement;
  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
  };
  using Answer = std::unique_ptr<PGresult, Clear>;

  explicit PostgresConnection(PGconn* connection) : connection_(connection) {}
  Status prepare_session();
  Status set(const std::string& name, const std::string& value);
  Result<Answer> ask(const std::string& sql, const std::vector<PostgresParameter>& parameters);
  Status gather(const std::string& sql, const std::vector<PostgresParameter>& parameters);
  Result<Answer> next();
  Status await();
  Error lost(const std::string& what);

  std::unique_ptr<PGconn, Finish> connection_;
  bool gathering_ = false;
  bool broken_ = false;
  std::map<std::string, std::string, std::less<>> names_;  // of statements the server knows, by SQL
};

}  // namespace stripline::server
