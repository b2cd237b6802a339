#include "server/store/sql_operations.h"

namespace stripline::server {

const std::string_view kOperationColumns =
    "SELECT number, kind, subject, request, state, message, result, actor, request_id,"
    " request_sha256, created, updated, failures FROM operations";

Status write_operations(SqlDatabase& database, const std::vector<OperationRecord>& records) {
  STRIPLINE_RETURN_IF_ERROR(write_all(database, records, R"sql(
      INSERT INTO operations (number, kind, subject, request, state, message, result, actor,
                              request_id, request_sha256, created, updated, failures)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (number) DO UPDATE SET
        state = excluded.state, message = excluded.message, result = excluded.result,
        updated = excluded.updated, failures = excluded.failures)sql",
                                      [](SqlStatement& s, const OperationRecord& r) {
                                        s.bind(r.number, r.kind, r.subject, r.order,
                                               to_string(r.state), r.message, r.result, r.actor,
                                               r.request_id, r.request_sha256, r.created_unix_s,
                                               r.updated_unix_s, r.failures);
                                      }));
  return write_all(database, records, "DELETE FROM operations WHERE number <= ?1 AND state <> ?2",
                   [](SqlStatement& s, const OperationRecord& r) {
                     s.bind(r.number - kMaxOperations, to_string(OperationState::running));
                   });
}

Result<OperationRecord> read_operation(SqlStatement& row) {
  OperationRecord r;
  row.read(r.number, r.kind, r.subject, r.order, std::ignore, r.message, r.result, r.actor,
           r.request_id, r.request_sha256, r.created_unix_s, r.updated_unix_s, r.failures);
  const auto state = operation_state_from_string(row.text(4));
  if (!state) {
    return Error(ErrorCode::data_loss,
                 "'" + row.text(4) + "' is stored as the state of an operation, and is none");
  }
  r.state = *state;
  return r;
}

}  // namespace stripline::server
