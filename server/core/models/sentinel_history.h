// What sentinels have said of a version over time, each with what the version predicts of it.
#pragma once

#include "base/json.h"
#include "server/problem.h"
#include "server/store/store.h"

namespace stripline::server {

/// This many of the last checks are reported.
inline constexpr size_t kMaxTold = 100;

/// {"tolerance", "checks": [{"campaign", "time", "points", "outside", "ratio", "off", "sentinels":
/// [{"operation", "bytes", "predicted_s", "low_s", "high_s", "measured_s", "measured_low_s",
/// "measured_high_s", "outside"}]}]}, checks in the order of their times; docs/http.md says what
/// each means. Problems: the store's.
Answer<Json> sentinel_history(Store& store, const ModelVersionRecord& version);

}  // namespace stripline::server
