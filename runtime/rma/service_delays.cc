#include "runtime/rma/service_delays.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "runtime/am/active_messages.h"

namespace stripline::rma {
namespace {

// Shorter delays count as none.
constexpr double kLeast_s = 2e-6;
// A step is this many times the one before.
constexpr double kStep = 4;
// A delay leaves its step when it is this many times beyond its ends.
constexpr double kSlack = 1.5;
// Delays are averages, of which a single prompt message leaves 7/8. They are reported in steps of
// an eighth of a power of two (am/delay_code.h), so that this is a fall by one or two steps: of one
// that falls to this share the latest message was served far sooner than it says.
constexpr double kFalls = 0.92;
// Plans without news before a step back, at least.
constexpr uint16_t kLeastPatience = 8;
constexpr uint16_t kMostPrompt = 1 << 12;

double lower_end_s(uint8_t step) { return step == 0 ? 0.0 : kLeast_s * std::pow(kStep, step - 1); }

uint8_t step_of(double delay_s, uint8_t now) {
  const double low = lower_end_s(now) / kSlack;
  const double high = lower_end_s(static_cast<uint8_t>(now + 1)) * kSlack;
  if (delay_s >= low && delay_s < high) return now;
  if (delay_s < kLeast_s) return 0;
  return static_cast<uint8_t>(1 + std::floor(std::log(delay_s / kLeast_s) / std::log(kStep)));
}

}  // namespace

void ServiceDelays::note_news(Peer& peer, double delay_s) const {
  uint8_t step = step_of(delay_s, peer.step);
  if (delay_s <= kFalls * peer.delay_s) step = std::min(step, peer.step);
  if (step > peer.step) {
    // A peer that was late once after many prompt answers is expected to be prompt again; one that
    // was late when it was tried again is not.
    if (peer.prompt > 0) {
      const int patience = plans_per_step_back_ / (1 + peer.prompt);
      peer.patience = static_cast<uint16_t>(std::max<int>(patience, kLeastPatience));
    } else if (peer.tried) {
      peer.patience = static_cast<uint16_t>(std::min<int>(2 * peer.patience, UINT16_MAX));
    }
    peer.patience = std::min(peer.patience, plans_per_step_back_);
    peer.tried = false;
    peer.prompt = 0;
  } else if (step == 0) {
    peer.tried = false;
    if (peer.prompt < kMostPrompt) ++peer.prompt;
  }
  peer.delay_s = delay_s;
  peer.step = step;
  peer.plans = 0;
}

double ServiceDelays::expected_s(fabric::Rank target) {
  Peer& peer = peers_[target];
  if (messages_.take_delay_news(target)) {
    note_news(peer, messages_.service_delay_s(target));
  } else if (peer.step > 0 && ++peer.plans >= peer.patience) {
    peer.plans = 0;
    peer.tried = true;
    --peer.step;
  }
  return peer.step == 0 ? 0.0 : lower_end_s(peer.step) * std::sqrt(kStep);
}

}  // namespace stripline::rma
