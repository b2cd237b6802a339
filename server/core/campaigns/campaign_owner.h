// The owner of a campaign, and who else may change it. Pure.
#pragma once

#include <optional>
#include <string>

#include "server/problem.h"
#include "server/security/access.h"
#include "server/store/records.h"

namespace stripline::server {

/// Why the caller, who may change campaigns by his role, may not change this one; nullopt: he may.
/// An operator changes his own, a publisher and an administrator everybody's, the server's among
/// them. `verb`: what is asked for, "cancel". Problems: NOT_OWNER.
std::optional<Problem> refusal_of_change(const Caller& caller, const CampaignRecord& campaign,
                                         const std::string& verb);

}  // namespace stripline::server
