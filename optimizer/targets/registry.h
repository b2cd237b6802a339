// The targets that there are.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "optimizer/targets/target.h"

namespace stripline::targets {

/// In the order in which they are shown.
const std::vector<const Target*>& all_targets();

/// By name. Errors: invalid_argument, which names those there are.
Result<const Target*> find_target(std::string_view name);

}  // namespace stripline::targets
