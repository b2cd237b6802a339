#include "server/point_records.h"

namespace stripline::server {

PointRecord record_of(const campaign::PointTable& table, uint32_t place) {
  const campaign::PointStatus& point = table.points().at(place);
  return {place,        point.point,   point.runs(),
          point.failed, point.samples, estimate_of(point, campaign::kPointConfidence)};
}

void add_samples(campaign::PointTable& table, uint32_t run,
                 const std::vector<experiment::SampleSeries>& series) {
  std::vector<campaign::PointResult> results;
  for (const experiment::SampleSeries& one : series) {
    if (const auto place = table.find(one.point)) {
      results.push_back(campaign::result_of(one, *place));
    }
  }
  table.add_run(run, results);
}

}  // namespace stripline::server
