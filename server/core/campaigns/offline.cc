#include "server/core/campaigns/offline.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/json.h"
#include "base/quantity.h"
#include "optimizer/campaign/left_out.h"
#include "optimizer/campaign/widths.h"
#include "optimizer/experiment/json.h"
#include "server/store/point_records.h"

namespace stripline::server {
namespace {

// The field of a node that describes it.
constexpr std::string_view kDescription = "description";

Problem bad(const std::string& message) { return invalid_field("results", message); }

// The names of nodes as this server names them.
Answer<std::map<std::string, std::string>> segments_of(const campaign::OfflineRun& run) {
  std::map<std::string, std::string> segments;
  std::set<std::string> unique;
  for (const std::string& node : run.rank_nodes) {
    if (segments.contains(node)) continue;
    segments[node] = to_segment(node);
    if (!unique.insert(segments[node]).second) {
      return bad("two of its nodes are '" + segments[node] + "' by their names");
    }
  }
  return segments;
}

// The spec is one that complete_spec() returned, and the plan is of it.
Answer<CampaignSpec> spec_of(const campaign::PlanBundle& plan) {
  const auto json = parse_json(plan.spec_json, "spec");
  if (!json.ok()) return bad(json.error().message());
  const auto spec = campaign::spec_from_json(*json);
  if (!spec.ok()) return bad(spec.error().message());
  STRIPLINE_ASSIGN_OR_RETURN(const auto completed, complete_spec(*spec));
  const bool is_complete = to_json(completed) == to_json(*spec);
  const experiment::Assignment& assignment = plan.assignment;
  const bool is_of_it = assignment.fabric == spec->fabric && assignment.clock == spec->clock &&
                        assignment.ranks == spec->ranks && plan.rule.nodes == spec->nodes &&
                        plan.rule.runs == spec->runs && plan.seed == spec->seed &&
                        (!plan.feeds_model || !spec->model.empty());
  if (is_complete && is_of_it) return *spec;
  return bad("its plan is not what a server makes of its request; export the plan again");
}

class Import {
 public:
  Import(const campaign::OfflineResults& results, uint64_t fence, double time_unix_s)
      : results_(results), plan_(results.plan), fence_(fence), time_unix_s_(time_unix_s) {}

  Answer<ImportedCampaign> records(int64_t number) {
    STRIPLINE_ASSIGN_OR_RETURN(auto spec, spec_of(plan_));
    const uint32_t fewest =
        std::max(plan_.rule.fewest_runs, plan_.feeds_model ? kMinRunsForProvisional : 1);
    if (results_.runs.size() < fewest) {
      return Problem{ErrorCode::failed_precondition,
                     "TOO_FEW_RUNS",
                     "the results hold " + count_text(results_.runs.size(), "run") + ", and " +
                         std::to_string(fewest) +
                         " are needed; 'stripline campaign run-plan' goes on with them",
                     {}};
    }
    all_.campaign.number = number;
    all_.campaign.spec = std::move(spec);
    all_.campaign.spec.left_out = results_.left_out;
    all_.points = campaign::PointTable(plan_.assignment.points);
    all_.changes.points.push_back({number, plan_.assignment.points});
    for (uint32_t run = 1; run <= std::max<size_t>(results_.runs.size(), plan_.rule.runs); ++run) {
      add_run(run);
      if (run > results_.runs.size()) continue;
      if (auto problem = add_results(results_.runs[run - 1], run)) return *std::move(problem);
    }
    const auto known = static_cast<uint32_t>(plan_.assignment.points.size());
    const auto& points = all_.points.points();
    if (points.size() > known) {
      CampaignPoints added{number, {}, known};
      for (size_t at = known; at < points.size(); ++at) added.points.push_back(points[at].point);
      all_.changes.points.push_back(std::move(added));
    }
    for (uint32_t place = 0; place < points.size(); ++place) {
      if (points[place].runs() == 0) continue;
      all_.changes.point_updates.push_back(update_of(number, all_.points, place));
    }
    complete_campaign();
    return std::move(all_);
  }

 private:
  RunKey key(uint32_t run) const { return {all_.campaign.number, run}; }

  // Adds a run as it was planned.
  void add_run(uint32_t run) {
    RunRecord record;
    record.key = key(run);
    record.state = RunState::cancelled;
    record.points_least = plan_.rule.least_points;
    record.points_core = plan_.rule.core_points;
    record.points_all = record.points_total = plan_.rule.all_points;
    all_.runs.push_back(record);
    campaign::Next whole;
    whole.grid = plan_.rule.all_points;
    auto assignment = campaign::assignment_of(plan_, all_.points, whole, run);
    assignment.name = run_name(record.key);
    all_.changes.plans.push_back({record.key, experiment::to_json(assignment).dump()});
  }

  std::optional<Problem> add_results(const campaign::OfflineRun& run, uint32_t number) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto segments, segments_of(run));
    RunRecord& record = all_.runs.back();
    record.state = RunState::finished;
    record.fence = fence_;
    record.grid = run.grid;
    record.points_done = record.points_total = run.points();
    record.points_all = std::max(record.points_all, record.points_total);
    record.duration_s = run.duration_s;
    record.start_s = run.start_s;
    for (const std::string& node : run.rank_nodes) record.rank_nodes.push_back(segments.at(node));
    all_.changes.attempts.push_back({record.key, fence_, record.rank_nodes.front(), {}, {}});
    for (const auto& [node, facts] : run.facts) {
      all_.changes.facts.push_back({record.key, fence_, segments.at(node), facts});
    }
    for (const experiment::Point& point : run.added) all_.points.add(point);
    std::vector<experiment::SampleSeries> all;
    uint64_t seq = 0;
    for (const auto& batch : run.batches) {
      BatchRecord stored;
      stored.run = record.key;
      stored.fence = fence_;
      stored.seq = ++seq;
      stored.received_unix_s = time_unix_s_;
      Json list = Json::array();
      for (const auto& series : batch) {
        stored.samples += series.values.size();
        list.push_back(experiment::to_json(series));
        all.push_back(series);
      }
      stored.data = list.dump();
      all_.campaign.samples += stored.samples;
      all_.changes.batches.push_back(std::move(stored));
    }
    add_samples(all_.points, number, all);
    return std::nullopt;
  }

  void complete_campaign() {
    CampaignRecord& campaign = all_.campaign;
    campaign.created_unix_s = time_unix_s_;
    campaign.requirements = plan_.requirements;
    campaign.feeds_model = plan_.feeds_model;
    campaign.planned_run_s = plan_.planned_run_s;
    campaign.measured_s = results_.spent_s;
    campaign.width = campaign::achieved_width(all_.points);
    campaign.stop_reason = to_string(results_.reason);
    campaign.state = campaign.feeds_model ? CampaignState::fitting : CampaignState::succeeded;
    campaign.message = "imported: " + std::to_string(results_.runs.size()) + " of " +
                       std::to_string(all_.runs.size()) + " runs, measured without a server";
    if (!plan_.origin.empty()) campaign.message += " by the plan of " + plan_.origin;
    campaign.message += campaign::left_out_text(results_.left_out);
    campaign.message += campaign.feeds_model ? "; fitting the model" : "; no model was asked for";
  }

  const campaign::OfflineResults& results_;
  const campaign::PlanBundle& plan_;
  const uint64_t fence_;
  const double time_unix_s_;
  ImportedCampaign all_;
};

}  // namespace

campaign::PlanBundle bundle_of(const CampaignRecord& record, const campaign::Rule& rule,
                               experiment::Assignment first,
                               std::vector<experiment::Point> points) {
  campaign::PlanBundle bundle;
  if (record.number > 0) bundle.origin = campaign_name(record.number);
  bundle.spec_json = dumped(to_json(record.spec));
  bundle.requirements = record.requirements;
  bundle.feeds_model = record.feeds_model;
  bundle.planned_run_s = record.planned_run_s;
  bundle.rule = rule;
  bundle.seed = record.spec.seed;
  bundle.assignment = std::move(first);
  bundle.assignment.name.clear();
  bundle.assignment.points = std::move(points);
  return bundle;
}

Answer<NodeOffer> offer_of_description(std::string_view description) {
  const auto wrong = [](const std::string& why) {
    return invalid_field("node_description",
                         why + "; it is what 'stripline-worker --describe' prints");
  };
  const auto json = parse_json(description, kDescription);
  if (!json.ok()) return wrong(json.error().message());
  NodeOffer offer;
  const auto fabrics = get_array(*json, "fabrics", kDescription);
  if (!fabrics.ok()) return wrong(fabrics.error().message());
  for (const Json& fabric : **fabrics) {
    if (!fabric.is_string()) return wrong("a fabric's name is not a string");
    offer.fabrics.push_back(fabric.get<std::string>());
  }
  const auto experiments = get_array(*json, "experiments", kDescription);
  if (!experiments.ok()) return wrong(experiments.error().message());
  std::vector<experiment::Experiment> declared;
  for (const Json& one : **experiments) {
    auto read = experiment::experiment_from_json(one);
    if (!read.ok()) return wrong(read.error().message());
    declared.push_back(*std::move(read));
  }
  offer.experiments =
      std::make_shared<const std::vector<experiment::Experiment>>(std::move(declared));
  return offer;
}

Answer<ImportedCampaign> imported(const campaign::OfflineResults& results, int64_t number,
                                  uint64_t fence, double time_unix_s) {
  return Import(results, fence, time_unix_s).records(number);
}

}  // namespace stripline::server
