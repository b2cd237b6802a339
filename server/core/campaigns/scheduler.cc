#include "server/core/campaigns/scheduler.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/quantity.h"
#include "base/random.h"
#include "optimizer/campaign/pair_sampling.h"

namespace stripline::server {
namespace {

// Runs vary, and so does how long nodes stay.
constexpr double kReserve = 0.9;

size_t count(const CampaignSnapshot& campaign, RunState state) {
  return static_cast<size_t>(
      std::ranges::count_if(campaign.runs, [&](const RunSnapshot& r) { return r.state == state; }));
}

const RunSnapshot* first(const CampaignSnapshot& campaign, RunState state) {
  const auto found =
      std::ranges::find_if(campaign.runs, [&](const RunSnapshot& r) { return r.state == state; });
  return found == campaign.runs.end() ? nullptr : &*found;
}

campaign::Progress progress_of(const CampaignSnapshot& c) {
  campaign::Progress progress;
  for (const RunSnapshot& run : c.runs) {
    if (run.state != RunState::finished) continue;
    progress.runs.push_back(
        {run.grid > 0 ? run.grid : run.points, run.points, run.start_s, run.duration_s});
  }
  progress.spent_s = c.measured_s;
  progress.points = c.points.get();
  return progress;
}

// A node that will not be there to the end of a run is of no use. Runs vary, and so does what is
// planned.
bool stays_long_enough(const NodeSnapshot& node, const CampaignSnapshot& campaign) {
  if (!node.available_s) return true;
  const double measured_s = typical_run_s(progress_of(campaign).runs);
  const double run_s = measured_s > 0 ? measured_s : campaign.planned_run_s;
  return *node.available_s * kReserve >= run_s;
}

// True if the node could serve the campaign but for the reason why it is left out.
bool could_serve(const NodeSnapshot& node, const CampaignSnapshot& campaign) {
  if (node.cluster != campaign.cluster || !stays_long_enough(node, campaign)) return false;
  if (campaign.unfit.contains(node.name)) return false;
  if (!campaign.only_nodes.empty() && !campaign.only_nodes.contains(node.name)) return false;
  if (!node.fabrics->contains(campaign.fabric)) return false;
  const uint64_t room = uint64_t{node.max_ranks} * campaign.spec.nodes;  // if all are like it
  if (node.max_ranks > 0 && room < campaign.spec.ranks) return false;
  return std::ranges::all_of(campaign.requirements,
                             [&](const auto& need) { return node.experiments->contains(need); });
}

bool serves(const NodeSnapshot& node, const CampaignSnapshot& campaign) {
  return node.left_out.empty() && could_serve(node, campaign);
}

Decision end_of(const CampaignSnapshot& campaign, const campaign::Next& next) {
  if (next.usable) return FinishMeasuring{campaign.number, *next.done};
  const auto advice = sufficient_budget_s(campaign);
  return FailCampaign{
      campaign.number,
      std::string(to_string(*next.done)) + ": " +
          exact_seconds_text(campaign::budget_s(rule_of(campaign))) + " passed after " +
          std::to_string(count(campaign, RunState::finished)) + " of " +
          std::to_string(campaign.runs.size()) + " runs, and at least " +
          std::to_string(fewest_runs(campaign)) +
          " are needed; ask for fewer experiments or a larger time budget" +
          (advice ? ": " + exact_seconds_text(*advice) + " would do at this pace" : "")};
}

struct Placement {
  std::optional<std::vector<std::string>> nodes;
  std::string waits_for;
};

// The run's order of nodes. FNV-1a, so that every platform agrees.
uint64_t place_in_order(const CampaignSnapshot& campaign, uint32_t run, const std::string& node) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : node) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return derive_seed(derive_seed(campaign.spec.seed, run), hash);
}

// Among these, which are free, in the run's order: a pair that is as near or far as few pairs of
// the campaign are. Only nodes that are no worse than the first two take part, so that one where
// runs have failed stays the last choice.
std::vector<std::string> pair_of(const CampaignSnapshot& campaign,
                                 const std::vector<NodeSnapshot>& nodes,
                                 const std::vector<const NodeSnapshot*>& free) {
  std::vector<campaign::NodePlace> places;
  for (const NodeSnapshot& node : nodes) {
    if (could_serve(node, campaign)) places.push_back({node.name, node.switches});
  }
  const auto trouble = [&](const NodeSnapshot* node) {
    return std::pair(campaign.suspects.contains(node->name), node->failures);
  };
  std::vector<std::string> candidates;
  for (const NodeSnapshot* node : free) {
    if (candidates.size() < 2 || trouble(node) <= trouble(free[1])) {
      candidates.push_back(node->name);
    }
  }
  std::vector<campaign::NodePair> earlier;
  for (const RunSnapshot& run : campaign.runs) {
    if (run.state != RunState::finished || run.rank_nodes.size() < 2) continue;
    earlier.emplace_back(run.rank_nodes[0], run.rank_nodes[1]);
  }
  const auto [one, other] =
      campaign::next_pair(campaign::NetworkPlaces(places), candidates, earlier);
  return {one, other};
}

std::string left_out(const CampaignSnapshot& campaign, const std::vector<NodeSnapshot>& nodes) {
  std::string text;
  for (const NodeSnapshot& node : nodes) {
    if (node.left_out.empty() || !could_serve(node, campaign)) continue;
    text += "; " + node_name(node.name) + " is " + node.left_out;
  }
  return text;
}

// Chooses nodes for a run: where nothing has failed, in an order of the run's own. While it waits
// for busy nodes it reserves all it could use, so that newer campaigns leave them alone.
Placement place(const CampaignSnapshot& campaign, uint32_t run,
                const std::vector<NodeSnapshot>& nodes, std::set<std::string>& taken) {
  std::vector<const NodeSnapshot*> able;
  for (const NodeSnapshot& node : nodes) {
    if (serves(node, campaign)) able.push_back(&node);
  }
  const auto rank = [&](const NodeSnapshot* node) {
    return std::tuple(campaign.suspects.contains(node->name), node->failures,
                      place_in_order(campaign, run, node->name));
  };
  std::ranges::stable_sort(able, {}, rank);

  std::vector<const NodeSnapshot*> free;
  for (const NodeSnapshot* node : able) {
    if (node->free && !taken.contains(node->name)) free.push_back(node);
  }
  std::vector<std::string> chosen;
  for (const NodeSnapshot* node : free) {
    if (chosen.size() < campaign.spec.nodes) chosen.push_back(node->name);
  }
  if (chosen.size() == campaign.spec.nodes) {
    if (campaign.spec.nodes == 2) chosen = pair_of(campaign, nodes, free);
    taken.insert(chosen.begin(), chosen.end());
    std::ranges::sort(chosen);
    return {std::move(chosen), ""};
  }
  if (able.size() < campaign.spec.nodes) {
    return {std::nullopt, "waits for nodes: " + std::to_string(campaign.spec.nodes) +
                              " connected ones that can open fabric '" + campaign.fabric +
                              "', offer its experiments and have room for its ranks are needed, " +
                              std::to_string(able.size()) + (able.size() == 1 ? " is" : " are") +
                              " there" + left_out(campaign, nodes)};
  }
  for (const NodeSnapshot* node : able) taken.insert(node->name);
  return {std::nullopt, "waits for free nodes: " + std::to_string(campaign.spec.nodes) +
                            " are needed, " + std::to_string(chosen.size()) +
                            (chosen.size() == 1 ? " is" : " are") + " free"};
}

// A host on which ranks of the run would have to share processors with other work.
const NodeSnapshot* busy_node(const CampaignSnapshot& campaign,
                              const std::vector<std::string>& chosen,
                              const std::vector<NodeSnapshot>& nodes) {
  constexpr double kNoticeable = 0.5;  // of a task, over some looks
  const auto node_of = [&](const std::string& name) {
    return std::ranges::find(nodes, name, &NodeSnapshot::name);
  };
  const auto host_of = [&](const std::string& name) {
    const auto node = node_of(name);
    return node->host.empty() ? name : node->host;
  };
  std::map<std::string, uint32_t> ranks;  // by host
  for (uint32_t rank = 0; rank < campaign.spec.ranks; ++rank) {
    ++ranks[host_of(chosen[rank % chosen.size()])];
  }
  for (const std::string& name : chosen) {
    const auto node = node_of(name);
    if (!node->load) continue;
    const double spare = node->load->processors - static_cast<double>(ranks[host_of(name)]);
    if (node->load->running > std::max(0.0, spare) + kNoticeable) return &*node;
  }
  return nullptr;
}

// What is decided instead of measuring on a busy host; nullopt: nothing.
std::optional<Decision> decide_on_busy(const CampaignSnapshot& campaign, const NodeSnapshot& node) {
  if (campaign.when_busy == WhenBusy::measure) return std::nullopt;
  const bool refuses = campaign.when_busy == WhenBusy::refuse;
  const std::string busy = node_name(node.name) + " is at " + host_load_text(*node.load);
  if (campaign.quiet_patience_s > 0) {
    return Wait{campaign.number,
                "waits for a quiet moment: " + busy + "; " +
                    (refuses ? "it is given up" : "it measures all the same") + " after " +
                    exact_seconds_text(std::ceil(campaign.quiet_patience_s)) + " more",
                true};
  }
  if (!refuses) return std::nullopt;
  return FailCampaign{campaign.number,
                      busy +
                          "; not now: measure when it is quiet, or wait for that "
                          "(--when-busy wait), or measure all the same (--when-busy measure)"};
}

// True if what failed for good on one node is worth trying on others: there are enough of them, and
// no other node has said the same before.
bool others_may_do(const CampaignSnapshot& campaign, const RunSnapshot& lost,
                   const std::vector<NodeSnapshot>& nodes) {
  if (!lost.lost_at || !campaign.unfit.empty()) return false;
  const auto others = std::ranges::count_if(nodes, [&](const NodeSnapshot& node) {
    return node.name != *lost.lost_at && serves(node, campaign);
  });
  return others >= static_cast<std::ptrdiff_t>(campaign.spec.nodes);
}

std::optional<Decision> decide_one(const CampaignSnapshot& campaign,
                                   const std::vector<NodeSnapshot>& nodes, uint32_t max_failures,
                                   std::set<std::string>& taken) {
  const RunSnapshot* active = first(campaign, RunState::active);
  const bool draining = campaign.state == CampaignState::draining;
  if (draining && active == nullptr) return EndDraining{campaign.number};
  if (const RunSnapshot* failed = first(campaign, RunState::failed)) {
    return FailCampaign{campaign.number,
                        "run " + std::to_string(failed->run) + " failed: " + failed->message};
  }
  if (active != nullptr && active->lost) {
    const bool hopeless = active->lost_for_good && !others_may_do(campaign, *active, nodes);
    const bool counts = !active->lost_at_will;
    const bool again = !counts || (!hopeless && active->failures + 1 < max_failures);
    return LoseRun{campaign.number, active->run,           *active->lost, again,
                   active->lost_at, active->lost_for_good, counts};
  }
  if (active != nullptr && active->complete) return CompleteRun{campaign.number, active->run};
  if (active != nullptr) {
    const auto over = campaign::used_up(rule_of(campaign), progress_of(campaign));
    if (!over) return std::nullopt;
    return draining ? Decision(EndDraining{campaign.number}) : end_of(campaign, *over);
  }
  if (campaign.state == CampaignState::paused) return std::nullopt;
  const campaign::Next next = campaign.next ? *campaign.next : next_of(campaign);
  if (next.done) return end_of(campaign, next);
  if (campaign.paused) return std::nullopt;
  const RunSnapshot* pending = first(campaign, RunState::pending);
  const uint32_t run =
      pending != nullptr ? pending->run : static_cast<uint32_t>(campaign.runs.size()) + 1;
  Placement placement = place(campaign, run, nodes, taken);
  if (placement.nodes) {
    const NodeSnapshot* const busy = busy_node(campaign, *placement.nodes, nodes);
    if (busy != nullptr) {
      if (auto instead = decide_on_busy(campaign, *busy)) return instead;
    }
    return PlaceRun{campaign.number, run,         std::move(*placement.nodes),
                    next.grid,       next.places, next.added};
  }
  if (campaign.overdue) {
    return FailCampaign{campaign.number, "no nodes came in time: it " + placement.waits_for};
  }
  return Wait{campaign.number, std::move(placement.waits_for)};
}

}  // namespace

std::vector<Decision> decide(const Snapshot& snapshot, uint32_t max_failures) {
  std::vector<Decision> decisions;
  std::set<std::string> taken;
  for (const CampaignSnapshot& campaign : snapshot.campaigns) {
    if (campaign.state == CampaignState::fitting || is_final(campaign.state)) continue;
    if (auto decision = decide_one(campaign, snapshot.nodes, max_failures, taken)) {
      decisions.push_back(std::move(*decision));
    }
  }
  return decisions;
}

uint32_t enough_runs(const CampaignSnapshot& campaign) {
  if (campaign.feeds_model) return kMinRunsForIntervals;
  return static_cast<uint32_t>(std::min<size_t>(kMinRunsForIntervals, campaign.runs.size()));
}

uint32_t fewest_runs(const CampaignSnapshot& campaign) {
  return campaign.feeds_model ? std::min(kMinRunsForProvisional, enough_runs(campaign))
                              : enough_runs(campaign);
}

campaign::Rule rule_of(const CampaignSnapshot& c) {
  campaign::Rule rule;
  rule.runs = c.spec.runs > 0 ? c.spec.runs : static_cast<uint32_t>(c.runs.size());
  rule.enough_runs = enough_runs(c);
  rule.fewest_runs = fewest_runs(c);
  rule.width = c.spec.width;
  rule.pilot = c.pilot;
  rule.least_points = c.runs.front().points_least;
  rule.core_points = c.runs.front().points_core;
  rule.all_points = c.runs.front().points_all;
  campaign::limit(rule, c.spec);
  rule.refine_breaks = c.feeds_model;
  if (c.feeds_model && !c.spec.race) rule.held_out = {c.spec.seed, c.spec.ranks};
  rule.race = rule.straddle = c.spec.race;
  if (c.spec.race) rule.fewest_runs = 1;
  return rule;
}

campaign::Next next_of(const CampaignSnapshot& campaign) {
  return campaign::next_run(rule_of(campaign), progress_of(campaign));
}

std::optional<double> sufficient_budget_s(const CampaignSnapshot& campaign) {
  std::optional<campaign::ActiveRun> active;
  if (const RunSnapshot* run = first(campaign, RunState::active)) {
    active = {run->pace, run->points, run->active_s};
  }
  return campaign::sufficient_budget_s(rule_of(campaign), progress_of(campaign), active);
}

std::optional<double> newly_advised_budget_s(const CampaignSnapshot& campaign) {
  const auto advice = sufficient_budget_s(campaign);
  if (!advice) return std::nullopt;
  CampaignSnapshot before = campaign;
  const auto last = std::ranges::find(before.runs.rbegin(), before.runs.rend(), RunState::finished,
                                      &RunSnapshot::state);
  if (last == before.runs.rend()) return std::nullopt;
  last->state = RunState::pending;
  before.measured_s -= last->duration_s;
  return sufficient_budget_s(before) ? std::nullopt : advice;
}

}  // namespace stripline::server
