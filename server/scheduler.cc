#include "server/scheduler.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/quantity.h"
#include "base/random.h"

namespace stripline::server {
namespace {

// Runs vary: a plan that would just fit will not.
constexpr double kBudgetReserve = 0.9;
// What it takes to start the ranks of a run, where that has not been measured; an allowance, as in
// the planner.
constexpr double kRunStartS = 1.0;
// What is advised is a multiple of this, with the reserve.
constexpr double kBudgetStepS = 10;

size_t count(const CampaignSnapshot& campaign, RunState state) {
  return static_cast<size_t>(
      std::ranges::count_if(campaign.runs, [&](const RunSnapshot& r) { return r.state == state; }));
}

const RunSnapshot* first(const CampaignSnapshot& campaign, RunState state) {
  const auto found =
      std::ranges::find_if(campaign.runs, [&](const RunSnapshot& r) { return r.state == state; });
  return found == campaign.runs.end() ? nullptr : &*found;
}

// The mean time of the finished runs.
double typical_run_s(const CampaignSnapshot& campaign) {
  double sum = 0;
  size_t finished = 0;
  for (const RunSnapshot& run : campaign.runs) {
    if (run.state != RunState::finished) continue;
    sum += run.duration_s;
    ++finished;
  }
  return finished == 0 ? 0 : sum / static_cast<double>(finished);
}

// A node that will not be there to the end of a run is of no use. Runs vary, and so does what is
// planned.
bool stays_long_enough(const NodeSnapshot& node, const CampaignSnapshot& campaign) {
  if (!node.available_s) return true;
  const double measured_s = typical_run_s(campaign);
  const double run_s = measured_s > 0 ? measured_s : campaign.planned_run_s;
  return *node.available_s * kBudgetReserve >= run_s;
}

// But for what it is left out for.
bool could_serve(const NodeSnapshot& node, const CampaignSnapshot& campaign) {
  if (node.cluster != campaign.cluster || !stays_long_enough(node, campaign)) return false;
  if (campaign.unfit.contains(node.name)) return false;
  if (!campaign.only_nodes.empty() && !campaign.only_nodes.contains(node.name)) return false;
  if (!node.fabrics->contains(campaign.fabric)) return false;
  return std::ranges::all_of(campaign.requirements,
                             [&](const auto& need) { return node.experiments->contains(need); });
}

bool serves(const NodeSnapshot& node, const CampaignSnapshot& campaign) {
  return node.left_out.empty() && could_serve(node, campaign);
}

// The time budget: over, or too short for another run.
std::optional<Decision> check_budget(const CampaignSnapshot& campaign) {
  const size_t finished = count(campaign, RunState::finished);
  const bool enough = finished >= enough_runs(campaign);
  if (campaign.measured_s >= campaign.time_budget_s) {
    if (enough) return FinishMeasuring{campaign.number, true};
    if (finished >= fewest_runs(campaign)) return FinishMeasuring{campaign.number, true};
    const auto advice = sufficient_budget_s(campaign);
    return FailCampaign{
        campaign.number,
        "TIME_BUDGET: " + exact_seconds_text(campaign.time_budget_s) + " passed after " +
            std::to_string(finished) + " of " + std::to_string(campaign.runs.size()) +
            " runs, and at least " + std::to_string(fewest_runs(campaign)) +
            " are needed; ask for fewer experiments or a larger time budget" +
            (advice ? ": " + exact_seconds_text(*advice) + " would do at this pace" : "")};
  }
  const bool idle = first(campaign, RunState::active) == nullptr;
  if (enough && idle && campaign.measured_s + typical_run_s(campaign) > campaign.time_budget_s) {
    return FinishMeasuring{campaign.number, true};
  }
  return std::nullopt;
}

double start_of(const RunSnapshot& finished) {
  return finished.start_s > 0 ? finished.start_s : std::min(kRunStartS, finished.duration_s / 2);
}

// The mean pace of the finished runs; nullopt without any.
std::optional<Pace> typical_pace(const CampaignSnapshot& campaign) {
  double runs = 0;
  double points = 0;
  double starts_s = 0;
  double measuring_s = 0;
  for (const RunSnapshot& run : campaign.runs) {
    if (run.state != RunState::finished) continue;
    const double start_s = start_of(run);
    ++runs;
    points += run.points;
    starts_s += start_s;
    measuring_s += run.duration_s - start_s;
  }
  if (points == 0) return std::nullopt;
  return Pace{starts_s / runs, measuring_s / points};
}

double run_seconds(const Pace& pace, uint32_t points) {
  return pace.start_s + pace.point_s * points;
}

// The grid that a run falls back to when it cannot even measure the coarse one. Plans of before
// there was one have none.
uint32_t least_points(const RunSnapshot& run) {
  return run.points_least > 0 ? run.points_least : run.points_core;
}

// How many points of its plan the next run measures: those of the finest grid that all runs which
// are left can measure in the time that is left, and enough of them; never more than an earlier run
// but the pilot, because points that are measured in too few runs cannot be used.
uint32_t points_of_next_run(const CampaignSnapshot& campaign, const RunSnapshot& next) {
  const auto pace = typical_pace(campaign);
  if (!pace) return campaign.pilot ? least_points(next) : next.points_all;
  const size_t left = campaign.runs.size() - count(campaign, RunState::finished);
  const double left_s = kBudgetReserve * (campaign.time_budget_s - campaign.measured_s);
  for (const uint32_t points : {next.points_all, next.points_core}) {
    size_t measured = left;
    bool reduced = false;
    for (const RunSnapshot& run : campaign.runs) {
      if (run.state != RunState::finished) continue;
      const bool was_pilot = campaign.pilot && &run == &campaign.runs.front();
      if (run.points >= points) ++measured;
      reduced = reduced || (run.points < points && !was_pilot);
    }
    const double needed_s = run_seconds(*pace, points) * static_cast<double>(left);
    if (!reduced && measured >= enough_runs(campaign) && needed_s <= left_s) return points;
  }
  return least_points(next);
}

struct Placement {
  std::optional<std::vector<std::string>> nodes;
  std::string waits_for;
};

// The run's order of nodes. FNV-1a, so that every platform agrees.
uint64_t place_in_order(const CampaignSnapshot& campaign, uint32_t run, const std::string& node) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : node) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return derive_seed(derive_seed(campaign.seed, run), hash);
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

  std::vector<std::string> chosen;
  for (const NodeSnapshot* node : able) {
    if (node->free && !taken.contains(node->name)) chosen.push_back(node->name);
    if (chosen.size() == campaign.nodes) break;
  }
  if (chosen.size() == campaign.nodes) {
    taken.insert(chosen.begin(), chosen.end());
    std::ranges::sort(chosen);
    return {std::move(chosen), ""};
  }
  if (able.size() < campaign.nodes) {
    return {std::nullopt, "waits for nodes: " + std::to_string(campaign.nodes) +
                              " connected ones that can open fabric '" + campaign.fabric +
                              "' and offer its experiments are needed, " +
                              std::to_string(able.size()) + (able.size() == 1 ? " is" : " are") +
                              " there" + left_out(campaign, nodes)};
  }
  for (const NodeSnapshot* node : able) taken.insert(node->name);
  return {std::nullopt, "waits for free nodes: " + std::to_string(campaign.nodes) +
                            " are needed, " + std::to_string(chosen.size()) +
                            (chosen.size() == 1 ? " is" : " are") + " free"};
}

// True if what failed for good on one node is worth trying on others: there are enough of them, and
// no other node has said the same before.
bool others_may_do(const CampaignSnapshot& campaign, const RunSnapshot& lost,
                   const std::vector<NodeSnapshot>& nodes) {
  if (!lost.lost_at || !campaign.unfit.empty()) return false;
  const auto others = std::ranges::count_if(nodes, [&](const NodeSnapshot& node) {
    return node.name != *lost.lost_at && serves(node, campaign);
  });
  return others >= static_cast<std::ptrdiff_t>(campaign.nodes);
}

std::optional<Decision> decide_one(const CampaignSnapshot& campaign,
                                   const std::vector<NodeSnapshot>& nodes, uint32_t max_failures,
                                   std::set<std::string>& taken) {
  if (const RunSnapshot* failed = first(campaign, RunState::failed)) {
    return FailCampaign{campaign.number,
                        "run " + std::to_string(failed->run) + " failed: " + failed->message};
  }
  const RunSnapshot* active = first(campaign, RunState::active);
  if (active != nullptr && active->lost) {
    const bool hopeless = active->lost_for_good && !others_may_do(campaign, *active, nodes);
    const bool counts = !active->lost_at_will;
    const bool again = !counts || (!hopeless && active->failures + 1 < max_failures);
    return LoseRun{campaign.number, active->run,           *active->lost, again,
                   active->lost_at, active->lost_for_good, counts};
  }
  if (active != nullptr && active->complete) return CompleteRun{campaign.number, active->run};
  if (count(campaign, RunState::finished) == campaign.runs.size()) {
    return FinishMeasuring{campaign.number, false};
  }
  if (auto decision = check_budget(campaign)) return decision;
  if (active != nullptr || campaign.paused) return std::nullopt;
  const RunSnapshot* pending = first(campaign, RunState::pending);
  if (pending == nullptr) return std::nullopt;
  Placement placement = place(campaign, pending->run, nodes, taken);
  if (placement.nodes) {
    return PlaceRun{campaign.number, pending->run, std::move(*placement.nodes),
                    points_of_next_run(campaign, *pending)};
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
    if (campaign.state != CampaignState::queued && campaign.state != CampaignState::running) {
      continue;
    }
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

std::optional<double> sufficient_budget_s(const CampaignSnapshot& campaign) {
  const size_t finished = count(campaign, RunState::finished);
  if (finished >= enough_runs(campaign)) return std::nullopt;
  const RunSnapshot* active = first(campaign, RunState::active);
  auto pace = typical_pace(campaign);
  uint32_t points = least_points(campaign.runs.back());
  if (!pace && active != nullptr) {
    pace = active->pace;
    points = active->points;
  }
  if (!pace) return std::nullopt;
  const double finished_s = campaign.measured_s - (active == nullptr ? 0 : active->active_s);
  const double needed_s = finished_s + run_seconds(*pace, points) *
                                           static_cast<double>(enough_runs(campaign) - finished);
  if (needed_s <= campaign.time_budget_s) return std::nullopt;
  return std::ceil(needed_s / kBudgetReserve / kBudgetStepS) * kBudgetStepS;
}

}  // namespace stripline::server
