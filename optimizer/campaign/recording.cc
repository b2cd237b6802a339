#include "optimizer/campaign/recording.h"

#include <string>
#include <utility>

#include "base/json.h"
#include "optimizer/experiment/json.h"

namespace stripline::campaign {
namespace {

// Nullopt for an orphan.
Result<std::optional<experiment::SampleSeries>> read_line(std::string_view line,
                                                          const std::string& what) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json json, parse_json(line, what));
  if (json.is_object() && json.value("orphan", Json(false)) == Json(true)) {
    return std::optional<experiment::SampleSeries>();
  }
  auto series = experiment::sample_series_from_json(json);
  if (!series.ok()) return Error(series.error().code(), what + ": " + series.error().message());
  return std::optional(std::move(*series));
}

}  // namespace

double Recording::seconds() const {
  double sum = 0;
  for (const auto& [run, results] : runs) {
    for (const auto& [place, result] : results) sum += result.seconds;
  }
  return sum;
}

Result<Recording> read_recording(std::string_view json_lines) {
  Recording recording;
  PointTable table;
  size_t number = 0;
  while (!json_lines.empty()) {
    const size_t end = json_lines.find('\n');
    const std::string_view line = json_lines.substr(0, end);
    json_lines.remove_prefix(end == std::string_view::npos ? json_lines.size() : end + 1);
    ++number;
    if (line.empty()) continue;
    STRIPLINE_ASSIGN_OR_RETURN(const auto series,
                               read_line(line, "line " + std::to_string(number)));
    if (!series) continue;
    const auto known = table.find(series->point);
    const uint32_t place = known ? *known : table.add(series->point);
    recording.runs[series->run][place] = result_of(*series, place);
  }
  if (recording.runs.empty()) {
    return Error(ErrorCode::failed_precondition,
                 "the recording holds no samples; 'stripline campaign export' writes one");
  }
  for (const PointStatus& status : table.points()) recording.points.push_back(status.point);
  return recording;
}

}  // namespace stripline::campaign
