// What is known of each point of a campaign so far: its median over runs with an interval. Samples
// are added as they come, so that looking again costs what is new.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/json.h"
#include "base/result.h"
#include "optimizer/experiment/experiment.h"
#include "server/store.h"

namespace stripline::server {

class PointSummaries {
 public:
  /// Reads the batches of the campaign that have come since. Orphans do not count. Errors: the
  /// store's; data_loss.
  Status catch_up(Store& store, int64_t campaign);

  /// {"points": [{"experiment", "variant", "params", "runs", "samples", "failed", "median", "low",
  /// "high"}]}, in order of experiment, variant and parameters. The interval is the 95 % one over
  /// run medians; null with fewer than two runs. `failed` counts series that failed verification
  /// or have no samples: they are in no other figure.
  Json to_json() const;

  /// Grows with what to_json() tells.
  int64_t last_batch() const { return last_batch_; }

 private:
  struct Summary {
    experiment::Point point;
    std::map<uint32_t, std::pair<double, size_t>> medians;  // by run, with their samples
    uint32_t failed = 0;
  };
  void add(const experiment::SampleSeries& series);

  std::map<std::string, Summary> points_;
  int64_t last_batch_ = 0;
};

}  // namespace stripline::server
