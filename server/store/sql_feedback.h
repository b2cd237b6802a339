// Rows of what runs saw of versions. Include from .cc files of the store only.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/store/model_records.h"
#include "server/store/sql.h"

namespace stripline::server {

/// Store's Changes::feedback.
Status write_feedback(SqlDatabase& database, const std::vector<FeedbackRecord>& records);

extern const std::string_view kFeedbackColumns;
Result<FeedbackRecord> read_feedback(SqlStatement& row);

}  // namespace stripline::server
