// SQLite's C interface with owners and Results. Include from .cc files of the store only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include "base/result.h"
#include "server/store/sql.h"

namespace stripline::server {

class SqliteStatement final : public SqlStatement {
 public:
  SqliteStatement(sqlite3_stmt* statement, sqlite3* database)
      : statement_(statement), database_(database) {}

  bool step() override;
  Status run() override;
  Status status() const override;
  int64_t integer(int column) const override {
    return sqlite3_column_int64(statement_.get(), column);
  }
  double real(int column) const override { return sqlite3_column_double(statement_.get(), column); }
  std::optional<double> optional_real(int column) const override;
  std::string text(int column) const override;
  std::string blob(int column) const override;

 private:
  void reset() override;
  void bind_one(std::string_view text) override;
  void bind_one(const SqlBlob& blob) override;
  void bind_one(double value) override;
  void bind_one(const std::optional<double>& value) override;
  void bind_integer(int64_t value) override;
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

/// An open database file.
class SqliteDatabase final : public SqlDatabase {
 public:
  /// Opens or creates the file. Errors: unavailable when that is not possible.
  static Result<SqliteDatabase> open(const std::string& path);

  Status execute(const std::string& sql) override;
  Result<std::unique_ptr<SqlStatement>> prepare(std::string_view sql) override;

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
