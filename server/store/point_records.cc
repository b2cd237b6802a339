#include "server/store/point_records.h"

#include <utility>

#include "base/json_scan.h"
#include "optimizer/experiment/json.h"

namespace stripline::server {

Result<std::vector<experiment::SampleSeries>> series_of_batch(const std::string& data) {
  JsonScan scan(data);
  std::vector<experiment::SampleSeries> all;
  bool more = scan.take('[');
  bool is_array = more;
  if (more && scan.take(']')) more = false;
  while (more) {
    STRIPLINE_ASSIGN_OR_RETURN(auto series, experiment::sample_series_from_text(scan.value()));
    all.push_back(std::move(series));
    more = scan.take(',');
    is_array = more || scan.take(']');
  }
  if (is_array && scan.at_end()) return all;
  return Error(ErrorCode::data_loss, "sample batch: expected an array of series");
}

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
