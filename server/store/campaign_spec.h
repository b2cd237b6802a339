// What a user asks a campaign to do: CampaignSpec of campaigns.proto as a plain value.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "server/problem.h"

namespace stripline::server {

/// Runs that a published parameter needs at least (docs/measurement.md).
inline constexpr uint32_t kMinRunsForIntervals = 6;

/// Runs that a model of a campaign needs whose time budget was used up; it is provisional then.
inline constexpr uint32_t kMinRunsForProvisional = 3;

/// Which campaign a race takes as its prior, where it is not named.
inline constexpr const char* kNearestPrior = "nearest";
inline constexpr const char* kNoPrior = "none";

enum class Effort { unspecified, budgeted, full };

/// What to do while other work keeps hosts busy.
enum class WhenBusy { wait, measure, refuse, unknown };
std::string_view to_string(WhenBusy policy);
/// Empty: wait. nullopt: it is none.
std::optional<WhenBusy> when_busy_from_string(std::string_view name);

/// See campaigns.proto for every member. A spec that complete_spec() returned has no zeros and no
/// empty texts left except in `experiments`, `only_nodes`, `same_node`, `cluster`, `width`,
/// `node_budget_s` and `prior`, and no unspecified effort.
struct CampaignSpec {
  std::string fabric;
  std::string clock;
  uint32_t nodes = 0;
  uint32_t ranks = 0;
  Effort effort = Effort::unspecified;
  std::vector<std::string> experiments;
  uint32_t runs = 0;
  double time_budget_s = 0;
  uint64_t seed = 0;
  std::string model;                    ///< "models/{model}"; empty: publish none
  std::vector<std::string> only_nodes;  ///< "nodes/{node}"
  std::vector<std::string> same_node;   ///< "mapped", "cma"
  double width = 0;                     ///< 0, also when complete: `runs` runs are made
  double node_budget_s = 0;             ///< 0, when complete: none
  bool race = false;                    ///< Only which alternatives are the fastest matters.
  std::string prior = {};    ///< For a race: "campaigns/{campaign}", "nearest" or "none".
  std::string cluster = {};  ///< Empty, also when complete: that of the nodes there are
  WhenBusy when_busy = WhenBusy::wait;  ///< Real clock only.
  /// What the campaign does not measure any more, by experiment, and why: two attempts at a run
  /// have failed while they measured it. Empty when it is asked for and when it is tried again.
  std::map<std::string, std::string> left_out = {};
};

/// Fills in the defaults that campaigns.proto states (an unspecified effort is budgeted) and checks
/// every field that can be checked without knowing the fleet. Problems: INVALID_FIELD.
Answer<CampaignSpec> complete_spec(CampaignSpec spec);

/// For how long a run of it may be active in all: its time budget, or what its node-seconds allow.
double budget_s(const CampaignSpec& spec);

/// The budgets that have to be larger for that to be at least `running_s`, and how large: "a
/// time budget of 130 s". A complete spec whose budgets allow less.
std::string budget_text(const CampaignSpec& spec, double running_s);

/// For how long it waits for hosts to become quiet, in all: until it measures, or is refused.
double quiet_patience_s(const CampaignSpec& spec);

/// "; without X, which was left out after ..." for each experiment that is; else empty.
std::string left_out_text(const CampaignSpec& spec);

Json to_json(const CampaignSpec& spec);
/// Errors: data_loss, naming the member.
Result<CampaignSpec> campaign_spec_from_json(const Json& json);

}  // namespace stripline::server
