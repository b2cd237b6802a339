#include "optimizer/fit/sentinels.h"

#include <algorithm>
#include <string_view>

#include "optimizer/experiment/catalogue.h"
#include "optimizer/fit/judge_model.h"
#include "optimizer/fit/sample_rules.h"
#include "optimizer/fit/vis_samples.h"
#include "optimizer/model/paths.h"
#include "optimizer/plan/vis.h"

namespace stripline::fit {
namespace {

namespace factor = experiment::factor;
namespace micro = experiment::micro;
namespace variant = experiment::variant;
using experiment::Point;

std::optional<uint64_t> number(const Point& point, const char* name) {
  const auto value = experiment::number_param(point, name);
  if (!value || !(*value >= 1) || !(*value <= kLargestCount)) return std::nullopt;
  return static_cast<uint64_t>(*value);
}

plan::Direction direction_of(const Point& point) {
  return point.variant == std::string_view(variant::kPut) ? plan::Direction::put
                                                          : plan::Direction::get;
}

// The costs of operations between nodes; null where the model has none. What planners need besides,
// such as an overhead, may be missing.
const cost::LinkCosts* link_of(const plan::CompiledModel& model, const Point& point) {
  const plan::StripCosts* const costs = model.strip(model::Path::network);
  const bool is_get = point.variant == std::string_view(variant::kGet);
  const bool is_put = point.variant == std::string_view(variant::kPut);
  if (costs == nullptr || !(is_get || is_put)) return nullptr;
  const cost::LinkCosts& link = is_get ? costs->get() : costs->put();
  return link.blocking(1) > 0 ? &link : nullptr;
}

// By the method of a request whose window, and chunk of packed messages, the point says.
std::optional<ExpectedTime> expected_shape(const plan::CompiledModel& model, const Point& point) {
  const bool is_packed = point.experiment == micro::kVisChunk;
  const auto region_bytes = number(point, factor::kRegionBytes);
  const auto bytes = number(point, factor::kBytes);
  const auto stride = number(point, factor::kStride);
  const auto window = number(point, factor::kWindow);
  const auto chunk = is_packed ? number(point, factor::kChunkBytes) : std::optional<uint64_t>(0);
  const plan::VisCosts* const costs = model.vis(model::Path::network);
  if (costs == nullptr || link_of(model, point) == nullptr || !region_bytes || !bytes || !stride ||
      !window || !chunk || *bytes < 2 * *region_bytes) {
    return std::nullopt;
  }
  const plan::Direction direction = direction_of(point);
  const plan::StripCosts& strip = *model.strip(model::Path::network);
  // Without overheads nothing is said of operations in flight.
  if (!(direction == plan::Direction::put ? strip.has_put() : strip.has_get())) return std::nullopt;
  const plan::VisRequest request = request_of(
      {direction, *region_bytes, *bytes / *region_bytes, *stride},
      plan::ComputeClass::communication_only, std::max<uint64_t>(*chunk, plan::kUsualMessageBytes));
  const plan::VisMethod method = is_packed ? plan::VisMethod::packed : plan::VisMethod::pipelined;
  const plan::VisPlan plan =
      plan::force_vis(request, costs, method, *chunk, static_cast<uint32_t>(*window));
  if (plan.reason != plan::Reason::forced || !(plan.predicted_s > 0)) return std::nullopt;
  ExpectedTime expected{*bytes, plan.predicted_s, plan.predicted_s, plan.predicted_s,
                        Sentinel::shape};
  plan::VisRecord record;
  plan::plan_vis(request, costs, record);
  for (const auto& entry : record.alternatives) {
    const plan::VisAlternative& one = entry.candidate;
    if (one.candidate.method != method || !(one.residual > 0)) continue;
    expected.low_s *= one.residual_low / one.residual;
    expected.high_s *= one.residual_high / one.residual;
  }
  return expected;
}

}  // namespace

std::vector<std::string> sentinel_experiments() {
  return {micro::kLatency.name, micro::kFlood.name, micro::kVisWindow.name, micro::kVisChunk.name};
}

ExpectedTime expected_time(const cost::LinkCosts& costs, uint64_t bytes) {
  const auto at = [&](cost::Corner corner) {
    return costs.at(bytes, corner).blocking(static_cast<double>(bytes));
  };
  return {bytes, costs.blocking(bytes), at(cost::Corner::low), at(cost::Corner::high)};
}

ExpectedTime expected_burst(const cost::LinkCosts& costs, plan::Direction direction, uint64_t bytes,
                            uint64_t count) {
  const auto at = [&](cost::Corner corner) {
    const cost::MessageCosts& m = costs.at(bytes, corner);
    const auto size = static_cast<double>(bytes);
    const double one = m.blocking(size);
    const uint64_t depth = std::max<uint32_t>(1, costs.queue_depth());
    const bool waits = direction == plan::Direction::get && count > depth;
    const double later = waits ? one / static_cast<double>(depth) : 0;
    return one +
           static_cast<double>(std::max<uint64_t>(count, 1) - 1) * std::max(m.stream(size), later);
  };
  return {bytes, at(cost::Corner::nominal), at(cost::Corner::low), at(cost::Corner::high),
          Sentinel::burst};
}

std::optional<ExpectedTime> expected_sentinel(const plan::CompiledModel& model,
                                              const Point& point) {
  if (point.experiment == micro::kVisWindow || point.experiment == micro::kVisChunk) {
    return expected_shape(model, point);
  }
  const bool is_burst = point.experiment == micro::kFlood;
  if (!is_burst && point.experiment != micro::kLatency.name) return std::nullopt;
  const cost::LinkCosts* const link = link_of(model, point);
  const auto bytes = number(point, factor::kBytes);
  if (link == nullptr || !bytes) return std::nullopt;
  if (!is_burst) return expected_time(*link, *bytes);
  const auto count = number(point, factor::kCount);
  if (!count) return std::nullopt;
  return expected_burst(*link, direction_of(point), *bytes, *count);
}

bool is_outside(const ExpectedTime& expected, double measured_s) {
  const double tolerance = expected.kind == Sentinel::size ? kSentinelTolerance : kDeedTolerance;
  return measured_s < expected.low_s * (1 - tolerance) ||
         measured_s > expected.high_s * (1 + tolerance);
}

}  // namespace stripline::fit
