#include "server/core/models/sentinel_history.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/rfc3339.h"
#include "optimizer/experiment/catalogue.h"
#include "optimizer/fit/sentinels.h"
#include "optimizer/model/model_json.h"
#include "server/clock.h"
#include "server/core/models/model_gate.h"
#include "server/store/names.h"

namespace stripline::server {
namespace {

Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

// "get", "64 times get", "put in regions of 32 B, window 8": sentinels of one size that differ in
// it are different ones.
std::string operation_text(const experiment::Point& point, fit::Sentinel kind) {
  namespace factor = experiment::factor;
  const auto number = [&](const char* name) {
    return std::to_string(std::llround(experiment::number_param(point, name).value_or(0)));
  };
  if (kind == fit::Sentinel::size) return point.variant;
  if (kind == fit::Sentinel::burst) return number(factor::kCount) + " times " + point.variant;
  std::string text = point.variant + " in regions of " + number(factor::kRegionBytes) +
                     " B, window " + number(factor::kWindow);
  if (experiment::number_param(point, factor::kChunkBytes)) {
    text += ", packed in " + number(factor::kChunkBytes) + " B";
  }
  return text;
}

// What the campaign of a check measured, where the version says what it takes.
Answer<Json> sentinels_of(Store& store, const plan::CompiledModel& model,
                          const CheckRecord& check) {
  Json list = Json::array();
  const auto campaign = parse_campaign_name(check.campaign);
  if (!campaign) return list;
  STRIPLINE_ASSIGN_OR_RETURN(const auto points,
                             store.points(*campaign, {}, 0, std::numeric_limits<int64_t>::max()));
  for (const PointRecord& record : points) {
    const auto expected = fit::expected_sentinel(model, record.point);
    if (!expected || !record.estimate) continue;
    const campaign::Estimate& measured = *record.estimate;
    list.push_back({{"operation", operation_text(record.point, expected->kind)},
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
  // Settings of another runtime predict no times: they are validated as a whole.
  const bool of_settings = version.validation && version.validation->judgement.settings;
  std::optional<plan::CompiledModel> compiled;
  if (!of_settings) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto content, store.model_content(version.key));
    STRIPLINE_ASSIGN_OR_RETURN(const auto model,
                               model::parse_model(content, version_name(version.key)));
    compiled.emplace(model);
  }
  Json checks = Json::array();
  const size_t first = version.checks.size() - std::min(version.checks.size(), kMaxTold);
  for (size_t i = first; i < version.checks.size(); ++i) {
    const CheckRecord& check = version.checks[i];
    Json sentinels = Json::array();
    if (compiled) {
      STRIPLINE_ASSIGN_OR_RETURN(sentinels, sentinels_of(store, *compiled, check));
    }
    checks.push_back({{"campaign", check.campaign},
                      {"time", rfc3339(check.time_unix_s)},
                      {"points", check.reading.points},
                      {"outside", check.reading.outside},
                      {"bursts", check.reading.bursts},
                      {"bursts_outside", check.reading.bursts_outside},
                      {"shapes", check.reading.shapes},
                      {"shapes_outside", check.reading.shapes_outside},
                      {"ratio", check.reading.ratio},
                      {"off", is_off(check.reading)},
                      {"sentinels", std::move(sentinels)}});
  }
  return Json{{"tolerance", fit::kSentinelTolerance}, {"checks", std::move(checks)}};
}

}  // namespace stripline::server
