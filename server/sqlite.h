// SQLite's C interface with owners and Results. Include from .cc files of the store only.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include "base/result.h"

namespace stripline::server {

/// Bytes that are no text.
struct SqliteBlob {
  std::string_view bytes;
};

/// A prepared statement that is being bound, stepped and read. Binding and stepping remember the
/// first failure; status() tells.
class SqliteStatement {
 public:
  explicit SqliteStatement(sqlite3_stmt* statement, sqlite3* database)
      : statement_(statement), database_(database) {}

  /// Binds the parameters in order, from the first.
  template <typename... Values>
  SqliteStatement& bind(const Values&... values) {
    sqlite3_reset(statement_.get());
    next_parameter_ = 1;
    (bind_one(values), ...);
    return *this;
  }

  /// Advances to the next row. False at the end and on failure.
  bool step();

  /// Runs a statement that returns no rows.
  Status run();

  Status status() const;

  // Columns of the current row, counted from 0.
  int64_t integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
  uint64_t unsigned_integer(int column) const { return static_cast<uint64_t>(integer(column)); }
  double real(int column) const { return sqlite3_column_double(statement_.get(), column); }
  /// Nullopt of NULL.
  std::optional<double> optional_real(int column) const;
  std::string text(int column) const;
  /// The bytes of a blob; none of NULL.
  std::string blob(int column) const;

 private:
  void bind_one(std::string_view text);
  void bind_one(const SqliteBlob& blob);
  void bind_one(double value);
  void bind_one(const std::optional<double>& value);
  template <std::integral Integer>
  void bind_one(Integer value) {
    bind_integer(static_cast<int64_t>(value));
  }
  void bind_integer(int64_t value);
  void check(int code);

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  sqlite3* database_;
  int next_parameter_ = 1;
  int failure_ = SQLITE_OK;
  std::string failure_message_;
};

/// An open database file. Not thread-safe.
class SqliteDatabase {
 public:
  /// Opens or creates the file. Errors: unavailable when that is not possible.
  static Result<SqliteDatabase> open(const std::string& path);

  /// Runs statements that return no rows.
  Status execute(const std::string& sql);

  Result<SqliteStatement> prepare(std::string_view sql);

  /// The first column of the first row, as text.
  Result<std::string> query_text(std::string_view sql);

 private:
  explicit SqliteDatabase(sqlite3* database) : database_(database) {}
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
  };
  std::unique_ptr<sqlite3, Close> database_;
};

/// Commits on commit(), rolls back otherwise.
class SqliteTransaction {
 public:
  static Result<SqliteTransaction> begin(SqliteDatabase& database);
  SqliteTransaction(SqliteTransaction&& other) noexcept : database_(other.database_) {
    other.database_ = nullptr;
  }
  SqliteTransaction& operator=(SqliteTransaction&&) = delete;
  ~SqliteTransaction();
  Status commit();

 private:
  explicit SqliteTransaction(SqliteDatabase& database) : database_(&database) {}
  SqliteDatabase* database_;
};

/// The error for an SQLite result code.
Error sqlite_error(int code, const std::string& message);

}  // namespace stripline::server
