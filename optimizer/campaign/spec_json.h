// What a campaign was asked for, as it is stored and as files hold it.
#pragma once

#include "base/json.h"
#include "optimizer/campaign/spec.h"

namespace stripline::campaign {

Json to_json(const Spec& spec);
/// Errors: data_loss, naming the member.
Result<Spec> spec_from_json(const Json& json);

/// The fields of the page's form, as dashboards/src/campaign_fields.json holds them.
Json form_fields_json();

}  // namespace stripline::campaign
