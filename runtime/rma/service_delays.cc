#include "runtime/rma/service_delays.h"

#include <cmath>

#include "runtime/am/active_messages.h"

namespace stripline::rma {

ServiceDelays::ServiceDelays(am::ActiveMessages& messages, fabric::Rank ranks, const Config& config)
    : messages_(messages), config_(config), peers_(ranks) {}

double ServiceDelays::expected_s(fabric::Rank target) {
  Peer& peer = peers_[target];
  if (messages_.take_delay_news(target)) {
    peer.plans = 0;
    peer.step = step_of(messages_.service_delay_s(target), peer.step);
  } else if (peer.step > 0 && ++peer.plans >= config_.plans_per_step_back) {
    peer.plans = 0;
    --peer.step;
  }
  return peer.step == 0 ? 0.0 : lower_end_s(peer.step) * std::sqrt(config_.step);
}

double ServiceDelays::lower_end_s(uint8_t step) const {
  return step == 0 ? 0.0 : config_.least_s * std::pow(config_.step, step - 1);
}

uint8_t ServiceDelays::step_of(double delay_s, uint8_t now) const {
  const double low = lower_end_s(now) / config_.slack;
  const double high = lower_end_s(static_cast<uint8_t>(now + 1)) * config_.slack;
  if (delay_s >= low && delay_s < high) return now;
  if (delay_s < config_.least_s) return 0;
  return static_cast<uint8_t>(
      1 + std::floor(std::log(delay_s / config_.least_s) / std::log(config_.step)));
}

}  // namespace stripline::rma
