#include "tests/load/measured_history.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "optimizer/experiment/json.h"
#include "server/clock.h"
#include "server/store/sqlite_store.h"

namespace stripline::load {
namespace {

constexpr uint32_t kRuns = 2;
constexpr uint32_t kPointsOfStep = 10'000;
constexpr uint32_t kPointsOfBatch = 1000;
constexpr uint32_t kSamples = 3;  // of a point in a run
constexpr int64_t kCampaignsOfStep = 200;

experiment::Point point_at(uint32_t place) {
  static const std::vector<std::string> kVariants = {"put", "get", "am", "cma"};
  const uint32_t of_variant = place / static_cast<uint32_t>(kVariants.size());
  return {
      kHistoryExperiment,
      kVariants[place % kVariants.size()],
      {{"bytes", int64_t{8} * (1 + of_variant % 250)}, {"window", int64_t{1} + of_variant / 250}}};
}

// The time of a point in the campaign with this number: every third point takes a fifth longer in
// every second campaign.
double time_s(int64_t campaign, uint32_t place) {
  const double usual_s = 1e-6 * (1 + place % 7);
  return campaign % 2 == 0 && place % 3 == 0 ? 1.2 * usual_s : usual_s;
}

// The samples of a run, in ascending order.
double sample_s(int64_t campaign, uint32_t run, uint32_t place, uint32_t sample) {
  return time_s(campaign, place) * (1 + 0.001 * (sample + run));
}

server::CampaignRecord ended(int64_t number, uint64_t samples, double now_unix_s) {
  server::CampaignRecord record;
  record.number = number;
  record.spec = *server::complete_spec({.fabric = "emulated:cloud-ethernet",
                                        .effort = server::Effort::full,
                                        .experiments = {kHistoryExperiment},
                                        .runs = kRuns});
  record.state = server::CampaignState::succeeded;
  record.message = "done";
  record.created_unix_s = now_unix_s - 3600;
  record.updated_unix_s = now_unix_s;
  record.owner = "users/a";
  record.requirements = {{kHistoryExperiment, 1}};
  record.feeds_model = false;
  record.samples = samples;
  record.stop_reason = "MAX_RUNS";
  record.labels = {"night-" + std::to_string(number % 30)};
  return record;
}

server::RunRecord finished(int64_t campaign, uint32_t run, uint32_t points) {
  server::RunRecord record;
  record.key = {campaign, run};
  record.state = server::RunState::finished;
  record.fence = 1;
  record.rank_nodes = {"a", "b"};
  record.points_done = record.points_total = record.points_least = record.points_core =
      record.points_all = record.grid = points;
  record.duration_s = 60;
  return record;
}

// What is known of a point once both runs have measured it.
server::PointUpdate known(int64_t campaign, uint32_t place) {
  const double median_s = time_s(campaign, place);
  server::PointUpdate update;
  update.campaign = campaign;
  update.now.place = place;
  update.now.runs = kRuns;
  update.now.samples = uint64_t{kRuns} * kSamples;
  update.now.estimate = stripline::campaign::Estimate{median_s, 0.98 * median_s,
                                                      (1.01 + place % 5 / 10.0) * median_s};
  for (uint32_t run = 1; run <= kRuns; ++run) {
    update.medians.push_back(sample_s(campaign, run, place, kSamples / 2));
  }
  return update;
}

server::BatchRecord batch_of(int64_t campaign, uint32_t run, uint32_t first, uint32_t end) {
  Json all = Json::array();
  for (uint32_t place = first; place < end; ++place) {
    experiment::SampleSeries series;
    series.point = point_at(place);
    series.run = run;
    series.verified = true;
    for (uint32_t i = 0; i < kSamples; ++i) {
      series.values.push_back(sample_s(campaign, run, place, i));
      series.timestamps_s.push_back(1e-3 * (i + 1));
    }
    all.push_back(experiment::to_json(series));
  }
  server::BatchRecord batch;
  batch.run = {campaign, run};
  batch.fence = 1;
  batch.seq = first / kPointsOfBatch + 1;
  batch.samples = uint64_t{end - first} * kSamples;
  batch.data = all.dump();
  return batch;
}

Status fill_points(server::Store& store, int64_t campaign, uint32_t points) {
  for (uint32_t first = 0; first < points; first += kPointsOfStep) {
    const uint32_t end = std::min(points, first + kPointsOfStep);
    server::Changes step;
    server::CampaignPoints& added = step.points.emplace_back();
    added.campaign = campaign;
    added.first = first;
    for (uint32_t place = first; place < end; ++place) {
      added.points.push_back(point_at(place));
      step.point_updates.push_back(known(campaign, place));
    }
    for (uint32_t run = 1; run <= kRuns; ++run) {
      for (uint32_t from = first; from < end; from += kPointsOfBatch) {
        step.batches.push_back(batch_of(campaign, run, from, std::min(end, from + kPointsOfBatch)));
      }
    }
    STRIPLINE_RETURN_IF_ERROR(store.apply(step));
  }
  return {};
}

}  // namespace

Status fill_with_history(const std::filesystem::path& database, int64_t campaigns,
                         uint32_t points) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::unique_ptr<server::Store> store,
                             server::open_sqlite_store(database));
  const double now_unix_s = server::unix_seconds();
  for (int64_t number = 1; number <= campaigns;) {
    server::Changes step;
    const int64_t end = std::min(campaigns + 1, number + kCampaignsOfStep);
    for (; number < end; ++number) {
      const bool large = number > campaigns - 2;
      const uint32_t of_this = large ? points : 1;
      step.campaigns.push_back(ended(number, uint64_t{of_this} * kRuns * kSamples, now_unix_s));
      for (uint32_t run = 1; run <= kRuns; ++run) {
        step.runs.push_back(finished(number, run, of_this));
        step.attempts.push_back({{number, run}, 1, "a"});
      }
    }
    STRIPLINE_RETURN_IF_ERROR(store->apply(step));
  }
  for (int64_t number = campaigns - 1; number <= campaigns; ++number) {
    STRIPLINE_RETURN_IF_ERROR(fill_points(*store, number, points));
  }
  return {};
}

}  // namespace stripline::load
