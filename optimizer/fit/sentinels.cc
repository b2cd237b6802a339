#include "optimizer/fit/sentinels.h"

#include <string_view>

#include "optimizer/experiment/catalogue.h"
#include "optimizer/fit/judge_model.h"
#include "optimizer/model/paths.h"

namespace stripline::fit {

ExpectedTime expected_time(const cost::LinkCosts& costs, uint64_t bytes) {
  const auto at = [&](cost::Corner corner) {
    return costs.at(bytes, corner).blocking(static_cast<double>(bytes));
  };
  return {bytes, costs.blocking(bytes), at(cost::Corner::low), at(cost::Corner::high)};
}

std::optional<ExpectedTime> expected_time(const model::TunedModel& model,
                                          const experiment::Point& point) {
  namespace variant = experiment::variant;
  const bool is_get = point.variant == std::string_view(variant::kGet);
  if (point.experiment != experiment::micro::kLatency.name ||
      !(is_get || point.variant == std::string_view(variant::kPut))) {
    return std::nullopt;
  }
  const auto bytes = experiment::number_param(point, experiment::factor::kBytes);
  const auto* const path = model::find_path(model, model::Path::network);
  if (path == nullptr || !bytes || !(*bytes >= 1)) return std::nullopt;
  const auto& operation = is_get ? path->second.get : path->second.put;
  if (!operation) return std::nullopt;
  return expected_time(cost::LinkCosts(*operation), static_cast<uint64_t>(*bytes));
}

bool is_outside(const ExpectedTime& expected, double measured_s) {
  return measured_s < expected.low_s * (1 - kSentinelTolerance) ||
         measured_s > expected.high_s * (1 + kSentinelTolerance);
}

}  // namespace stripline::fit
