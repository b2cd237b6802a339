#include "server/sentinel_history.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/rfc3339.h"
#include "optimizer/experiment/catalogue.h"
#include "optimizer/fit/sentinels.h"
#include "optimizer/model/model_json.h"
#include "server/clock.h"
#include "server/model_gate.h"
#include "server/names.h"

namespace stripline::server {
namespace {

Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

// What the campaign of a check measured, where the version says what it takes.
Answer<Json> sentinels_of(Store& store, const model::TunedModel& model, const CheckRecord& check) {
  Json list = Json::array();
  const auto campaign = parse_campaign_name(check.campaign);
  if (!campaign) return list;
  PointFilter filter;
  filter.experiment = experiment::micro::kLatency.name;
  const auto points = store.points(*campaign, filter, 0, std::numeric_limits<int64_t>::max());
  if (!points.ok()) return points.error();
  for (const PointRecord& record : *points) {
    const auto expected = fit::expected_time(model, record.point);
    if (!expected || !record.estimate) continue;
    const campaign::Estimate& measured = *record.estimate;
    list.push_back({{"operation", record.point.variant},
                    {"bytes", expected->bytes},
                    {"predicted_s", expected->predicted_s},
                    {"low_s", expected->low_s},
                    {"high_s", expected->high_s},
                    {"measured_s", measured.median},
                    {"measured_low_s", number_or_null(measured.low)},
                    {"measured_high_s", number_or_null(measured.high)},
                    {"outside", fit::is_outside(*expected, measured.median)}});
  }
  return list;
}

}  // namespace

Answer<Json> sentinel_history(Store& store, const ModelVersionRecord& version) {
  const auto content = store.model_content(version.key);
  if (!content.ok()) return content.error();
  const auto model = model::parse_model(*content, version_name(version.key));
  if (!model.ok()) return model.error();
  Json checks = Json::array();
  const size_t first = version.checks.size() - std::min(version.checks.size(), kMostTold);
  for (size_t i = first; i < version.checks.size(); ++i) {
    const CheckRecord& check = version.checks[i];
    auto sentinels = sentinels_of(store, *model, check);
    if (!sentinels) return sentinels.problem();
    checks.push_back({{"campaign", check.campaign},
                      {"time", rfc3339(check.time_unix_s)},
                      {"points", check.reading.points},
                      {"outside", check.reading.outside},
                      {"ratio", check.reading.ratio},
                      {"off", is_off(check.reading)},
                      {"sentinels", std::move(*sentinels)}});
  }
  return Json{{"tolerance", fit::kSentinelTolerance}, {"checks", std::move(checks)}};
}

}  // namespace stripline::server
