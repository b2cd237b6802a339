// What is known of a version of a model, in the JSON form in which it is stored. Include from .cc
// files.
#pragma once

#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "server/store/model_records.h"

namespace stripline::server {

Json to_json(const std::vector<Finding>& findings);
Result<std::vector<Finding>> findings_from_json(const Json& json);

/// Without the key.
Json to_json(const ValidationRecord& validation);
Result<ValidationRecord> validation_from_json(const Json& json);

Json to_json(const fit::SentinelReading& reading);
Result<fit::SentinelReading> reading_from_json(const Json& json);

}  // namespace stripline::server
