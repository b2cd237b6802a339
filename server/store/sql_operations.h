// Rows of operations. Include from .cc files of the store only.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/store/operation_records.h"
#include "server/store/sql.h"

namespace stripline::server {

/// Store's Changes::operations.
Status write_operations(SqlDatabase& database, const std::vector<OperationRecord>& records);

extern const std::string_view kOperationColumns;
Result<OperationRecord> read_operation(SqlStatement& row);

}  // namespace stripline::server
