#include "server/store/point_records.h"

#include <bit>
#include <utility>

#include "base/json_scan.h"
#include "optimizer/experiment/json.h"

namespace stripline::server {
namespace {

constexpr size_t kBytesOfMedian = sizeof(double);

}  // namespace

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

PointUpdate update_of(int64_t campaign, const campaign::PointTable& table, uint32_t place) {
  const campaign::PointStatus& point = table.points().at(place);
  PointUpdate update{campaign,
                     {place, point.point, point.runs(), point.failed, point.samples,
                      estimate_of(point, campaign::kPointConfidence)}};
  for (const auto& [run, median] : point.medians) update.medians.push_back(median);
  return update;
}

std::string bytes_of_medians(std::span<const double> medians) {
  std::string bytes;
  bytes.reserve(kBytesOfMedian * medians.size());
  for (const double median : medians) {
    const auto bits = std::bit_cast<uint64_t>(median);
    for (size_t i = 0; i < kBytesOfMedian; ++i) bytes += static_cast<char>(bits >> (8 * i));
  }
  return bytes;
}

Result<std::vector<double>> medians_of_bytes(std::string_view bytes) {
  if (bytes.size() % kBytesOfMedian != 0) {
    return Error(ErrorCode::data_loss,
                 "stored point: its medians have " + std::to_string(bytes.size()) +
                     " bytes, and each of them " + std::to_string(kBytesOfMedian));
  }
  std::vector<double> medians;
  medians.reserve(bytes.size() / kBytesOfMedian);
  for (size_t at = 0; at < bytes.size(); at += kBytesOfMedian) {
    uint64_t bits = 0;
    for (size_t i = 0; i < kBytesOfMedian; ++i) {
      bits |= uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
    }
    medians.push_back(std::bit_cast<double>(bits));
  }
  return medians;
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
