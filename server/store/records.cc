#include "server/store/records.h"

#include <array>
#include <utility>

namespace stripline::server {
namespace {

constexpr std::array<std::pair<CampaignState, std::string_view>, 8> kCampaignStates{{
    {CampaignState::queued, "QUEUED"},
    {CampaignState::running, "RUNNING"},
    {CampaignState::paused, "PAUSED"},
    {CampaignState::draining, "DRAINING"},
    {CampaignState::fitting, "FITTING"},
    {CampaignState::succeeded, "SUCCEEDED"},
    {CampaignState::failed, "FAILED"},
    {CampaignState::cancelled, "CANCELLED"},
}};

constexpr std::array<std::pair<RunState, std::string_view>, 5> kRunStates{{
    {RunState::pending, "PENDING"},
    {RunState::active, "ACTIVE"},
    {RunState::finished, "FINISHED"},
    {RunState::failed, "FAILED"},
    {RunState::cancelled, "CANCELLED"},
}};

template <typename Table, typename Value>
std::string_view name_of(const Table& table, Value value) {
  for (const auto& [state, name] : table) {
    if (state == value) return name;
  }
  return "";
}

template <typename Value, size_t kSize>
std::optional<Value> value_of(const std::array<std::pair<Value, std::string_view>, kSize>& table,
                              std::string_view name) {
  for (const auto& [state, text] : table) {
    if (text == name) return state;
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(CampaignState state) { return name_of(kCampaignStates, state); }
std::string_view to_string(RunState state) { return name_of(kRunStates, state); }

std::optional<CampaignState> campaign_state_from_string(std::string_view name) {
  return value_of(kCampaignStates, name);
}

std::optional<RunState> run_state_from_string(std::string_view name) {
  return value_of(kRunStates, name);
}

bool is_final(CampaignState state) {
  return state == CampaignState::succeeded || state == CampaignState::failed ||
         state == CampaignState::cancelled;
}

}  // namespace stripline::server
