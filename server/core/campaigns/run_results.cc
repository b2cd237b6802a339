#include "server/core/campaigns/run_results.h"

#include <algorithm>

#include "server/store/point_records.h"

namespace stripline::server {
namespace {

// A batch has 4 MiB at most.
constexpr size_t kBatchesOfPage = 4;
constexpr size_t kPointsOfPage = 1000;

size_t size_of(const std::vector<campaign::PointResult>& results) {
  return results.size() * sizeof(campaign::PointResult);
}

Result<campaign::PointTable> table_of(Store& store, int64_t campaign) {
  std::vector<experiment::Point> points;
  uint32_t from = 0;
  while (true) {
    STRIPLINE_ASSIGN_OR_RETURN(auto page, store.points(campaign, {}, from, kPointsOfPage));
    for (PointRecord& one : page) {
      from = one.place + 1;
      points.push_back(std::move(one.point));
    }
    if (page.size() < kPointsOfPage) return campaign::PointTable(std::move(points));
  }
}

}  // namespace

Result<campaign::PointTable> RunResults::points_of(Store& store, int64_t campaign,
                                                   const std::vector<RunRecord>& runs) {
  STRIPLINE_ASSIGN_OR_RETURN(campaign::PointTable table, table_of(store, campaign));
  std::map<Key, Results> known;
  std::map<Key, std::vector<campaign::PointResult>> read;
  for (const RunRecord& run : runs) {
    if (run.state != RunState::finished) continue;
    const Key key{{run.key.campaign, run.key.run}, run.fence};
    if (auto results = find(key)) {
      known.emplace(key, std::move(results));
    } else {
      read.try_emplace(key);
    }
  }
  for (int64_t after = 0; !read.empty();) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto batches, store.batches(campaign, after, kBatchesOfPage));
    for (const BatchRecord& batch : batches) {
      after = batch.id;
      const auto wanted = read.find({{batch.run.campaign, batch.run.run}, batch.fence});
      if (wanted == read.end()) continue;
      STRIPLINE_ASSIGN_OR_RETURN(const auto series, series_of_batch(batch.data));
      for (const experiment::SampleSeries& one : series) {
        if (const auto place = table.find(one.point)) {
          wanted->second.push_back(campaign::result_of(one, *place));
        }
      }
    }
    if (batches.size() < kBatchesOfPage) break;
  }
  for (auto& [key, results] : read) {
    const auto kept =
        std::make_shared<const std::vector<campaign::PointResult>>(std::move(results));
    keep(key, kept);
    known.emplace(key, kept);
  }
  for (const auto& [key, results] : known) table.add_run(key.first.second, *results);
  return table;
}

RunResults::Results RunResults::find(const Key& key) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  found->second.used = ++uses_;
  return found->second.results;
}

void RunResults::keep(const Key& key, const Results& results) {
  const size_t bytes = size_of(*results);
  if (bytes > most_bytes_) return;
  const std::lock_guard lock(mutex_);
  if (!entries_.try_emplace(key, Entry{results, ++uses_}).second) return;
  bytes_ += bytes;
  while (bytes_ > most_bytes_) {
    const auto oldest =
        std::ranges::min_element(entries_, {}, [](const auto& entry) { return entry.second.used; });
    bytes_ -= size_of(*oldest->second.results);
    entries_.erase(oldest);
  }
}

size_t RunResults::bytes() {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace stripline::server
