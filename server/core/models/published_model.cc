#include "server/core/models/published_model.h"

namespace stripline::server {

PublishedModel outcome_of(const std::string& version, const FittedModel& fitted) {
  const VersionVerdict verdict = verdict_on(fitted.judgement);
  if (verdict.verdict == Verdict::failed) {
    return {true, version + " failed its validation: " + verdict.why};
  }
  std::string message = "published " + version;
  if (!fitted.provisional.empty()) message += ", PROVISIONAL";
  if (verdict.verdict == Verdict::unjudged) message += ", UNVALIDATED (" + verdict.why + ")";
  return {false, message + ": " + fitted.summary};
}

void note_verdict(Changes& changes, const VersionKey& key, const VersionVerdict& verdict,
                  double time_unix_s) {
  if (verdict.verdict == Verdict::failed) changes.failed.push_back({key, verdict.why, time_unix_s});
  if (verdict.verdict == Verdict::unjudged) {
    changes.unjudged.push_back({key, verdict.why, time_unix_s});
  }
}

}  // namespace stripline::server
