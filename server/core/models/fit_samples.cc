#include "server/core/models/fit_samples.h"

#include <algorithm>
#include <set>
#include <utility>

#include "server/clock.h"

namespace stripline::server {
namespace {

constexpr size_t kBatchesAtOnce = 64;

// Takes the campaign's runs that are among `wanted`, which are numbered from first_run + 1 on.
Status add_samples_of(Store& store, const FittedCampaign& part, const std::vector<RunKey>& wanted,
                      uint32_t first_run, FitJob& job) {
  const int64_t number = part.campaign.number;
  std::set<uint32_t> finished;
  for (const RunRecord& run : part.runs) {
    if (std::ranges::find(wanted, run.key) == wanted.end()) continue;
    finished.insert(run.key.run);
    STRIPLINE_ASSIGN_OR_RETURN(auto nodes, store.attempt_facts(run.key, run.fence));
    if (nodes.empty()) {
      // Measured before attempts had facts.
      for (const std::string& node : run.rank_nodes) {
        STRIPLINE_ASSIGN_OR_RETURN(const auto record, store.node(node));
        if (record) nodes.push_back({run.key, run.fence, node, record->fingerprint});
      }
    }
    for (AttemptFacts& node : nodes) {
      node.run.run += first_run;
      job.input.nodes.push_back(std::move(node));
    }
  }
  job.input.runs += static_cast<uint32_t>(finished.size());
  job.input.seeds.push_back(part.campaign.spec.seed);
  int64_t after = 0;
  while (true) {
    STRIPLINE_ASSIGN_OR_RETURN(auto batches, store.batches(number, after, kBatchesAtOnce));
    if (batches.empty()) return {};
    for (BatchRecord& batch : batches) {
      after = batch.id;
      if (batch.orphan || !finished.contains(batch.run.run)) continue;
      job.batches.push_back({std::move(batch.data), first_run});
    }
  }
}

}  // namespace

Result<FitJob> collect_samples(Store& store, int64_t number) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto campaign, store.campaign(number));
  if (!campaign) return Error(ErrorCode::internal, campaign_name(number) + " is not stored");
  FitJob job;
  job.input.campaigns = {number};
  job.input.spec = campaign->spec;
  job.input.stop_reason = campaign->stop_reason;
  job.input.fitted_at = rfc3339(unix_seconds());
  STRIPLINE_ASSIGN_OR_RETURN(auto runs, store.runs(number));
  const FittedCampaign whole{*campaign, std::move(runs)};
  job.input.planned_points = planned_points({whole});
  STRIPLINE_RETURN_IF_ERROR(
      add_samples_of(store, whole, fitted_runs({"", {number}, {}}, {whole}), 0, job));
  return job;
}

Answer<FitJob> collect_samples(Store& store, const FitOrder& order,
                               const std::vector<FittedCampaign>& parts) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto spec, joint_spec(order, parts));
  FitJob job;
  job.input.campaigns = order.campaigns;
  job.input.spec = spec;
  job.input.stop_reason = joint_stop_reason(parts);
  job.input.planned_points = planned_points(parts);
  job.input.fitted_at = rfc3339(unix_seconds());
  const auto runs = fitted_runs(order, parts);
  uint32_t first_run = 0;
  for (const FittedCampaign& part : parts) {
    STRIPLINE_RETURN_IF_ERROR(add_samples_of(store, part, runs, first_run, job));
    first_run += part.runs.back().key.run;
  }
  return job;
}

}  // namespace stripline::server
