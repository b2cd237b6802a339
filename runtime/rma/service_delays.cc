#include "runtime/rma/service_delays.h"

#include <cmath>

#include "runtime/am/active_messages.h"

namespace stripline::rma {
namespace {

// Shorter delays count as none.
constexpr double kLeast_s = 2e-6;
// A step is this many times the one before.
constexpr double kStep = 4;
// A delay leaves its step when it is this many times beyond its ends.
constexpr double kSlack = 1.5;

double lower_end_s(uint8_t step) { return step == 0 ? 0.0 : kLeast_s * std::pow(kStep, step - 1); }

uint8_t step_of(double delay_s, uint8_t now) {
  const double low = lower_end_s(now) / kSlack;
  const double high = lower_end_s(static_cast<uint8_t>(now + 1)) * kSlack;
  if (delay_s >= low && delay_s < high) return now;
  if (delay_s < kLeast_s) return 0;
  return static_cast<uint8_t>(1 + std::floor(std::log(delay_s / kLeast_s) / std::log(kStep)));
}

}  // namespace

double ServiceDelays::expected_s(fabric::Rank target) {
  Peer& peer = peers_[target];
  if (messages_.take_delay_news(target)) {
    peer.plans = 0;
    peer.step = step_of(messages_.service_delay_s(target), peer.step);
  } else if (peer.step > 0 && ++peer.plans >= plans_per_step_back_) {
    peer.plans = 0;
    --peer.step;
  }
  return peer.step == 0 ? 0.0 : lower_end_s(peer.step) * std::sqrt(kStep);
}

}  // namespace stripline::rma
