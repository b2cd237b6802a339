#include "optimizer/plan/wavefront.h"

#include <algorithm>
#include <array>

namespace stripline::plan {
namespace {

using cost::Corner;
using cost::MessageCosts;

constexpr uint64_t kFlagBytes = 8;

// Most stages gain all there is with two pieces, and what more of them add changes slowly.
constexpr std::array<uint32_t, 12> kPieces = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
static_assert(kPieces.back() == kMostWavefrontPieces);

// Overheads of the CPU at one corner, and what the network takes at another.
MessageCosts put_at(const StripCosts& costs, uint64_t bytes, Corner cpu, Corner network) {
  MessageCosts put = costs.put().at(bytes, network);
  const MessageCosts& overheads = costs.put().at(bytes, cpu);
  put.o_base = overheads.o_base;
  put.o_per_byte = overheads.o_per_byte;
  put.r_base = overheads.r_base;
  put.r_per_byte = overheads.r_per_byte;
  return put;
}

WavefrontTime time_of(const WavefrontRequest& request, const StripCosts& costs, uint32_t pieces,
                      Corner cpu, Corner network) {
  const auto k = static_cast<double>(pieces);
  const double bytes = static_cast<double>(request.lines * request.line_bytes) / k;
  const MessageCosts put = put_at(costs, static_cast<uint64_t>(bytes), cpu, network);
  double busy = put.o(bytes) + put.r(bytes) + costs.strip_overhead(cpu);
  double travel = put.L + put.G * bytes;
  double gap = put.gap(bytes);
  if (!request.flag_with_data) {
    // It leaves when the put has returned.
    const MessageCosts flag = put_at(costs, kFlagBytes, cpu, network);
    busy += flag.o(kFlagBytes) + flag.r(kFlagBytes);
    travel += put.L + put.r(bytes) + flag.o(kFlagBytes) + flag.L + flag.G * kFlagBytes;
    gap += flag.gap(kFlagBytes);
  }
  WavefrontTime time;
  time.first_s = request.compute_s / k + put.o(bytes) + travel;
  time.busy_s = std::max(request.compute_s + k * busy, k * gap * std::max(request.nic_ranks, 1U));
  time.step_s = request.all_busy ? std::max(time.first_s, time.busy_s) : time.first_s;
  time.sweep_s = time.busy_s + (std::max(request.stages, 1U) - 1) * time.step_s;
  return time;
}

double nominal(const WavefrontRequest& request, const StripCosts& costs, uint32_t pieces) {
  return time_of(request, costs, pieces, Corner::nominal, Corner::nominal).sweep_s;
}

// The least favourable ends of the intervals.
double doubtful(const WavefrontRequest& request, const StripCosts& costs, uint32_t pieces) {
  return time_of(request, costs, pieces, Corner::high, Corner::low).sweep_s;
}

}  // namespace

WavefrontTime predict_wavefront(const WavefrontRequest& request, const StripCosts& costs,
                                uint32_t pieces) noexcept {
  return time_of(request, costs, pieces, Corner::nominal, Corner::nominal);
}

WavefrontPlan plan_wavefront(const WavefrontRequest& request, const StripCosts* costs) noexcept {
  WavefrontPlan plan;
  if (costs == nullptr || !costs->has_put()) return plan;
  plan.baseline_s = nominal(request, *costs, 1);
  plan.predicted_s = plan.baseline_s;
  plan.reason = Reason::no_faster_plan;
  uint32_t best = 1;
  double best_s = plan.baseline_s;
  for (const uint32_t pieces : kPieces) {
    if (pieces > request.lines) break;
    const double seconds = nominal(request, *costs, pieces);
    if (seconds >= best_s) continue;
    best = pieces;
    best_s = seconds;
  }
  if (best == 1) return plan;
  plan.gain_low = 1 - doubtful(request, *costs, best) / doubtful(request, *costs, 1);
  const bool sure = plan.gain_low > costs->minimum_gain();
  plan.reason = sure ? Reason::tuned : Reason::below_margin;
  if (!sure) return plan;
  plan.pieces = best;
  plan.predicted_s = best_s;
  return plan;
}

}  // namespace stripline::plan
