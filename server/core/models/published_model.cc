#include "server/core/models/published_model.h"

#include <utility>

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

void add_version(Changes& changes, const VersionKey& key, const std::string& fabric,
                 const FittedModel& fitted, const std::vector<std::string>& campaigns,
                 double time_unix_s) {
  NewModelVersion version;
  version.record.key = key;
  version.record.sha256 = fitted.sha256;
  version.record.campaigns = campaigns;
  version.record.created_unix_s = time_unix_s;
  version.record.summary = fitted.summary;
  version.record.provisional = fitted.provisional;
  version.record.findings = fitted.findings;
  version.fabric = fabric;
  version.content = fitted.content;
  if (fitted.judgement) {
    changes.validations.push_back({key, version.record.created_unix_s, {}, *fitted.judgement});
  }
  note_verdict(changes, key, verdict_on(fitted.judgement), version.record.created_unix_s);
  changes.versions.push_back(std::move(version));
}

void note_verdict(Changes& changes, const VersionKey& key, const VersionVerdict& verdict,
                  double time_unix_s) {
  if (verdict.verdict == Verdict::failed) changes.failed.push_back({key, verdict.why, time_unix_s});
  if (verdict.verdict == Verdict::unjudged) {
    changes.unjudged.push_back({key, verdict.why, time_unix_s});
  }
}

}  // namespace stripline::server
