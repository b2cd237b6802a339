#include "server/store/records.h"

#include <array>

#include "base/enum_names.h"

namespace stripline::server {
namespace {

constexpr std::array<std::string_view, 8> kCampaignStates = {
    "QUEUED", "RUNNING", "PAUSED", "DRAINING", "FITTING", "SUCCEEDED", "FAILED", "CANCELLED"};
constexpr std::array<std::string_view, 5> kRunStates = {"PENDING", "ACTIVE", "FINISHED", "FAILED",
                                                        "CANCELLED"};

}  // namespace

std::string_view to_string(CampaignState state) { return enum_name(kCampaignStates, state); }
std::string_view to_string(RunState state) { return enum_name(kRunStates, state); }

std::optional<CampaignState> campaign_state_from_string(std::string_view name) {
  return enum_named<CampaignState>(kCampaignStates, name);
}

std::optional<RunState> run_state_from_string(std::string_view name) {
  return enum_named<RunState>(kRunStates, name);
}

bool is_final(CampaignState state) {
  return state == CampaignState::succeeded || state == CampaignState::failed ||
         state == CampaignState::cancelled;
}

}  // namespace stripline::server
