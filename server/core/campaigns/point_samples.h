// Every sample of one point of a campaign, by run.
#pragma once

#include <cstdint>

#include "base/json.h"
#include "server/problem.h"
#include "server/store/store.h"

namespace stripline::server {

/// {"place", "experiment", "variant", "params", "runs": [{"run", "node", "orphan", "verified",
/// "median", "values"}]}, in order of arrival; docs/http.md, Samples. Reads the campaign's samples,
/// a batch at a time, and parses those of the point's experiment. Problems: POINT_NOT_FOUND, the
/// store's.
Answer<Json> point_samples(Store& store, int64_t campaign, uint32_t place);

}  // namespace stripline::server
