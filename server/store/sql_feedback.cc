#include "server/store/sql_feedback.h"

#include <string>
#include <utility>

#include "base/sha256.h"
#include "server/store/store.h"

namespace stripline::server {

const std::string_view kFeedbackColumns =
    "SELECT id, model, version, time, sender, report FROM model_feedback";

// Reports come at least once: the hash of one, which names its run, tells whether it is there.
Status write_feedback(SqlDatabase& database, const std::vector<FeedbackRecord>& records) {
  STRIPLINE_RETURN_IF_ERROR(write_all(
      database, records,
      "INSERT INTO model_feedback (model, version, time, sender, sha256, report)"
      " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (sha256) DO NOTHING",
      [](SqlStatement& s, const FeedbackRecord& r) {
        const std::string report = model::feedback_text(r.report);
        s.bind(r.key.model, r.key.version, r.time_unix_s, r.sender, sha256_hex(report), report);
      }));
  return write_all(
      database, records,
      "DELETE FROM model_feedback WHERE model = ?1 AND version = ?2 AND id <= (SELECT id"
      " FROM model_feedback WHERE model = ?1 AND version = ?2 ORDER BY id DESC LIMIT 1 OFFSET ?3)",
      [](SqlStatement& s, const FeedbackRecord& r) {
        s.bind(r.key.model, r.key.version, kMaxFeedbackReports);
      });
}

Result<FeedbackRecord> read_feedback(SqlStatement& row) {
  STRIPLINE_ASSIGN_OR_RETURN(model::Feedback report,
                             model::parse_feedback(row.text(5), "stored feedback"));
  return FeedbackRecord{row.unsigned_integer(0),
                        {row.text(1), row.integer(2)},
                        row.real(3),
                        row.text(4),
                        std::move(report)};
}

}  // namespace stripline::server
