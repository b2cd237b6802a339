#include "optimizer/plan/wavefront.h"

#include <algorithm>
#include <array>
#include <optional>

#include "optimizer/plan/perturbed.h"

namespace stripline::plan {
namespace {

using cost::Corner;
using cost::MessageCosts;

// Most stages gain all there is with two pieces, and what more of them add changes slowly.
constexpr std::array<uint32_t, 12> kPieces = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
static_assert(kPieces.back() == kMostWavefrontPieces);

// At which ends of their intervals the parameters are taken.
struct Ends {
  Corner corner = Corner::nominal;
  std::optional<Source> only;  // the others are nominal

  Corner of(Source source) const { return only && *only != source ? Corner::nominal : corner; }
};

constexpr Ends kNominal{};

MessageCosts put_at(const StripCosts& costs, uint64_t bytes, const Ends& ends) {
  const MessageCosts& at_end = costs.put().at(bytes, ends.corner);
  return ends.only ? detail::perturbed(costs.put().at(bytes), at_end, *ends.only) : at_end;
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
  // Of a stage to which so many pieces come that the rank has not waited for.
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

// The gain of so many pieces over one.
double gain_of(const WavefrontRequest& request, const StripCosts& costs, uint32_t pieces,
               const Ends& ends) {
  const double baseline_s = time_of(request, costs, 1, ends).sweep_s;
  return baseline_s > 0 ? 1 - time_of(request, costs, pieces, ends).sweep_s / baseline_s : 0;
}

// Calls visit(source, of_baseline, lowest gain of so many pieces) for every source of doubt.
template <typename Visit>
void each_doubt(const WavefrontRequest& request, const StripCosts& costs, uint32_t pieces,
                const Visit& visit) {
  const auto doubt = [&](Source source) {
    visit(source, false,
          std::min(gain_of(request, costs, pieces, {Corner::low, source}),
                   gain_of(request, costs, pieces, {Corner::high, source})));
  };
  for (const Source source : detail::kMessageSources) doubt(source);
  if (request.surroundings.target_polls_only) doubt(Source::serve);
  doubt(Source::overhead);
}

template <typename Recorder>
WavefrontPlan decide(const WavefrontRequest& request, const StripCosts* costs, Recorder& record) {
  WavefrontPlan plan;
  if (costs == nullptr || !costs->has_put()) return plan;
  uint32_t best = 1;
  double baseline_s = 0;
  double best_s = 0;
  for (const uint32_t pieces : kPieces) {
    if (pieces > std::max<uint64_t>(request.lines, 1)) break;
    const double sweep_s = time_of(request, *costs, pieces, kNominal).sweep_s;
    record.consider(pieces, sweep_s);
    if (pieces == 1) baseline_s = best_s = sweep_s;
    if (sweep_s >= best_s) continue;
    best = pieces;
    best_s = sweep_s;
  }
  Verdict verdict = keep_baseline(baseline_s);
  if (best > 1) {
    record.take(best, best_s);
    verdict = weigh(baseline_s, best_s, costs->minimum_gain(), record,
                    [&](const auto& visit) { each_doubt(request, *costs, best, visit); });
  }
  set_verdict(plan, verdict);
  if (verdict.takes_candidate()) plan.pieces = best;
  return plan;
}

}  // namespace

WavefrontTime predict_wavefront(const WavefrontRequest& request, const StripCosts& costs,
                                uint32_t pieces, Corner corner) noexcept {
  return time_of(request, costs, pieces, {corner, std::nullopt});
}

WavefrontPlan plan_wavefront(const WavefrontRequest& request, const StripCosts* costs) noexcept {
  NoRecord record;
  return decide(request, costs, record);
}

WavefrontPlan plan_wavefront(const WavefrontRequest& request, const StripCosts* costs,
                             WavefrontRecord& record) {
  return decide(request, costs, record);
}

}  // namespace stripline::plan
