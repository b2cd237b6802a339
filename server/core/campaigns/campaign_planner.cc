#include "server/core/campaigns/campaign_planner.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/network_name.h"
#include "base/quantity.h"
#include "base/random.h"
#include "base/suggest.h"
#include "optimizer/campaign/refinement.h"
#include "optimizer/experiment/catalogue.h"
#include "optimizer/experiment/requirements.h"
#include "optimizer/experiment/tuning.h"
#include "server/core/campaigns/drawn_shapes.h"
#include "server/core/campaigns/grid.h"
#include "server/core/campaigns/held_out_plan.h"

namespace stripline::server {
namespace {

using experiment::Assignment;
using experiment::Experiment;
using experiment::StopRule;

// Starting the workers of a run, opening endpoints and joining; an allowance for the estimate.
constexpr double kRunStartS = 1.0;
// The share of the time budget that the plan fills. The rest covers points that need longer than
// their share (min_reps of large transfers), lost runs and the fit.
constexpr double kBudgetShare = 0.6;
constexpr double kMinPointS = 0.001;
constexpr double kMaxPointS = 0.05;
// Over all runs. A plan is held in memory and stored as one step.
constexpr double kMaxPlannedPoints = 250'000;

// What a campaign measures, and the coarser grids inside it to fall back to.
struct Grids {
  GridLimits all;
  GridLimits core;
  GridLimits least = {.sizes = 3, .counts = 2};
};

// A repetition that moves 16 MiB lasts about 10 ms at 1 GB/s: long against any overhead that the
// models describe, short enough for min_reps of them. On a virtual clock points cost the host
// little.
Grids grids_of(const CampaignSpec& spec) {
  if (spec.effort == Effort::full) {
    return {{.max_bytes_per_repetition = 128 << 20}, {.sizes = 20, .counts = 5}};
  }
  constexpr double kMaxBytes = 16 << 20;
  if (spec.clock == "virtual") {
    return {{.sizes = 20, .max_bytes_per_repetition = kMaxBytes}, {.sizes = 12, .counts = 5}};
  }
  return {{.sizes = 12, .counts = 5, .max_bytes_per_repetition = kMaxBytes},
          {.sizes = 6, .counts = 3}};
}

std::set<std::string_view> allowed_nodes(const CampaignSpec& spec) {
  std::set<std::string_view> names;
  for (const std::string& name : spec.only_nodes) {
    names.insert(std::string_view(name).substr(std::string_view("nodes/").size()));
  }
  return names;
}

bool contains(const std::vector<std::string>& list, const std::string& text) {
  return std::ranges::find(list, text) != list.end();
}

std::string join(const std::set<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : ", ") + text;
  return joined;
}

Problem too_few(const CampaignSpec& spec, size_t have, const std::string& what) {
  return {ErrorCode::failed_precondition,
          "NOT_ENOUGH_NODES",
          "the campaign needs " + std::to_string(spec.nodes) + " connected nodes " + what + ", " +
              std::to_string(have) + (have == 1 ? " is" : " are") +
              "; start more agents or ask for fewer nodes",
          {{"needed", std::to_string(spec.nodes)}, {"available", std::to_string(have)}}};
}

Problem too_small(const CampaignSpec& spec, size_t have, uint32_t ranks_of_node) {
  return {ErrorCode::failed_precondition,
          "NOT_ENOUGH_NODES",
          "the campaign needs " + std::to_string(spec.nodes) + " connected nodes with room for " +
              std::to_string(ranks_of_node) + " ranks each, " + std::to_string(have) +
              (have == 1 ? " is" : " are") + "; ask for fewer ranks or for more nodes",
          {{"field", "spec.ranks"},
           {"needed", std::to_string(spec.nodes)},
           {"available", std::to_string(have)}}};
}

// Groups are of one cluster; which, is to be said where there is a choice.
std::optional<Problem> several_clusters(const CampaignSpec& spec,
                                        const std::vector<const NodeOffer*>& able) {
  std::set<std::string> clusters;
  for (const NodeOffer* offer : able) clusters.insert(offer->cluster);
  if (clusters.size() < 2) return std::nullopt;
  return invalid_field("spec.cluster", "nodes of several clusters can open fabric '" + spec.fabric +
                                           "' (" + join(clusters) + "); name one of them");
}

// The nodes that may take part and open the fabric.
Answer<std::vector<const NodeOffer*>> candidates(const CampaignSpec& spec,
                                                 const std::vector<NodeOffer>& offers) {
  const auto allowed = allowed_nodes(spec);
  std::vector<const NodeOffer*> able;
  const std::string network = network_name(spec.fabric);
  std::set<std::string> fabrics;
  size_t connected = 0;
  for (const NodeOffer& offer : offers) {
    if (!allowed.empty() && !allowed.contains(offer.node)) continue;
    if (!spec.cluster.empty() && offer.cluster != spec.cluster) continue;
    ++connected;
    fabrics.insert(offer.fabrics.begin(), offer.fabrics.end());
    if (contains(offer.fabrics, network)) able.push_back(&offer);
  }
  if (able.empty() && connected > 0) {
    return Problem{ErrorCode::failed_precondition,
                   "UNSUPPORTED_FABRIC",
                   "no connected node can open fabric '" + spec.fabric + "'" +
                       did_you_mean(network, {fabrics.begin(), fabrics.end()}) +
                       "; they offer: " + join(fabrics),
                   {{"field", "spec.fabric"}, {"fabric", spec.fabric}}};
  }
  if (auto problem = several_clusters(spec, able)) return std::move(*problem);
  if (able.size() < spec.nodes) {
    return too_few(spec, able.size(), "that can open fabric '" + spec.fabric + "'");
  }
  const uint32_t ranks_of_node = (spec.ranks + spec.nodes - 1) / spec.nodes;  // of the fullest
  std::erase_if(able, [&](const NodeOffer* offer) {
    return offer->max_ranks > 0 && offer->max_ranks < ranks_of_node;
  });
  if (able.size() < spec.nodes) return too_small(spec, able.size(), ranks_of_node);
  return able;
}

struct Offered {
  const Experiment* declaration = nullptr;
  size_t nodes = 0;
};

// By name, the newest version that at least `enough` nodes offer; the others with the version that
// most offer, so that a message can tell.
std::map<std::string, Offered> usable_declarations(const std::vector<const NodeOffer*>& nodes,
                                                   size_t enough) {
  std::map<std::pair<std::string, int>, Offered> by_version;
  for (const NodeOffer* node : nodes) {
    for (const Experiment& experiment : *node->experiments) {
      Offered& offered = by_version[{experiment.name, experiment.version}];
      if (offered.declaration == nullptr) offered.declaration = &experiment;
      ++offered.nodes;
    }
  }
  std::map<std::string, Offered> best;
  for (const auto& [key, offered] : by_version) {  // ascending versions
    Offered& chosen = best[key.first];
    if (offered.nodes >= enough || chosen.nodes < offered.nodes) chosen = offered;
  }
  return best;
}

Problem unknown_experiment(const std::string& name, const std::map<std::string, Offered>& offered) {
  std::set<std::string> names;
  for (const auto& [known, unused] : offered) names.insert(known);
  return {ErrorCode::invalid_argument,
          "UNKNOWN_EXPERIMENT",
          "no connected node offers experiment '" + name + "'" +
              did_you_mean(name, {names.begin(), names.end()}) + "; they offer: " + join(names),
          {{"field", "spec.experiments"}, {"experiment", name}}};
}

Answer<std::vector<Experiment>> choose(const CampaignSpec& spec,
                                       const std::map<std::string, Offered>& offered) {
  const experiment::Surroundings surroundings{spec.ranks, spec.fabric};
  std::vector<Experiment> chosen;
  if (!spec.experiments.empty()) {
    for (const std::string& name : spec.experiments) {
      const auto found = offered.find(name);
      if (found == offered.end()) return unknown_experiment(name, offered);
      const Experiment& declaration = *found->second.declaration;
      if (found->second.nodes < spec.nodes) {
        return too_few(spec, found->second.nodes, "that offer '" + name + "'");
      }
      if (auto problem = experiment::unmet_requirement(declaration, surroundings)) {
        return invalid_field("spec.experiments", *problem);
      }
      chosen.push_back(declaration);
    }
    return chosen;
  }
  for (const auto& [name, offer] : offered) {
    if (offer.nodes >= spec.nodes && !offer.declaration->feeds.empty() &&
        (!spec.same_node.empty() || !experiment::requirements_of(*offer.declaration).same_node) &&
        !experiment::unmet_requirement(*offer.declaration, surroundings)) {
      chosen.push_back(*offer.declaration);
    }
  }
  if (chosen.empty()) {
    return Problem{ErrorCode::failed_precondition,
                   "NOT_ENOUGH_NODES",
                   "no experiment that feeds a model is offered by " + std::to_string(spec.nodes) +
                       " connected nodes and takes " + std::to_string(spec.ranks) +
                       " ranks; update the agents or ask for another number of ranks",
                   {{"needed", std::to_string(spec.nodes)}}};
  }
  return chosen;
}

bool measures_network(const Experiment& experiment) {
  return std::ranges::any_of(experiment.feeds, [](const std::string& parameter) {
    return parameter.starts_with("network.");
  });
}

// Without the others a model has fewer sections; without these it is none.
std::vector<Experiment> of_the_network(std::vector<Experiment> experiments) {
  std::erase_if(experiments, [](const Experiment& e) { return !measures_network(e); });
  return experiments;
}

// Leaves the paths between ranks of a node that are asked for.
void restrict_paths(const CampaignSpec& spec, std::vector<Experiment>& experiments) {
  for (Experiment& experiment : experiments) {
    for (experiment::Factor& factor : experiment.factors) {
      if (factor.name == experiment::factor::kSameNode) {
        factor.values.assign(spec.same_node.begin(), spec.same_node.end());
      }
    }
  }
}

// Ranks are on as many nodes at most.
void restrict_nodes(const CampaignSpec& spec, std::vector<Experiment>& experiments) {
  for (Experiment& experiment : experiments) {
    for (experiment::Factor& factor : experiment.factors) {
      if (factor.name != experiment::factor::kNodes) continue;
      std::erase_if(factor.values, [&](const experiment::ParamValue& value) {
        const auto* nodes = std::get_if<int64_t>(&value);
        return nodes != nullptr && *nodes > int64_t{spec.ranks};
      });
    }
  }
}

// What another runtime is tuned for is asked for, not a grid.
void restrict_tuning(const CampaignSpec& spec, std::vector<Experiment>& experiments) {
  std::vector<experiment::ParamValue> ranks;
  for (const uint32_t count : tuned_ranks(spec)) ranks.emplace_back(int64_t{count});
  const std::map<std::string, std::vector<experiment::ParamValue>> asked = {
      {experiment::tune_factor::kRanks, ranks},
      {experiment::tune_factor::kPath, {spec.tune_path}},
      {experiment::tune_factor::kCommutativeOnly, {int64_t{spec.commutative_only}}},
      {experiment::tune_factor::kAcceptUntried, {int64_t{spec.accept_untried}}}};
  for (Experiment& experiment : experiments) {
    for (experiment::Factor& factor : experiment.factors) {
      if (const auto found = asked.find(factor.name); found != asked.end()) {
        factor.values = found->second;
      }
    }
  }
}

// The points of `all` that `some` does not hold, in order.
std::vector<experiment::Point> without(const std::vector<experiment::Point>& all,
                                       const std::vector<experiment::Point>& some) {
  std::set<std::string> keys;
  for (const auto& point : some) keys.insert(point_key(point));
  std::vector<experiment::Point> rest;
  for (const auto& point : all) {
    if (!keys.contains(point_key(point))) rest.push_back(point);
  }
  return rest;
}

// Parts of which each is followed by points that judge the model: a run that is cut down has its
// share of these, too.
std::vector<std::vector<experiment::Point>> parts_of(const std::vector<experiment::Point>& points) {
  std::vector<std::vector<experiment::Point>> parts;
  for (size_t part = 0; part < campaign::kGridParts; ++part) {
    const auto begin = static_cast<ptrdiff_t>(points.size() * part / campaign::kGridParts);
    const auto end = static_cast<ptrdiff_t>(points.size() * (part + 1) / campaign::kGridParts);
    parts.emplace_back(points.begin() + begin, points.begin() + end);
  }
  return parts;
}

// What the model of a campaign is judged by beside its grids: experiments that it measures, and
// where none are asked for by name, others that all nodes offer which may take part.
HeldOutPlan held_out_plan(const CampaignSpec& spec, const std::vector<Experiment>& chosen,
                          const std::map<std::string, Offered>& offered, size_t nodes) {
  const experiment::Surroundings surroundings{spec.ranks, spec.fabric};
  const auto find = [=, &chosen, &offered](const std::string& name) -> const Experiment* {
    const auto known = std::ranges::find(chosen, name, &Experiment::name);
    if (known != chosen.end()) return &*known;
    const auto other = offered.find(name);
    if (!spec.experiments.empty() || other == offered.end() || other->second.nodes < nodes ||
        experiment::unmet_requirement(*other->second.declaration, surroundings)) {
      return nullptr;
    }
    // Ranks of several nodes are teams of fewer workers than the judge takes them for.
    if (spec.nodes > 1 && experiment::requirements_of(*other->second.declaration).same_node) {
      return nullptr;
    }
    return other->second.declaration;
  };
  return HeldOutPlan(spec.seed, spec.ranks, find);
}

std::string whole(double value) { return std::to_string(std::llround(value)); }

void add_note(CampaignPlan& plan, const std::string& note) {
  plan.note += (plan.note.empty() ? "" : "; ") + note;
}

bool tunes(const CampaignSpec& spec) { return !experiment::tuned_target(spec.fabric).empty(); }

// The experiments with those values of their factors that are asked for. Problems: INVALID_FIELD
// for one that is asked for by name, and has no point then.
Answer<std::vector<Experiment>> restricted(const CampaignSpec& spec,
                                           std::vector<Experiment> experiments) {
  if (!spec.same_node.empty()) restrict_paths(spec, experiments);
  restrict_nodes(spec, experiments);
  if (tunes(spec)) restrict_tuning(spec, experiments);
  for (const Experiment& experiment : experiments) {
    if (count_points(experiment) > 0 || spec.experiments.empty()) continue;
    return invalid_field("spec.ranks", "experiment '" + experiment.name + "' has no point for " +
                                           std::to_string(spec.ranks) +
                                           " ranks; ask for another number of ranks");
  }
  return experiments;
}

bool offers_all(const NodeOffer& node, const std::vector<Experiment>& experiments) {
  return std::ranges::all_of(experiments, [&](const Experiment& wanted) {
    return std::ranges::any_of(*node.experiments, [&](const Experiment& offer) {
      return offer.name == wanted.name && offer.version == wanted.version;
    });
  });
}

// Nodes that can take part: each experiment may be offered by other nodes than the next.
std::optional<Problem> set_places(const std::vector<const NodeOffer*>& nodes,
                                  const std::vector<Experiment>& experiments, CampaignPlan& plan) {
  std::vector<campaign::NodePlace> places;
  for (const NodeOffer* node : nodes) {
    if (offers_all(*node, experiments)) places.push_back({node->node, node->switches});
  }
  plan.able_nodes = places.size();
  if (plan.able_nodes < plan.spec.nodes) {
    return too_few(plan.spec, plan.able_nodes,
                   "that offer all of its experiments in the same versions");
  }
  if (plan.spec.nodes == 2) plan.pairs.emplace(places);
  plan.spec.cluster = nodes.front()->cluster;
  return std::nullopt;
}

// Why no model can be fitted to what these experiments measure.
std::optional<Problem> refusal_of_model(const CampaignSpec& spec,
                                        const std::vector<Experiment>& experiments) {
  if (std::ranges::none_of(experiments, measures_network)) {
    return invalid_field(
        spec.experiments.empty() ? "spec.ranks" : "spec.experiments",
        std::string(spec.ranks == 1 ? "one rank has no network to measure"
                                    : "none of the experiments measures a network") +
            ", and a model without one decides nothing; ask for 2 ranks or more and all "
            "experiments, or for samples alone: experiments by name, and no model");
  }
  if (spec.runs >= kMinRunsForIntervals) return std::nullopt;
  return invalid_field("spec.runs", "a model needs at least " +
                                        std::to_string(kMinRunsForIntervals) + " runs, not " +
                                        std::to_string(spec.runs));
}

// Points of each grid, which holds those of the coarser ones.
struct GridPoints {
  std::vector<experiment::Point> all;
  std::vector<experiment::Point> core;
  std::vector<experiment::Point> least;
};

GridPoints points_of(const CampaignSpec& spec, const Grids& grids,
                     const std::vector<Experiment>& pruned, bool feeds_model) {
  GridPoints points{.all = grid_points(pruned)};
  // Samples that are asked for by name and fed to no model are all wanted.
  if (!feeds_model) {
    points.core = points.least = points.all;
    return points;
  }
  const auto coarse = prune(pruned, grids.core);
  points.core = grid_points(coarse);
  points.least = grid_points(prune(of_the_network(coarse), grids.least));
  const DrawnShapes shapes(points.all, spec.seed);
  for (auto* const grid : {&points.all, &points.core, &points.least}) shapes.apply(*grid);
  return points;
}

// The points of a run, the coarsest grid first, each part followed by what judges the model with
// it: that goes with the grid that a run is cut down to. `held_out`: null where nothing is judged.
std::vector<experiment::Point> in_order(const GridPoints& points, HeldOutPlan* held_out,
                                        CampaignPlan& plan) {
  std::vector<experiment::Point> ordered;
  const auto append = [&](const std::vector<experiment::Point>& part) {
    ordered.insert(ordered.end(), part.begin(), part.end());
    if (held_out == nullptr) return;
    const auto judged = held_out->with(part);
    ordered.insert(ordered.end(), judged.begin(), judged.end());
  };
  const auto append_in_parts = [&](const std::vector<experiment::Point>& added) {
    for (const auto& part : parts_of(campaign::by_refinement(added))) append(part);
  };
  append(points.least);
  plan.least_points = static_cast<uint32_t>(ordered.size());
  append_in_parts(without(points.core, points.least));
  plan.core_points = static_cast<uint32_t>(ordered.size());
  append_in_parts(without(points.all, points.core));
  return ordered;
}

// On a virtual clock repetitions differ by the profile's jitter only, and each costs the host more
// than it lasts, so fewer are made.
StopRule stop_rule(const CampaignSpec& spec, double point_s) {
  const bool full = spec.effort == Effort::full;
  StopRule rule;
  rule.min_runs = spec.runs;
  rule.time_budget_s = point_s;
  rule.min_reps = full ? 8 : 6;
  rule.max_reps = full ? 200 : 100;
  if (spec.clock == "virtual") rule.max_reps = full ? 40 : 12;
  rule.relative_half_width = full ? 0.02 : 0.05;
  return rule;
}

// The runs with these points, and what they take.
void add_runs(const std::vector<experiment::Point>& points, CampaignPlan& plan) {
  const CampaignSpec& spec = plan.spec;
  const double share_s = kBudgetShare * budget_s(spec) / spec.runs - kRunStartS;
  const double point_s =
      std::clamp(share_s / static_cast<double>(points.size()), kMinPointS, kMaxPointS);
  // A search goes on for as long as it may.
  const bool searches = tunes(spec);
  plan.pace = searches ? campaign::Pace{budget_s(spec), 0} : campaign::Pace{kRunStartS, point_s};
  const double least_s =
      spec.runs * (kRunStartS + static_cast<double>(plan.least_points) * kMinPointS);
  if (least_s > budget_s(spec)) {
    add_note(plan, "may not end in its time budget: " + exact_seconds_text(std::ceil(least_s)) +
                       " are expected at least");
  }
  for (uint32_t run = 1; run <= spec.runs; ++run) {
    Assignment assignment;
    assignment.fabric = spec.fabric;
    assignment.clock = spec.clock;
    assignment.ranks = spec.ranks;
    assignment.run = run;
    assignment.seed = derive_seed(spec.seed, run);
    assignment.deadline_s = searches ? budget_s(spec) : spec.time_budget_s;
    assignment.stop_rule = stop_rule(spec, point_s);
    assignment.points = points;
    plan.runs.push_back(std::move(assignment));
  }
}

}  // namespace

Answer<CampaignPlan> plan_campaign(const CampaignSpec& spec, const std::vector<NodeOffer>& offers) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto nodes, candidates(spec, offers));
  const auto offered = usable_declarations(nodes, spec.nodes);
  STRIPLINE_ASSIGN_OR_RETURN(auto chosen, choose(spec, offered));
  STRIPLINE_ASSIGN_OR_RETURN(const auto experiments, restricted(spec, std::move(chosen)));
  CampaignPlan plan;
  plan.spec = spec;
  if (auto problem = set_places(nodes, experiments, plan)) return std::move(*problem);
  for (const Experiment& experiment : experiments) {
    plan.requirements[experiment.name] = experiment.version;
    plan.feeds_model = plan.feeds_model || (!spec.model.empty() && !experiment.feeds.empty());
  }
  if (plan.feeds_model) {
    if (auto problem = refusal_of_model(spec, experiments)) return std::move(*problem);
  }

  const Grids grids = grids_of(spec);
  const auto pruned = prune(experiments, grids.all);
  // Counted before they are made: agents declare grids of any size.
  const double points_per_run = count_points(pruned);
  if (points_per_run * spec.runs > kMaxPlannedPoints) {
    return invalid_field("spec.runs", std::to_string(spec.runs) + " runs of " +
                                          whole(points_per_run) + " points are more than " +
                                          whole(kMaxPlannedPoints) +
                                          " points in all; ask for fewer runs or experiments");
  }
  const GridPoints points = points_of(spec, grids, pruned, plan.feeds_model);
  HeldOutPlan held_out = held_out_plan(spec, experiments, offered, nodes.size());
  const bool is_judged = plan.feeds_model && !spec.race;
  const auto ordered = in_order(points, is_judged ? &held_out : nullptr, plan);
  for (const auto& point : ordered) {
    if (plan.requirements.contains(point.experiment)) continue;
    plan.requirements[point.experiment] = offered.at(point.experiment).declaration->version;
  }
  if (const double declared = count_points(experiments); points_per_run < declared) {
    add_note(plan, "pruned grid: " + whole(points_per_run) + " of " + whole(declared) +
                       " declared points");
  }
  if (ordered.size() > points.all.size()) {
    add_note(plan, "beside it " + std::to_string(ordered.size() - points.all.size()) +
                       " points that judge the model");
  }
  add_runs(ordered, plan);
  return plan;
}

CampaignRecord record_of(const CampaignPlan& plan) {
  CampaignRecord record;
  record.spec = plan.spec;
  record.requirements = plan.requirements;
  record.feeds_model = plan.feeds_model;
  record.planned_run_s =
      run_seconds(plan.pace, static_cast<double>(plan.runs.front().points.size()));
  return record;
}

RunRecord record_of(const CampaignPlan& plan, const experiment::Assignment& run, int64_t campaign) {
  RunRecord record;
  record.key = {campaign, run.run};
  record.points_all = static_cast<uint32_t>(run.points.size());
  record.points_least = plan.least_points;
  record.points_core = plan.core_points;
  record.points_total = record.points_all;
  return record;
}

}  // namespace stripline::server
