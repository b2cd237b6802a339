// Following a campaign to its end.
#pragma once

#include <string>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/service.h"

namespace stripline::cli {

/// What there is to show of a campaign.
Progress progress_of(const v1::Campaign& campaign);

/// "1:00 of measuring are too few at this pace; '--time-budget 130' would do": the options of those
/// of its budgets that are too small. Empty: nothing is advised.
std::string budget_advice(const v1::Campaign& campaign);

/// "succeeded: models/tcp/versions/3 ..." with the next command to run, or why it failed.
std::string outcome_text(const v1::Campaign& campaign);

/// The exit code for a campaign that has ended.
int outcome_exit_code(const v1::Campaign& campaign);

/// Shows events until the campaign has ended and returns the exit code: a progress line that is
/// drawn over on a terminal, a line per event otherwise, JSON lines with --json. When the server
/// goes away, waits for it for as long as --timeout and continues after the last event seen. An
/// interrupt (console.h) ends the watching, not the campaign.
Result<int> watch_campaign(Service& service, const Global& global, const std::string& name);

}  // namespace stripline::cli
