// The service delays of peers (am/active_messages.h) as planners get them: in coarse steps, so that
// plans can be remembered, and forgotten again when there is no news of them.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/fabric/fabric.h"

namespace stripline::am {
class ActiveMessages;
}

namespace stripline::rma {

class ServiceDelays {
 public:
  struct Config {
    /// Shorter delays count as none.
    double least_s = 2e-6;
    /// A step is this many times the one before.
    double step = 4;
    /// A delay leaves its step when it is beyond its ends by this factor.
    double slack = 1.5;
    /// After this many plans for a peer without news of it, its delay counts as one step shorter:
    /// what was avoided because of it is tried again in the end.
    uint16_t plans_per_step_back = 256;
  };

  ServiceDelays(am::ActiveMessages& messages, fabric::Rank ranks, const Config& config);
  ServiceDelays(am::ActiveMessages& messages, fabric::Rank ranks)
      : ServiceDelays(messages, ranks, Config()) {}

  /// Seconds that a plan for `target` should expect a message to wait there: 0, or the geometric
  /// middle of a step. Counts as a plan. Does the same at the same sequence of messages and calls.
  double expected_s(fabric::Rank target);

 private:
  struct Peer {
    uint8_t step = 0;  // 0: none
    uint16_t plans = 0;
  };
  uint8_t step_of(double delay_s, uint8_t now) const;
  double lower_end_s(uint8_t step) const;

  am::ActiveMessages& messages_;
  Config config_;
  std::vector<Peer> peers_;
};

}  // namespace stripline::rma
