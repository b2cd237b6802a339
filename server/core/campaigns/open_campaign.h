// Campaigns that have not ended, as they are in the store: read once, written through. Plain
// values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "optimizer/campaign/next_run.h"
#include "optimizer/campaign/point_table.h"
#include "server/store/records.h"
#include "server/store/store.h"

namespace stripline::server {

struct OpenCampaign {
  CampaignRecord campaign;
  std::vector<RunRecord> runs;
  std::shared_ptr<const campaign::PointTable> points = nullptr;  ///< Once a run has finished.
  std::shared_ptr<const campaign::Next> next = nullptr;          ///< Once it was asked for.
};

/// A campaign in the middle of a step: read, changed, written back.
struct Draft {
  CampaignRecord campaign;
  std::vector<RunRecord> runs;
  std::shared_ptr<const campaign::PointTable> points;
  Changes changes = {};
  /// One of its runs.
  RunRecord& run(uint32_t number) {
    return *std::ranges::find_if(runs, [&](const RunRecord& r) { return r.key.run == number; });
  }
};

}  // namespace stripline::server
