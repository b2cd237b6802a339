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
/// `what` names it in messages. Errors: as read_bundle().
Result<PlanBundle> bundle_from_json(const Json& json, std::string_view what);

/// A whole number within these. Errors: data_loss, naming it.
Result<int64_t> get_whole(const Json& object, std::string_view key, std::string_view where,
                          int64_t least, int64_t most);
/// A finite number from 0 to 1e9. Errors: data_loss, naming it.
Result<double> get_seconds(const Json& object, std::string_view key, std::string_view where);

/// A kind of file that says what it is.
struct FileKind {
  std::string_view kind;  ///< its "kind"
  int64_t version = 1;    ///< its "schema_version"
  std::string_view name;  ///< for people: "a plan of 'stripline campaign export-plan'"
};

/// That `what` is no file of this kind, and why: data_loss.
Error not_of_kind(const FileKind& kind, std::string_view what, const std::string& why);
/// Errors: not_of_kind(); unimplemented for a file of another version.
Status check_kind(const Json& json, const FileKind& kind, std::string_view what);

}  // namespace stripline::campaign
