#include "server/store/postgres_copy.h"

#include <system_error>

#include "server/store/backup.h"
#include "server/store/backup_keys.h"
#include "server/store/postgres.h"
#include "server/store/postgres_schema.h"
#include "server/store/postgres_store.h"
#include "server/store/schema.h"
#include "server/store/sql_copy.h"
#include "server/store/sqlite.h"
#include "server/store/sqlite_schema.h"

namespace stripline::server {
namespace {

// Rows that are in memory at a time.
constexpr const char* kFetch = "FETCH 200 FROM rows_to_copy";

Status for_each_row(SqlDatabase& database, const std::string& sql,
                    const std::function<Status(const SqlStatement&)>& row) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto statement, database.prepare(sql));
  while (statement->step()) STRIPLINE_RETURN_IF_ERROR(row(*statement));
  return statement->status();
}

Status for_each_row_by_cursor(PostgresConnection& connection, const std::string& sql,
                              const std::function<Status(const SqlStatement&)>& row) {
  STRIPLINE_RETURN_IF_ERROR(connection.execute("DECLARE rows_to_copy NO SCROLL CURSOR FOR " + sql));
  bool more = true;
  while (more) {
    more = false;
    STRIPLINE_RETURN_IF_ERROR(for_each_row(connection, kFetch, [&](const SqlStatement& one) {
      more = true;
      return row(one);
    }));
  }
  return connection.execute("CLOSE rows_to_copy");
}

Status copy_to_file(PostgresConnection& connection, const std::filesystem::path& part) {
  STRIPLINE_ASSIGN_OR_RETURN(SqliteDatabase copy, open_store_database(part));
  STRIPLINE_RETURN_IF_ERROR(
      connection.execute("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"));
  STRIPLINE_ASSIGN_OR_RETURN(SqliteTransaction transaction, SqliteTransaction::begin(copy));
  const ForEachRow from = [&](const std::string& sql, const auto& row) {
    return for_each_row_by_cursor(connection, sql, row);
  };
  STRIPLINE_RETURN_IF_ERROR(copy_rows(copy, from, copy));
  STRIPLINE_RETURN_IF_ERROR(copy.execute("INSERT INTO meta VALUES ('is_backup', '1')"));
  STRIPLINE_RETURN_IF_ERROR(transaction.commit());
  STRIPLINE_ASSIGN_OR_RETURN(const std::string check, copy.query_text("PRAGMA integrity_check(1)"));
  if (check != "ok") return Error(ErrorCode::data_loss, "the copy is damaged: " + check);
  return connection.execute("COMMIT");
}

// Numbers that the database gives out itself go on after those that are there; fences as after any
// backup (Store::fence_base()).
Status go_on_after(PostgresConnection& connection) {
  std::string sql;
  for (const auto& [table, column] :
       {std::pair("batches", "id"), std::pair("events", "cursor"), std::pair("audit", "id"),
        std::pair("model_feedback", "id")}) {
    const std::string name = table;
    sql += "SELECT setval(pg_get_serial_sequence('" + name + "', '" + column + "'), max(" + column +
           ")) FROM " + name + " HAVING max(" + column + ") IS NOT NULL;";
  }
  return connection.execute(
      sql + "UPDATE meta SET value = value::bigint + 4294967296 WHERE key = 'fence_base'");
}

}  // namespace

Status back_up_postgres(const std::string& url, const std::filesystem::path& target,
                        const std::filesystem::path& keys_of) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto connection, PostgresConnection::open(url));
  STRIPLINE_ASSIGN_OR_RETURN(const bool present, has_postgres_tables(*connection));
  if (!present) return Error(ErrorCode::not_found, "no server has used this database yet");
  STRIPLINE_RETURN_IF_ERROR(check_table_version(*connection, std::string(kThisDatabase)));
  return make_copy(target, [&](const auto& part) -> Status {
    STRIPLINE_RETURN_IF_ERROR(copy_to_file(*connection, part));
    if (keys_of.empty()) return {};
    STRIPLINE_ASSIGN_OR_RETURN(SqliteDatabase copy, SqliteDatabase::open(part.string()));
    return add_keys(copy, keys_of);
  });
}

Result<bool> restore_into_postgres(const std::filesystem::path& file, const std::string& url,
                                   const std::filesystem::path& data_dir) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    return Error(ErrorCode::not_found, "there is no file '" + file.string() + "'");
  }
  STRIPLINE_ASSIGN_OR_RETURN(SqliteDatabase source, SqliteDatabase::open(file.string()));
  STRIPLINE_RETURN_IF_ERROR(check_table_version(source, "'" + file.string() + "'"));
  // As long as it is there no server begins.
  STRIPLINE_ASSIGN_OR_RETURN(const auto store, open_postgres_store(url));
  STRIPLINE_ASSIGN_OR_RETURN(const auto connection, PostgresConnection::open(url));
  STRIPLINE_ASSIGN_OR_RETURN(
      const std::string rows,
      connection->query_text(
          "SELECT (SELECT count(*) FROM campaigns) + (SELECT count(*) FROM nodes)"
          " + (SELECT count(*) FROM tokens) + (SELECT count(*) FROM audit)"));
  if (rows != "0") {
    return Error(ErrorCode::already_exists,
                 "the database holds something already; restore into an empty one");
  }
  STRIPLINE_RETURN_IF_ERROR(connection->execute("BEGIN"));
  const ForEachRow from = [&](const std::string& sql, const auto& row) {
    return for_each_row(source, sql, row);
  };
  STRIPLINE_RETURN_IF_ERROR(copy_rows(source, from, *connection));
  STRIPLINE_RETURN_IF_ERROR(go_on_after(*connection));
  STRIPLINE_ASSIGN_OR_RETURN(const bool with_keys, take_out_keys(source, data_dir));
  STRIPLINE_RETURN_IF_ERROR(connection->execute("COMMIT"));
  return with_keys;
}

}  // namespace stripline::server
