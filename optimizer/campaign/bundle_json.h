// The JSON forms that plans and results of campaigns without a server share. Include from .cc
// files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "optimizer/campaign/plan_bundle.h"

namespace stripline::campaign {

/// With its hash. Errors: invalid_argument for numbers that are not finite.
Result<Json> to_json(const PlanBundle& bundle);
/// Errors: as read_bundle().
Result<PlanBundle> bundle_from_json(const Json& json);

/// A whole number within these. Errors: data_loss, naming it.
Result<int64_t> get_whole(const Json& object, std::string_view key, std::string_view where,
                          int64_t least, int64_t most);
/// A finite number from 0 to 1e9. Errors: data_loss, naming it.
Result<double> get_seconds(const Json& object, std::string_view key, std::string_view where);
/// Errors: data_loss for another kind of file, unimplemented for one of a later version.
Status check_kind(const Json& object, std::string_view kind, int64_t version);

}  // namespace stripline::campaign
