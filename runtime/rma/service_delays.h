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
  /// After `plans_per_step_back` plans for a peer without news of it, its delay counts as one step
  /// shorter: what was avoided because of it is tried again in the end.
  ServiceDelays(am::ActiveMessages& messages, fabric::Rank ranks,
                uint16_t plans_per_step_back = 256)
      : messages_(messages), plans_per_step_back_(plans_per_step_back), peers_(ranks) {}

  /// Seconds that a plan for `target` should expect a message to wait there: 0, or the geometric
  /// middle of a step. Counts as a plan. Does the same at the same sequence of messages and calls.
  double expected_s(fabric::Rank target);

 private:
  struct Peer {
    uint8_t step = 0;  // 0: none
    uint16_t plans = 0;
  };

  am::ActiveMessages& messages_;
  uint16_t plans_per_step_back_;
  std::vector<Peer> peers_;
};

}  // namespace stripline::rma
