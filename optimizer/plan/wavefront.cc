#include "optimizer/plan/wavefront.h"

#include <algorithm>
#include <optional>

#include "optimizer/plan/perturbed.h"
#include "optimizer/plan/wavefront_mechanism.h"

namespace stripline::plan {
namespace {

using cost::Corner;
using cost::MessageCosts;

MessageCosts put_at(const StripCosts& costs, uint64_t bytes, const Ends& ends) {
  return detail::at_ends(costs.put().at(bytes), costs.put().at(bytes, ends.corner), ends);
}

WavefrontTime time_of(const WavefrontRequest& request, const StripCosts& costs, uint32_t pieces,
                      const Ends& ends) {
  const auto k = static_cast<double>(pieces);
  const double bytes = static_cast<double>(request.lines * request.line_bytes) / k;
  const MessageCosts put = put_at(costs, static_cast<uint64_t>(bytes), ends);
  double busy = put.o(bytes) + put.r(bytes) + costs.strip_overhead(ends.of(Source::overhead));
  double travel = put.L + put.G * bytes;
  double gap = put.gap(bytes);
  double serve = put.s(bytes);
  if (!request.surroundings.flag_with_data) {
    // It leaves when the put has returned.
    const MessageCosts flag = put_at(costs, kWavefrontFlagBytes, ends);
    busy += flag.o(kWavefrontFlagBytes) + flag.r(kWavefrontFlagBytes);
    travel +=
        put.L + put.r(bytes) + flag.o(kWavefrontFlagBytes) + flag.L + flag.G * kWavefrontFlagBytes;
    gap += flag.gap(kWavefrontFlagBytes);
    serve += flag.s(kWavefrontFlagBytes);
  }
  if (!request.surroundings.target_polls_only) serve = 0;
  // The seconds of a stage to which `served` pieces come that the rank has not waited for.
  const auto busy_with = [&](double served) {
    return std::max(request.compute_s + k * busy + served * serve,
                    k * gap * std::max(request.surroundings.nic_ranks, 1U));
  };
  const uint32_t handovers = std::max(request.stages, 1U) - 1;
  WavefrontTime time;
  time.first_s = request.compute_s / k + put.o(bytes) + travel;
  time.busy_s = busy_with(k);
  time.step_s = request.all_busy ? std::max(time.first_s, time.busy_s) : time.first_s;
  time.sweep_s = busy_with(handovers > 0 ? k - 1 : 0) + handovers * time.first_s;
  if (request.all_busy) {
    time.sweep_s = std::max(time.sweep_s, busy_with(0) + handovers * time.busy_s);
  }
  return time;
}

}  // namespace

double WavefrontMechanism::seconds(const WavefrontRequest& request, const StripCosts& costs,
                                   uint32_t pieces, const Ends& ends) {
  return time_of(request, costs, pieces, ends).sweep_s;
}

WavefrontTime predict_wavefront(const WavefrontRequest& request, const StripCosts& costs,
                                uint32_t pieces, Corner corner) noexcept {
  return time_of(request, costs, pieces, {corner, std::nullopt});
}

WavefrontPlan plan_wavefront(const WavefrontRequest& request, const StripCosts* costs) noexcept {
  NoRecord record;
  return choose<WavefrontMechanism>(request, costs, record);
}

WavefrontPlan baseline_of_wavefront(const WavefrontRequest& request,
                                    const StripCosts* costs) noexcept {
  return baseline_of<WavefrontMechanism>(request, costs);
}

WavefrontPlan plan_wavefront(const WavefrontRequest& request, const StripCosts* costs,
                             WavefrontRecord& record) {
  return choose<WavefrontMechanism>(request, costs, record);
}

}  // namespace stripline::plan
