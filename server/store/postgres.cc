#include "server/store/postgres.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <poll.h>
#include <utility>

namespace stripline::server {
namespace {

// Types by their numbers in PostgreSQL's catalogue, which never change.
constexpr Oid kBytea = 17;
constexpr Oid kInt8 = 20;
constexpr Oid kText = 25;
constexpr Oid kFloat8 = 701;

// What the URL does not say. A host that has vanished is noticed within half a minute.
constexpr std::array<std::string_view, 6> kDefaults = {
    "connect_timeout=5",  "keepalives_idle=5",      "keepalives_interval=5",
    "keepalives_count=3", "tcp_user_timeout=15000", "fallback_application_name=stripline-server"};
constexpr const char* kLongestOpenTransaction = "15s";

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// libpq's messages have lines and indentation.
std::string trimmed(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool space = c == '\n' || c == '\t' || c == ' ';
    if (space && (line.empty() || line.back() == ' ')) continue;
    line += space ? ' ' : c;
  }
  if (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

// Bytes of the UTF-8 sequence at the beginning; 0: there is none.
size_t sequence_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first != 0 && first < 0x80) return 1;
  const size_t length = first >= 0xf0 && first <= 0xf4 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what is beyond Unicode.
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) >= 0xa0) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) >= 0x90) return 0;
  return length;
}

// "?" and "?N" as PostgreSQL writes them.
std::string with_dollars(std::string_view sql) {
  std::string result;
  int next = 1;
  for (size_t i = 0; i < sql.size(); ++i) {
    if (sql[i] != '?') {
      result += sql[i];
      continue;
    }
    result += '$';
    const bool numbered = i + 1 < sql.size() && sql[i + 1] >= '0' && sql[i + 1] <= '9';
    if (!numbered) result += std::to_string(next++);
  }
  return result;
}

template <typename Number>
std::string digits(Number number) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), end.ptr};
}

// Parameters as libpq takes them.
struct Arrays {
  explicit Arrays(const std::vector<PostgresParameter>& parameters) {
    for (const PostgresParameter& parameter : parameters) {
      types.push_back(parameter.type);
      values.push_back(parameter.null ? nullptr : parameter.value.c_str());
      lengths.push_back(static_cast<int>(parameter.value.size()));
      formats.push_back(parameter.binary ? 1 : 0);
    }
  }
  int size() const { return static_cast<int>(values.size()); }

  std::vector<Oid> types;
  std::vector<const char*> values;
  std::vector<int> lengths;
  std::vector<int> formats;
};

Error failure(const PGresult* result) {
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  return postgres_error(state == nullptr ? "" : state,
                        message == nullptr ? trimmed(PQresultErrorMessage(result)) : message);
}

bool failed(const PGresult* result) {
  const ExecStatusType status = PQresultStatus(result);
  return status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK;
}

}  // namespace

Error postgres_error(std::string_view sqlstate, const std::string& message) {
  const std::string text = "database: " + message;
  const std::string_view kind = sqlstate.substr(0, 2);
  if (sqlstate == "23505") return {ErrorCode::already_exists, text};
  if (sqlstate == "53100") return {ErrorCode::resource_exhausted, text + "; free disk space there"};
  if (kind == "XX" && sqlstate != "XX000") {
    return {ErrorCode::data_loss, text + "; restore the database from a backup"};
  }
  if (sqlstate == kPostgresTakenOver) return {ErrorCode::aborted, text};
  // Connections, resources, operators' orders, locks and deadlocks, a server that only reads.
  if (sqlstate.empty() || kind == "08" || kind == "28" || kind == "3D" || kind == "53" ||
      kind == "57" || kind == "58" || kind == "55" || kind == "40" || sqlstate == "25006" ||
      sqlstate == "42501") {
    return {ErrorCode::unavailable, text};
  }
  return {ErrorCode::internal, text};
}

std::string postgres_text(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const size_t length = sequence_length(text);
    result += length == 0 ? kReplacement : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

Result<std::string> printable_postgres_url(const std::string& url) {
  char* message = nullptr;
  const std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> options(
      PQconninfoParse(url.c_str(), &message), PQconninfoFree);
  if (!options) {
    // The message may repeat what was given, a password included.
    PQfreemem(message);
    return Error(ErrorCode::invalid_argument,
                 "it is no URL of PostgreSQL; write postgresql://USER@HOST/DATABASE");
  }
  std::map<std::string, std::string> said;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) said[option->keyword] = option->val;
  }
  if (!said["password"].empty()) {
    return Error(ErrorCode::invalid_argument,
                 "keep the password out of the URL, which settings and the list of processes show: "
                 "put it into ~/.pgpass, the file that PGPASSFILE names, or a service file");
  }
  const std::string user = said["user"].empty() ? "" : said["user"] + "@";
  const std::string port = said["port"].empty() ? "" : ":" + said["port"];
  const std::string service = said["service"].empty() ? "" : "?service=" + said["service"];
  return "postgresql://" + user + said["host"] + port + "/" + said["dbname"] + service;
}

class PostgresStatement final : public SqlStatement {
 public:
  PostgresStatement(PostgresConnection& connection, std::string sql)
      : connection_(connection), sql_(std::move(sql)) {}

  bool step() override {
    if (!rows_ && status_.ok()) {
      auto answer = connection_.ask(sql_, parameters_);
      if (!answer.ok()) {
        status_ = answer.error();
        return false;
      }
      rows_ = std::move(*answer);
    }
    return status_.ok() && ++row_ < PQntuples(rows_.get());
  }

  Status run() override {
    if (connection_.gathering_) return connection_.gather(sql_, parameters_);
    step();
    return status_;
  }

  Status status() const override { return status_; }

  int64_t integer(int column) const override {
    const std::string_view text = field(column);
    if (text == "t") return 1;
    int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  }
  double real(int column) const override {
    const std::string_view text = field(column);
    double number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  }
  std::optional<double> optional_real(int column) const override {
    if (PQgetisnull(rows_.get(), row_, column) != 0) return std::nullopt;
    return real(column);
  }
  std::string text(int column) const override { return std::string(field(column)); }
  std::string blob(int column) const override {
    if (PQgetisnull(rows_.get(), row_, column) != 0) return {};
    size_t length = 0;
    const std::unique_ptr<unsigned char, decltype(&PQfreemem)> bytes(
        PQunescapeBytea(
            reinterpret_cast<const unsigned char*>(PQgetvalue(rows_.get(), row_, column)), &length),
        PQfreemem);
    return bytes ? std::string(reinterpret_cast<const char*>(bytes.get()), length) : std::string();
  }

 private:
  std::string_view field(int column) const {
    return {PQgetvalue(rows_.get(), row_, column),
            static_cast<size_t>(PQgetlength(rows_.get(), row_, column))};
  }
  void reset() override {
    parameters_.clear();
    rows_.reset();
    row_ = -1;
    status_ = {};
  }
  void bind_one(std::string_view text) override {
    parameters_.push_back({kText, postgres_text(text), false});
  }
  void bind_one(const SqlBlob& blob) override {
    parameters_.push_back({kBytea, std::string(blob.bytes), true});
  }
  void bind_one(double value) override { parameters_.push_back({kFloat8, digits(value), false}); }
  void bind_one(const std::optional<double>& value) override {
    if (value) return bind_one(*value);
    parameters_.push_back({kFloat8, "", false, true});
  }
  void bind_integer(int64_t value) override {
    parameters_.push_back({kInt8, digits(value), false});
  }

  PostgresConnection& connection_;
  const std::string sql_;
  std::vector<PostgresParameter> parameters_;
  PostgresConnection::Answer rows_;
  int row_ = -1;
  Status status_;
};

Result<std::unique_ptr<PostgresConnection>> PostgresConnection::open(const std::string& url) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string shown, printable_postgres_url(url));
  std::vector<std::string> names;
  std::vector<std::string> values;
  for (const std::string_view setting : kDefaults) {
    names.emplace_back(setting.substr(0, setting.find('=')));
    values.emplace_back(setting.substr(setting.find('=') + 1));
  }
  // What the URL says comes after the defaults, and before what must be so.
  names.insert(names.end(), {"dbname", "client_encoding"});
  values.insert(values.end(), {url, "UTF8"});
  std::vector<const char*> keywords;
  std::vector<const char*> texts;
  for (size_t i = 0; i < names.size(); ++i) {
    keywords.push_back(names[i].c_str());
    texts.push_back(values[i].c_str());
  }
  keywords.push_back(nullptr);
  texts.push_back(nullptr);
  std::unique_ptr<PostgresConnection> connection(
      new PostgresConnection(PQconnectdbParams(keywords.data(), texts.data(), 1)));
  PGconn* raw = connection->connection_.get();
  if (raw == nullptr || PQstatus(raw) != CONNECTION_OK) {
    return Error(ErrorCode::unavailable,
                 "cannot reach the database " + shown + ": " +
                     (raw == nullptr ? "out of memory" : trimmed(PQerrorMessage(raw))));
  }
  PQsetnonblocking(raw, 1);
  // Notices are for people at a terminal.
  PQsetNoticeProcessor(
      raw, [](void* /*unused*/, const char* /*message*/) {}, nullptr);
  STRIPLINE_RETURN_IF_ERROR(connection->prepare_session());
  return connection;
}

Status PostgresConnection::prepare_session() {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string encoding, query_text("SHOW server_encoding"));
  if (encoding != "UTF8") {
    return Error(ErrorCode::failed_precondition,
                 "the database has the encoding " + encoding +
                     "; make one with 'createdb --encoding UTF8 --template template0'");
  }
  STRIPLINE_RETURN_IF_ERROR(
      execute("SELECT set_config('synchronous_commit', 'on', false)"
              " WHERE current_setting('synchronous_commit') IN ('off', 'local')"));
  // Transactions that a stopped server left open keep its successor from writing.
  return execute("SET idle_in_transaction_session_timeout = '" +
                 std::string(kLongestOpenTransaction) + "'; SET search_path = stripline");
}

Error PostgresConnection::lost(const std::string& what) {
  broken_ = true;
  gathering_ = false;
  return postgres_error("", what);
}

// Sends what is to be sent, and reads, until an answer is there.
Status PostgresConnection::await() {
  PGconn* raw = connection_.get();
  while (true) {
    const int unsent = PQflush(raw);
    if (unsent < 0) return lost(trimmed(PQerrorMessage(raw)));
    if (unsent == 0 && PQisBusy(raw) == 0) return {};
    pollfd wait{PQsocket(raw), static_cast<short>(POLLIN | (unsent > 0 ? POLLOUT : 0)), 0};
    const int ready =
        ::poll(&wait, 1, static_cast<int>(std::chrono::milliseconds(kPostgresPatience).count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      return lost("no answer for " + std::to_string(kPostgresPatience.count()) + " s");
    }
    if ((wait.revents & ~POLLOUT) != 0 && PQconsumeInput(raw) == 0) {
      return lost(trimmed(PQerrorMessage(raw)));
    }
  }
}

// The next answer; null at the end of those of one statement.
Result<PostgresConnection::Answer> PostgresConnection::next() {
  STRIPLINE_RETURN_IF_ERROR(await());
  Answer answer(PQgetResult(connection_.get()));
  if (PQstatus(connection_.get()) == CONNECTION_BAD) {
    return lost(trimmed(PQerrorMessage(connection_.get())));
  }
  return answer;
}

Result<PostgresConnection::Answer> PostgresConnection::ask(
    const std::string& sql, const std::vector<PostgresParameter>& parameters) {
  if (broken_) return lost("the connection is lost");
  const Arrays given(parameters);
  if (PQsendQueryParams(connection_.get(), sql.c_str(), given.size(), given.types.data(),
                        given.values.data(), given.lengths.data(), given.formats.data(), 0) == 0) {
    return lost(trimmed(PQerrorMessage(connection_.get())));
  }
  Answer last;
  while (true) {
    STRIPLINE_ASSIGN_OR_RETURN(Answer answer, next());
    if (!answer) break;
    if (!last || !failed(last.get())) last = std::move(answer);
  }
  if (!last) return lost("no answer");
  if (failed(last.get())) return failure(last.get());
  return last;
}

// Without parameters, so that it may be several statements.
Status PostgresConnection::execute(const std::string& sql) {
  if (broken_) return lost("the connection is lost");
  if (PQsendQuery(connection_.get(), sql.c_str()) == 0) {
    return lost(trimmed(PQerrorMessage(connection_.get())));
  }
  Status status;
  while (true) {
    STRIPLINE_ASSIGN_OR_RETURN(const Answer answer, next());
    if (!answer) return status;
    if (status.ok() && failed(answer.get())) status = failure(answer.get());
  }
}

Result<std::unique_ptr<SqlStatement>> PostgresConnection::prepare(std::string_view sql) {
  return std::unique_ptr<SqlStatement>(
      std::make_unique<PostgresStatement>(*this, with_dollars(sql)));
}

Status PostgresConnection::begin_gathering() {
  if (broken_) return lost("the connection is lost");
  if (PQenterPipelineMode(connection_.get()) == 0) {
    return lost(trimmed(PQerrorMessage(connection_.get())));
  }
  gathering_ = true;
  return {};
}

Status PostgresConnection::gather(const std::string& sql,
                                  const std::vector<PostgresParameter>& parameters) {
  PGconn* raw = connection_.get();
  const Arrays given(parameters);
  auto known = names_.find(sql);
  if (known == names_.end()) {
    const std::string name = "s" + std::to_string(names_.size());
    if (PQsendPrepare(raw, name.c_str(), sql.c_str(), given.size(), given.types.data()) == 0) {
      return lost(trimmed(PQerrorMessage(raw)));
    }
    known = names_.emplace(sql, name).first;
  }
  if (PQsendQueryPrepared(raw, known->second.c_str(), given.size(), given.values.data(),
                          given.lengths.data(), given.formats.data(), 0) == 0) {
    return lost(trimmed(PQerrorMessage(raw)));
  }
  return {};
}

Status PostgresConnection::finish_gathering(bool& in_doubt) {
  in_doubt = false;
  PGconn* raw = connection_.get();
  if (PQpipelineSync(raw) == 0) return lost(trimmed(PQerrorMessage(raw)));
  Status status;
  while (true) {
    Result<Answer> answer = next();
    if (!answer.ok()) {
      in_doubt = status.ok();
      return status.ok() ? answer.error() : status;
    }
    if (!*answer) continue;
    const ExecStatusType kind = PQresultStatus(answer->get());
    if (kind == PGRES_PIPELINE_SYNC) break;
    if (status.ok() && kind != PGRES_PIPELINE_ABORTED && failed(answer->get())) {
      status = failure(answer->get());
    }
  }
  gathering_ = false;
  if (PQexitPipelineMode(raw) == 0) return lost(trimmed(PQerrorMessage(raw)));
  if (!status.ok()) {
    // Some may not have been prepared.
    names_.clear();
    const Status reset = execute("ROLLBACK; DEALLOCATE ALL");
    if (!reset.ok()) broken_ = true;
  }
  return status;
}

}  // namespace stripline::server
