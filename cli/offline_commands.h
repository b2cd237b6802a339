// `stripline campaign export-plan, import`: each call carries out one command and returns the exit
// code.
#pragma once

#include "cli/command.h"

namespace stripline::cli {

Result<int> run(const Global& global, const CampaignExportPlan& command);
Result<int> run(const Global& global, const CampaignImport& command);

}  // namespace stripline::cli
