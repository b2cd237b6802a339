// Checks of Options that do not depend on where they come from.
#pragma once

#include <string>
#include <string_view>

#include <stripline/context.h>

#include "base/result.h"

namespace stripline::rma {

/// Checks whether Options::trace is one of its words. Errors: invalid_argument.
Status check_trace(std::string_view trace);

/// Checks whether Options::threads is one of its modes. Errors: invalid_argument.
Status check_threads(thread_mode threads);

/// STRIPLINE_REPORT: where rank 0 hands what the model predicted and what was measured, at each
/// place of the program, of all ranks, when the job ends (docs/tracing.md). A file, or "agent":
/// that of this host, which tells the server. Empty: nowhere. The launcher's business: no option of
/// the program says so. The same on every rank.
std::string report_destination();

/// Says on standard error which variables begin with STRIPLINE_ and mean nothing, mostly by a
/// spelling mistake. For one rank of a job.
void warn_of_unknown_variables();

}  // namespace stripline::rma
