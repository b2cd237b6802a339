// STRIPLINE_REPORT: what the model predicted and what was measured, at each place of the program.
#pragma once

#include <stripline/context.h>

namespace stripline::rma {

/// Collective, at the end of a job: rank 0 writes the report of all ranks to the file, or hands it
/// to the agent, and says on standard error where that fails. The job ends as it would have
/// without.
void hand_in_report(Context& context);

}  // namespace stripline::rma
