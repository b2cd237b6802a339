// A campaign's specification as stripline.v1's message, member by member of its table. Include from
// .cc files.
#pragma once

#include "optimizer/campaign/spec.h"
#include "stripline/v1/campaigns.pb.h"

namespace stripline {

/// An effort that is not said is BUDGETED.
v1::CampaignSpec to_message(const campaign::Spec& spec);
/// A policy that this build does not know is WhenBusy::unknown, an effort unspecified.
campaign::Spec from_message(const v1::CampaignSpec& message);

/// The budgets alone (campaign::spec_budgets()).
campaign::Spec budgets_of(const v1::RetryCampaignRequest& request);
void set_budgets(v1::RetryCampaignRequest& request, const campaign::Spec& budgets);

}  // namespace stripline
