// A store that holds campaigns on synthetic machines, and versions of a model that was fitted to
// them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/json.h"
#include "optimizer/experiment/held_out.h"
#include "optimizer/experiment/json.h"
#include "server/core/models/fit_job.h"
#include "server/testing/store_fixture.h"
#include "server/testing/synthetic_machine.h"

namespace stripline::server {

class TunedStoreTest : public StoreTest {
 protected:
  // A finished campaign on this machine, with its samples.
  void measure_campaign(int64_t number, const SyntheticMachine& machine) {
    CampaignRecord record = campaign(number);
    record.state = CampaignState::succeeded;
    Changes changes;
    changes.campaigns.push_back(record);
    for (uint32_t index = 1; index <= 6; ++index) {
      RunRecord finished = run(number, index);
      finished.state = RunState::finished;
      finished.fence = 1;
      changes.runs.push_back(finished);
      Json series = Json::array();
      for (const experiment::SampleSeries& one : series_of(machine, index)) {
        series.push_back(experiment::to_json(one));
      }
      for (const experiment::SampleSeries& one : held_out_of(machine, record.spec.seed, index)) {
        series.push_back(experiment::to_json(one));
      }
      BatchRecord stored = batch({number, index}, 1, 1);
      stored.data = series.dump();
      changes.batches.push_back(stored);
    }
    apply(changes);
  }

  static std::vector<experiment::SampleSeries> series_of(const SyntheticMachine& machine,
                                                         uint32_t index) {
    std::vector<experiment::SampleSeries> series;
    for (int64_t bytes = 8; bytes <= 1 << 20; bytes *= 2) {
      series.push_back(
          measure(machine, {"micro.latency", "get", {{"bytes", bytes}}}, index, index));
    }
    return series;
  }

  // What a campaign judges models by: sizes and windows.
  static std::vector<experiment::SampleSeries> held_out_of(const SyntheticMachine& machine,
                                                           uint64_t seed, uint32_t index) {
    std::vector<experiment::SampleSeries> series;
    for (size_t problem = 0; problem < 36; ++problem) {
      const auto drawn = experiment::draw_held_out(seed, 2, problem);
      if (drawn.kind != experiment::HeldOutKind::size &&
          drawn.kind != experiment::HeldOutKind::window) {
        continue;
      }
      for (const experiment::Point& point : drawn.points) {
        series.push_back(measure(machine, point, index, index));
      }
    }
    return series;
  }

  static FittedModel fitted() {
    FitInput input;
    input.campaigns = {1};
    input.spec.fabric = "tcp";
    input.spec.model = "models/tcp";
    input.spec.runs = input.runs = 6;
    input.spec.ranks = 2;
    input.fitted_at = "2026-01-01T00:00:00Z";
    for (uint32_t index = 1; index <= 6; ++index) {
      for (auto& one : series_of(SyntheticMachine(), index)) input.series.push_back(one);
    }
    auto model = fit_campaign(input);
    EXPECT_TRUE(model.ok()) << model.error().message();
    return *model;
  }

  // A version as a campaign publishes it.
  std::string published(int64_t number, double regret) {
    const FittedModel model = fitted();
    NewModelVersion version;
    version.record.key = {"tcp", number};
    version.record.sha256 = model.sha256;
    version.record.campaigns = {"campaigns/c1"};
    version.record.findings = model.findings;
    version.fabric = "tcp";
    version.content = model.content;
    Changes changes;
    changes.versions.push_back(version);
    changes.validations.push_back({{"tcp", number}, 5, {}, {9, 0.02, 0.03, 10, regret, regret}});
    apply(changes);
    return version_name(version.record.key);
  }
};

}  // namespace stripline::server
