// Checks of Options that do not depend on where they come from.
#pragma once

#include <string_view>

#include "base/result.h"

namespace stripline::rma {

/// Checks whether Options::trace is one of its words. Errors: invalid_argument.
Status check_trace(std::string_view trace);

/// Says on standard error which variables begin with STRIPLINE_ and mean nothing, mostly by a
/// spelling mistake. For one rank of a job.
void warn_of_unknown_variables();

}  // namespace stripline::rma
