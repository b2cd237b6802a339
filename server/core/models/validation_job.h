// A version of a model judged by campaigns that it was not fitted to.
#pragma once

#include <cstdint>
#include <vector>

#include "optimizer/fit/judge_decisions.h"
#include "server/problem.h"
#include "server/store/store.h"

namespace stripline::server {

/// Judges by the samples of the campaigns' finished runs. Takes as long as reading them. Problems:
/// CAMPAIGN_NOT_FOUND, NOTHING_TO_JUDGE; INVALID_FIELD for a campaign of another fabric, or to
/// which the version was fitted; the store's.
Answer<ValidationRecord> validate_version(Store& store, const ModelVersionRecord& version,
                                          const std::vector<int64_t>& campaigns);

/// How the decisions of a version do beside those of another one of its model, on the problems that
/// were held out by the campaigns that it was fitted to, and by those that have judged it; nothing
/// where they held out none. Takes as long as reading them. Errors: the store's.
Result<fit::Comparison> compare_versions(Store& store, const ModelVersionRecord& version,
                                         const ModelVersionRecord& other);

/// Compares what the finished runs of the campaign measured with what the version says. Problems:
/// the same.
Answer<CheckRecord> check_version(Store& store, const ModelVersionRecord& version,
                                  int64_t campaign);

}  // namespace stripline::server
