// What a transfer happens among: facts of the network and of the other ranks that are not the
// transfer's own, and that more than one planner reckons with. Every request has them; a planner
// says which of them it looks at, and those alone are filled in, remembered and shown.
#pragma once

#include <cstdint>

#include "optimizer/cost/load_costs.h"

namespace stripline::plan {

struct Surroundings {
  /// Ranks that share a NIC. They are taken to move as much at the same time.
  uint32_t nic_ranks = 1;
  /// Operations need calls of their target, which is taken to do the same as this rank meanwhile,
  /// and to make calls between strips, steps or pieces: what is asked of it while it computes waits
  /// for the end of one of them, and every rank serves as many messages as it sends, at s(S) each.
  /// A single transfer waits for `service_delay_s` likewise.
  bool target_polls_only = false;
  /// No other rank does the same at the time, whose messages this one would serve.
  bool alone = false;
  /// The flag of a put with a signal travels with the data. Otherwise it follows when they are
  /// known to be visible.
  bool flag_with_data = false;
  /// How long messages were seen to wait at the target until it looked for them; 0: not at all, or
  /// not known. In few different values, if plans are to be remembered.
  double service_delay_s = 0;
  /// What else is in flight in the network: all nodes do the same. The shares are those of the
  /// ranks that the data are of.
  cost::NetworkLoad load;

  bool operator==(const Surroundings&) const = default;
};

/// The facts, to be combined with |.
enum class Fact : uint8_t {
  nic_ranks = 1,
  target_polls_only = 2,
  alone = 4,
  flag_with_data = 8,
  service_delay = 16,
  load = 32,
};
constexpr Fact operator|(Fact a, Fact b) {
  return static_cast<Fact>(static_cast<uint8_t>(a) | static_cast<uint8_t>(b));
}
constexpr bool has(Fact facts, Fact one) {
  return (static_cast<uint8_t>(facts) & static_cast<uint8_t>(one)) != 0;
}

}  // namespace stripline::plan
