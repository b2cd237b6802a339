// `stripline campaign ...`: each call carries out one command and returns the exit code.
#pragma once

#include "cli/command.h"

namespace stripline::cli {

int run(const Global& global, const CampaignRun& command);
int run(const Global& global, const CampaignWatch& command);
int run(const Global& global, const CampaignList& command);
int run(const Global& global, const CampaignShow& command);
int run(const Global& global, const CampaignCancel& command);
int run(const Global& global, const CampaignPoints& command);
int run(const Global& global, const CampaignExport& command);

}  // namespace stripline::cli
