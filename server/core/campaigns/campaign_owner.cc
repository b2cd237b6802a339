#include "server/core/campaigns/campaign_owner.h"

#include "server/core/coordinator_options.h"
#include "server/store/names.h"

namespace stripline::server {

std::optional<Problem> refusal_of_change(const Caller& caller, const CampaignRecord& campaign,
                                         const std::string& verb) {
  if (caller.role >= Role::publisher) return std::nullopt;
  const std::string& owner = campaign.owner;
  if (!owner.empty() && owner == caller.name) return std::nullopt;
  std::string whose = " belongs to " + owner;
  std::string who_may = owner + ", a publisher or an administrator may";
  // Earlier versions did not record the owners of campaigns.
  if (owner == kServersOwn || owner.empty()) {
    whose = owner.empty() ? "'s owner is not recorded" : " is the server's own";
    who_may = "a publisher or an administrator may";
  }
  const std::string name = campaign_name(campaign.number);
  return Problem{ErrorCode::failed_precondition,
                 "NOT_OWNER",
                 name + whose + ", and " + caller.name + " has the role " +
                     std::string(to_string(caller.role)) +
                     ", which may change only its own campaigns; " + who_may + " " + verb + " it",
                 {{"name", name}, {"owner", owner}}};
}

}  // namespace stripline::server
