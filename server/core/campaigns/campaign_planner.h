// From what a user asks and what agents offer to the runs of a campaign. Pure: declarations are
// data, so the server plans experiments whose code it does not have.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/campaign/pace.h"
#include "optimizer/campaign/pair_sampling.h"
#include "optimizer/experiment/experiment.h"
#include "server/problem.h"
#include "server/store/campaign_spec.h"
#include "server/store/names.h"
#include "server/store/records.h"

namespace stripline::server {

/// What a connected node can do.
struct NodeOffer {
  std::string node;  ///< without "nodes/"
  std::vector<std::string> fabrics;
  std::shared_ptr<const std::vector<experiment::Experiment>> experiments;  ///< Shared by nodes.
  std::string cluster = kDefaultCluster;
  std::string switches = {};  ///< Above it; empty: no one knows.
  uint32_t max_ranks = 0;     ///< That it has room for; 0: not known.
};

struct CampaignPlan {
  CampaignSpec spec;  ///< complete, with a cluster
  /// Name and version of each experiment; a node must offer all of them to take part.
  std::map<std::string, int64_t> requirements;
  bool feeds_model = false;  ///< A model is asked for, and some experiment feeds it.
  /// One per run, with names and fences left empty. `run` counts from 1. Every run has the same
  /// points, the coarse grid first: the first `least_points` are the coarsest grid, the first
  /// `core_points` the coarse one. A run that has no time for all measures one of these prefixes
  /// (scheduler.h, run_order.h). Within what it measures the order is the worker's, which shuffles
  /// by the run's seed.
  std::vector<experiment::Assignment> runs;
  uint32_t least_points = 0;
  uint32_t core_points = 0;
  campaign::Pace pace;    ///< Estimate for each run.
  size_t able_nodes = 0;  ///< Nodes that could take part now.
  /// The pairs there are, where runs take pairs.
  std::optional<campaign::NetworkPlaces> pairs;
  std::string note;  ///< For a person: how the grids were pruned, a hopeless budget; or empty.
};

/// Plans a completed spec. Experiments: those named, or all that feed a model parameter and accept
/// the number of ranks, with those between ranks of one node only where paths between them are
/// asked for. Of several versions of an experiment the newest that enough nodes offer is taken.
/// Problems: UNSUPPORTED_FABRIC and NOT_ENOUGH_NODES when the offers can never run it,
/// UNKNOWN_EXPERIMENT, INVALID_FIELD.
///
/// A budgeted campaign thins the grids and divides most of its time budget among runs and points;
/// a full one measures the declared grids. The figures are in campaign_planner.cc and explained in
/// docs/campaigns.md.
Answer<CampaignPlan> plan_campaign(const CampaignSpec& spec, const std::vector<NodeOffer>& offers);

/// What would be stored of a planned campaign, which has no number yet, and of one of its runs.
CampaignRecord record_of(const CampaignPlan& plan);
RunRecord record_of(const CampaignPlan& plan, const experiment::Assignment& run, int64_t campaign);

}  // namespace stripline::server
