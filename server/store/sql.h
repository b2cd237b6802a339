// What the tables need of a database that speaks SQL: statements are written once, for SQLite and
// PostgreSQL alike. Include from .cc files of the store only.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "base/result.h"

namespace stripline::server {

/// Bytes that are no text.
struct SqlBlob {
  std::string_view bytes;
};

/// A prepared statement that is being bound, stepped and read. Binding and stepping remember the
/// first failure; status() tells. Parameters are written `?`, or `?N` to use one more than once.
class SqlStatement {
 public:
  virtual ~SqlStatement() = default;

  /// Binds the parameters in order, from the first.
  template <typename... Values>
  SqlStatement& bind(const Values&... values) {
    reset();
    (bind_one(values), ...);
    return *this;
  }

  /// Binds one more, after those of bind().
  template <typename Value>
  void bind_next(const Value& value) {
    bind_one(value);
  }

  /// Advances to the next row. False at the end and on failure.
  virtual bool step() = 0;

  /// Runs a statement that returns no rows. Where a transaction gathers statements before it sends
  /// them, its commit tells whether they succeeded.
  virtual Status run() = 0;

  virtual Status status() const = 0;

  // Columns of the current row, counted from 0.
  virtual int64_t integer(int column) const = 0;
  uint64_t unsigned_integer(int column) const { return static_cast<uint64_t>(integer(column)); }
  virtual double real(int column) const = 0;
  /// Nullopt of NULL.
  virtual std::optional<double> optional_real(int column) const = 0;
  virtual std::string text(int column) const = 0;
  /// The bytes of a blob; none of NULL.
  virtual std::string blob(int column) const = 0;

  /// Reads the columns of the current row in order, from the first, as bind() binds parameters;
  /// std::ignore stands for one that is left out.
  template <typename... Values>
  void read(Values&... values) const {
    int column = 0;
    (read_one(column++, values), ...);
  }

 protected:
  /// Forgets what is bound, and the rows.
  virtual void reset() = 0;
  virtual void bind_one(std::string_view text) = 0;
  virtual void bind_one(const SqlBlob& blob) = 0;
  virtual void bind_one(double value) = 0;
  virtual void bind_one(const std::optional<double>& value) = 0;
  virtual void bind_integer(int64_t value) = 0;

 private:
  template <std::integral Integer>
  void bind_one(Integer value) {
    bind_integer(static_cast<int64_t>(value));
  }

  void read_one(int column, std::string& value) const { value = text(column); }
  void read_one(int column, double& value) const { value = real(column); }
  void read_one(int column, bool& value) const { value = integer(column) != 0; }
  template <std::integral Integer>
  void read_one(int column, Integer& value) const {
    value = static_cast<Integer>(integer(column));
  }
  void read_one(int /*column*/, const decltype(std::ignore)& /*value*/) const {}
};

/// A connection to a database. Not thread-safe.
class SqlDatabase {
 public:
  virtual ~SqlDatabase() = default;

  /// Runs statements that return no rows.
  virtual Status execute(const std::string& sql) = 0;

  virtual Result<std::unique_ptr<SqlStatement>> prepare(std::string_view sql) = 0;

  /// The first column of the first row, as text; empty where there is none.
  Result<std::string> query_text(std::string_view sql);
};

/// Binds and runs one prepared statement for each record of a list.
template <typename Records, typename Bind>
Status write_all(SqlDatabase& database, const Records& records, std::string_view sql, Bind bind) {
  if (records.empty()) return {};
  STRIPLINE_ASSIGN_OR_RETURN(const auto statement, database.prepare(sql));
  for (const auto& record : records) {
    bind(*statement, record);
    STRIPLINE_RETURN_IF_ERROR(statement->run());
  }
  return {};
}

}  // namespace stripline::server
