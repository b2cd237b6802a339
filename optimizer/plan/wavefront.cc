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
  Corner cpu = Corner::nominal;      // overheads, and what the engine does
  Corner network = Corner::nominal;  // all else
  std::optional<Source> only;        // the others are nominal
};

constexpr Ends kNominal{};
// The least favourable ones.
constexpr Ends kDoubtful{Corner::high, Corner::low, std::nullopt};

MessageCosts put_at(const StripCosts& costs, uint64_t bytes, const Ends& ends) {
  const MessageCosts& cpu = costs.put().at(bytes, ends.cpu);
  if (ends.only) return detail::perturbed(costs.put().at(bytes), cpu, *ends.only);
  MessageCosts put = costs.put().at(bytes, ends.network);
  put.o_base = cpu.o_base;
  put.o_per_byte = cpu.o_per_byte;
  put.r_base = cpu.r_base;
  put.r_per_byte = cpu.r_per_byte;
  put.s_base = cpu.s_base;
  put.s_per_byte = cpu.s_per_byte;
  return put;
}

double overhead_at(const StripCosts& costs, const Ends& ends) {
  const bool nominal = ends.only && *ends.only != Source::overhead;
  return costs.strip_overhead(nominal ? Corner::nominal : ends.cpu);
}

WavefrontTime time_of(const WavefrontRequest& request, const StripCosts& costs, uint32_t pieces,
                      const Ends& ends) {
  const auto k = static_cast<double>(pieces);
  const double bytes = static_cast<double>(request.lines * request.line_bytes) / k;
  const MessageCosts put = put_at(costs, static_cast<uint64_t>(bytes), ends);
  double busy = put.o(bytes) + put.r(bytes) + overhead_at(costs, ends);
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

// The sink of plan_wavefront: nothing, at no cost.
struct NoSink {
  void considered(uint32_t, const WavefrontTime&) {}
  static constexpr bool kSensitivities = false;
};

struct Telling {
  WavefrontSink& sink;
  void considered(uint32_t pieces, const WavefrontTime& time) { sink.considered(pieces, time); }
  static constexpr bool kSensitivities = true;
};

// What each parameter alone may cost of the gain, at either end of its interval.
void tell_sensitivities(const WavefrontRequest& request, const StripCosts& costs, uint32_t pieces,
                        WavefrontSink& sink) {
  const double nominal = gain_of(request, costs, pieces, kNominal);
  const auto tell = [&](Source source) {
    double lowest = nominal;
    for (const Corner end : {Corner::low, Corner::high}) {
      lowest = std::min(lowest, gain_of(request, costs, pieces, {end, end, source}));
    }
    sink.sensitivity(source, nominal - lowest);
  };
  for (const Source source : detail::kMessageSources) tell(source);
  if (request.surroundings.target_polls_only) tell(Source::serve);
  tell(Source::overhead);
}

template <typename Sink>
WavefrontPlan decide(const WavefrontRequest& request, const StripCosts* costs, Sink sink) {
  WavefrontPlan plan;
  if (costs == nullptr || !costs->has_put()) return plan;
  plan.reason = Reason::no_faster_plan;
  uint32_t best = 1;
  double best_s = 0;
  for (const uint32_t pieces : kPieces) {
    if (pieces > std::max<uint64_t>(request.lines, 1)) break;
    const WavefrontTime time = time_of(request, *costs, pieces, kNominal);
    sink.considered(pieces, time);
    if (pieces == 1) plan.baseline_s = plan.predicted_s = best_s = time.sweep_s;
    if (time.sweep_s >= best_s) continue;
    best = pieces;
    best_s = time.sweep_s;
  }
  if (best == 1) return plan;
  // Parameters that are in doubt may favour pieces.
  plan.gain_low = std::min(gain_of(request, *costs, best, kDoubtful), 1 - best_s / plan.baseline_s);
  if constexpr (Sink::kSensitivities) tell_sensitivities(request, *costs, best, sink.sink);
  const bool sure = plan.gain_low > costs->minimum_gain();
  plan.reason = sure ? Reason::tuned : Reason::below_margin;
  if (!sure) return plan;
  plan.pieces = best;
  plan.predicted_s = best_s;
  return plan;
}

}  // namespace

WavefrontTime predict_wavefront(const WavefrontRequest& request, const StripCosts& costs,
                                uint32_t pieces, Corner corner) noexcept {
  return time_of(request, costs, pieces, {corner, corner, std::nullopt});
}

WavefrontPlan plan_wavefront(const WavefrontRequest& request, const StripCosts* costs) noexcept {
  return decide(request, costs, NoSink());
}

WavefrontPlan explain_wavefront(const WavefrontRequest& request, const StripCosts* costs,
                                WavefrontSink& sink) {
  return decide(request, costs, Telling{sink});
}

}  // namespace stripline::plan
