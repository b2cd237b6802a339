// What finished runs have said of a campaign's points whose medians are not stored with them, as of
// before they were: read from the samples, and kept from one comparison to the next. A run's
// samples are read once, and a few bytes of each point are remembered.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/result.h"
#include "optimizer/campaign/point_table.h"
#include "server/store/records.h"
#include "server/store/store.h"

namespace stripline::server {

class RunResults {
 public:
  /// Remembers results of at most `most_bytes` in all; those used longest ago are given up.
  explicit RunResults(size_t most_bytes) : most_bytes_(most_bytes) {}

  /// The campaign's points with what its finished runs among these have said, as measured_points().
  /// Reads a few batches at a time, and none of runs whose results it remembers. Errors: the
  /// store's; data_loss.
  Result<campaign::PointTable> points_of(Store& store, int64_t campaign,
                                         const std::vector<RunRecord>& runs);

  size_t bytes();

 private:
  // A finished attempt at a run: its results never change.
  using Key = std::pair<std::pair<int64_t, uint32_t>, uint64_t>;
  using Results = std::shared_ptr<const std::vector<campaign::PointResult>>;
  struct Entry {
    Results results;
    uint64_t used = 0;
  };

  Results find(const Key& key);
  void keep(const Key& key, const Results& results);

  const size_t most_bytes_;
  std::mutex mutex_;
  size_t bytes_ = 0;
  uint64_t uses_ = 0;
  std::map<Key, Entry> entries_;
};

}  // namespace stripline::server
