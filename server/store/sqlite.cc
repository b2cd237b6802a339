#include "server/store/sqlite.h"

namespace stripline::server {
namespace {

// How long a step waits for another program that is writing to the file, such as sqlite3 in an
// administrator's hand.
constexpr int kBusyWaitMs = 2000;

}  // namespace

Error sqlite_error(int code, const std::string& message) {
  const std::string text = "database: " + message;
  if (code == SQLITE_CONSTRAINT_FOREIGNKEY) return {ErrorCode::internal, text};
  switch (code & 0xff) {
    case SQLITE_CONSTRAINT:
      return {ErrorCode::already_exists, text};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {ErrorCode::data_loss, text + "; restore the file from a backup"};
    case SQLITE_FULL:
      return {ErrorCode::resource_exhausted, text + "; free disk space"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorCode::unavailable, text + "; another program is using the file, try again"};
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return {ErrorCode::unavailable, text + "; check the file's folder, rights and disk"};
    default:
      return {ErrorCode::internal, text};
  }
}

void SqliteStatement::check(int code) {
  if (code == SQLITE_OK || failure_ != SQLITE_OK) return;
  failure_ = code;
  failure_message_ = sqlite3_errmsg(database_);
}

void SqliteStatement::reset() {
  sqlite3_reset(statement_.get());
  next_parameter_ = 1;
}

void SqliteStatement::bind_one(std::string_view text) {
  // An empty view may have a null pointer, which SQLite would store as NULL.
  const char* data = text.data() == nullptr ? "" : text.data();
  check(sqlite3_bind_text64(statement_.get(), next_parameter_++, data, text.size(),
                            SQLITE_TRANSIENT, SQLITE_UTF8));
}

void SqliteStatement::bind_one(const SqlBlob& blob) {
  const char* data = blob.bytes.data() == nullptr ? "" : blob.bytes.data();
  check(sqlite3_bind_blob64(statement_.get(), next_parameter_++, data, blob.bytes.size(),
                            SQLITE_TRANSIENT));
}

void SqliteStatement::bind_one(double value) {
  check(sqlite3_bind_double(statement_.get(), next_parameter_++, value));
}

void SqliteStatement::bind_one(const std::optional<double>& value) {
  if (value) return bind_one(*value);
  check(sqlite3_bind_null(statement_.get(), next_parameter_++));
}

void SqliteStatement::bind_integer(int64_t value) {
  check(sqlite3_bind_int64(statement_.get(), next_parameter_++, value));
}

bool SqliteStatement::step() {
  if (failure_ != SQLITE_OK) return false;
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) check(code);
  return false;
}

Status SqliteStatement::run() {
  step();
  Status result = status();
  sqlite3_reset(statement_.get());
  return result;
}

Status SqliteStatement::status() const {
  if (failure_ == SQLITE_OK) return {};
  return sqlite_error(failure_, failure_message_);
}

std::string SqliteStatement::text(int column) const {
  const unsigned char* data = sqlite3_column_text(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return data == nullptr
             ? std::string()
             : std::string(reinterpret_cast<const char*>(data), static_cast<size_t>(size));
}

std::string SqliteStatement::blob(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return data == nullptr ? std::string() : std::string(data, static_cast<size_t>(size));
}

std::optional<double> SqliteStatement::optional_real(int column) const {
  if (sqlite3_column_type(statement_.get(), column) == SQLITE_NULL) return std::nullopt;
  return real(column);
}

Result<SqliteDatabase> SqliteDatabase::open(const std::string& path) {
  sqlite3* raw = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &raw,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
  SqliteDatabase database(raw);
  if (code != SQLITE_OK) {
    return sqlite_error(code, raw == nullptr ? "out of memory" : sqlite3_errmsg(raw))
        .with_context("'" + path + "'");
  }
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_busy_timeout(raw, kBusyWaitMs);
  return database;
}

Status SqliteDatabase::execute(const std::string& sql) {
  const int code = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) return {};
  return sqlite_error(code, sqlite3_errmsg(database_.get()));
}

Result<std::unique_ptr<SqlStatement>> SqliteDatabase::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()),
                                      &statement, nullptr);
  if (code != SQLITE_OK) return sqlite_error(code, sqlite3_errmsg(database_.get()));
  return std::unique_ptr<SqlStatement>(
      std::make_unique<SqliteStatement>(statement, database_.get()));
}

Result<SqliteTransaction> SqliteTransaction::begin(SqliteDatabase& database) {
  STRIPLINE_RETURN_IF_ERROR(database.execute("BEGIN IMMEDIATE"));
  return SqliteTransaction(database);
}

SqliteTransaction::~SqliteTransaction() {
  // A failed rollback means that SQLite has rolled back by itself.
  if (database_ != nullptr) (void)database_->execute("ROLLBACK");
}

Status SqliteTransaction::commit() {
  STRIPLINE_RETURN_IF_ERROR(database_->execute("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace stripline::server
