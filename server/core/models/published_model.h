// What becomes of a fitted model once it is a version: what is said of it, and the verdict that is
// stored with it. Pure.
#pragma once

#include <string>
#include <vector>

#include "server/core/models/fit_job.h"
#include "server/core/models/model_verdict.h"
#include "server/store/store.h"

namespace stripline::server {

struct PublishedModel {
  bool failed = false;  ///< It has failed its validation, and so has what made it.
  /// "published models/tcp/versions/3, UNVALIDATED: ..." or "models/tcp/versions/3 failed its
  /// validation: ...".
  std::string message;
};

PublishedModel outcome_of(const std::string& version, const FittedModel& fitted);

/// Adds the version that a fit to these campaigns has made, judged as it was.
void add_version(Changes& changes, const VersionKey& key, const std::string& fabric,
                 const FittedModel& fitted, const std::vector<std::string>& campaigns,
                 double time_unix_s);

/// Adds the verdict on a version, if it is not that it passed.
void note_verdict(Changes& changes, const VersionKey& key, const VersionVerdict& verdict,
                  double time_unix_s);

}  // namespace stripline::server
