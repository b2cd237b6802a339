// Checks of Options that do not depend on where they come from.
#pragma once

#include <string_view>

#include "base/result.h"

namespace stripline::rma {

/// Whether Options::trace is one of its words. Errors: invalid_argument.
Status check_trace(std::string_view trace);

}  // namespace stripline::rma
