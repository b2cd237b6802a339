// What a user asks a campaign to do (optimizer/campaign/spec.h): its defaults, and what is
// accepted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "optimizer/campaign/spec_json.h"
#include "server/problem.h"

namespace stripline::server {

/// Runs that a published parameter needs at least (docs/measurement.md).
inline constexpr uint32_t kMinRunsForIntervals = 6;

/// Runs that a model of a campaign needs whose time budget was used up; it is provisional then.
inline constexpr uint32_t kMinRunsForProvisional = 3;

/// The campaign that a race takes as its prior, where none is named.
inline constexpr const char* kNearestPrior = "nearest";
inline constexpr const char* kNoPrior = "none";

/// A spec that complete_spec() returned has no zeros and no empty texts left except where spec.h
/// says so, and no unspecified effort.
using CampaignSpec = campaign::Spec;
using campaign::Effort;
using campaign::WhenBusy;

/// Fills in the defaults that campaigns.proto states (an unspecified effort is budgeted) and checks
/// every field that can be checked without knowing the fleet. Problems: INVALID_FIELD.
Answer<CampaignSpec> complete_spec(CampaignSpec spec);

/// The numbers of ranks, ascending, that a complete spec tunes another runtime for; none: it does
/// not.
std::vector<uint32_t> tuned_ranks(const CampaignSpec& spec);

/// The budgets that have to be larger for that to be at least `running_s`, and how large: "a
/// time budget of 130 s". A complete spec whose budgets allow less.
std::string budget_text(const CampaignSpec& spec, double running_s);

/// For how long it waits for hosts to become quiet, in all: until it measures, or is refused.
double quiet_patience_s(const CampaignSpec& spec);

}  // namespace stripline::server
