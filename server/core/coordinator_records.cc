// How the coordinator keeps what the store holds of campaigns that have not ended: read once,
// written through.
#include <algorithm>
#include <utility>

#include "base/quantity.h"
#include "server/clock.h"
#include "server/core/coordinator.h"

namespace stripline::server {

RunRecord& Coordinator::Draft::run(uint32_t index) {
  return *std::ranges::find_if(runs, [&](const RunRecord& r) { return r.key.run == index; });
}

Result<Coordinator::Draft> Coordinator::draft(int64_t campaign) {
  if (const auto open = open_.find(campaign); open != open_.end()) {
    return Draft{open->second.campaign, open->second.runs, open->second.points};
  }
  STRIPLINE_ASSIGN_OR_RETURN(auto record, store_.campaign(campaign));
  if (!record) return Error(ErrorCode::internal, campaign_name(campaign) + " is not stored");
  STRIPLINE_ASSIGN_OR_RETURN(auto runs, store_.runs(campaign));
  return Draft{std::move(*record), std::move(runs), nullptr};
}

// What is stored of the campaign and its runs, and what is known of the active one.
CampaignView Coordinator::view(const CampaignRecord& campaign,
                               const std::vector<RunRecord>& runs) const {
  const auto active = active_.find(campaign.number);
  const bool running = active != active_.end() && std::ranges::any_of(runs, [](const auto& run) {
                         return run.state == RunState::active;
                       });
  CampaignView view =
      view_of(campaign, runs, running ? active_seconds(campaign.number) : std::nullopt);
  if (running) {
    view.samples += active->second.samples;
    view.points_done += active->second.stored_points;
  }
  return view;
}

// Adds what has changed of the campaign to the draft's changes, with an event that carries the
// campaign as it is now. An empty event is none.
void Coordinator::add_records(Draft& draft, const std::string& event) {
  CampaignRecord& campaign = draft.campaign;
  campaign.updated_unix_s = unix_seconds();
  draft.changes.campaigns.push_back(campaign);
  const auto open = open_.find(campaign.number);
  for (size_t i = 0; i < draft.runs.size(); ++i) {
    const RunRecord& run = draft.runs[i];
    const bool same =
        open != open_.end() && i < open->second.runs.size() && open->second.runs[i] == run;
    if (!same) draft.changes.runs.push_back(run);
  }
  if (event.empty()) return;
  CampaignView now = view(campaign, draft.runs);
  if (!is_final(campaign.state)) now.advised_budget_s = advised_budget_s(draft).value_or(0);
  draft.changes.events.push_back(
      {0, campaign.number, campaign.updated_unix_s, event,
       to_json(now).dump(-1, ' ', false, Json::error_handler_t::replace)});
}

// The draft has been stored.
void Coordinator::remember(const Draft& draft) {
  if (is_final(draft.campaign.state)) {
    open_.erase(draft.campaign.number);
  } else {
    open_[draft.campaign.number] = {draft.campaign, draft.runs, draft.points};
  }
}

// Writes the draft, and tells watchers if there is an event.
Status Coordinator::commit(Draft& draft, const std::string& event) {
  add_records(draft, event);
  STRIPLINE_RETURN_IF_ERROR(store_.apply(draft.changes));
  remember(draft);
  if (!event.empty()) hub_.notify(draft.campaign.number);
  return {};
}

bool Coordinator::tells_progress(const ActiveRun& active, double now_s) const {
  return active.progressed && (now_s >= active.last_progress_event_s + kProgressEventS ||
                               active.stored_points == active.points);
}

// How far active runs have come, twice a second at most: in one step of the store for all of them.
Status Coordinator::note_progress(double now_s) {
  Changes changes;
  std::vector<Draft> drafts;
  for (auto& [number, active] : active_) {
    if (!tells_progress(active, now_s)) continue;
    STRIPLINE_ASSIGN_OR_RETURN(Draft d, draft(number));
    RunRecord& run = d.run(active.group.run().run);
    run.duration_s = active_seconds(number).value_or(0);
    run.start_s = active.pace.start_s();
    add_records(d, "run " + std::to_string(run.key.run) + " of " + std::to_string(d.runs.size()) +
                       ": " + std::to_string(active.stored_points) + " of " +
                       count_text(active.points, "point"));
    const auto append = [](auto& to, auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    append(changes.campaigns, d.changes.campaigns);
    append(changes.runs, d.changes.runs);
    append(changes.events, d.changes.events);
    drafts.push_back(std::move(d));
  }
  if (drafts.empty()) return {};
  STRIPLINE_RETURN_IF_ERROR(store_.apply(changes));
  for (const Draft& d : drafts) {
    remember(d);
    ActiveRun& active = active_.at(d.campaign.number);
    active.progressed = false;
    active.last_progress_event_s = now_s;
    hub_.notify(d.campaign.number);
  }
  return {};
}

// Nodes are stored when that is possible: agents are served without.
Status Coordinator::save_nodes() {
  if (unsaved_nodes_.empty()) return {};
  Changes changes;
  for (const auto& [name, record] : unsaved_nodes_) changes.nodes.push_back(record);
  STRIPLINE_RETURN_IF_ERROR(store_.apply(changes));
  unsaved_nodes_.clear();
  return {};
}

// A server that starts again does not wait for nodes whose part has ended.
Status Coordinator::save_ends() {
  if (unsaved_ends_.empty()) return {};
  Changes changes;
  changes.facts = unsaved_ends_;
  STRIPLINE_RETURN_IF_ERROR(store_.apply(changes));
  unsaved_ends_.clear();
  return {};
}

}  // namespace stripline::server
