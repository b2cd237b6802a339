// The service delays of peers (am/active_messages.h) as planners get them: in coarse steps, so that
// plans can be remembered, and forgotten again when there is no news of them.
//
// What is avoided because of a delay brings no news of it, so that one late answer could decide for
// a whole run. It is therefore tried again: soon, where the peer has always answered at once
// before, and seldom, where each trial has found it late.
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
  /// shorter; after fewer, if it was prompt before, in proportion to how often.
  ServiceDelays(am::ActiveMessages& messages, fabric::Rank ranks,
                uint16_t plans_per_step_back = 256)
      : messages_(messages),
        plans_per_step_back_(plans_per_step_back),
        peers_(ranks, Peer{.patience = plans_per_step_back}) {}

  /// Seconds that a plan for `target` should expect a message to wait there: 0, or the geometric
  /// middle of a step. Counts as a plan. Does the same at the same sequence of messages and calls.
  double expected_s(fabric::Rank target);

 private:
  struct Peer {
    double delay_s = 0;     // as it was reported last
    uint8_t step = 0;       // 0: none
    bool tried = false;     // stepped back since it was late, and not prompt since
    uint16_t plans = 0;     // without news
    uint16_t patience = 0;  // plans without news until a step back
    uint16_t prompt = 0;    // how often the news was that it is prompt, since it was late
  };

  void note_news(Peer& peer, double delay_s) const;

  am::ActiveMessages& messages_;
  uint16_t plans_per_step_back_;
  std::vector<Peer> peers_;
};

}  // namespace stripline::rma
