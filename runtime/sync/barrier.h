// The dissemination barrier (Hensgen, Finkel and Manber 1988): in round k, rank i tells rank
// i + 2^k (mod n) and waits for rank i - 2^k; after ceil(log2 n) rounds each rank has heard,
// through others, of all.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/am/active_messages.h"
#include "runtime/sync/collective_order.h"

namespace stripline::sync {

class Barrier {
 public:
  Barrier(am::ActiveMessages& messages, CollectiveOrder& order, Rank me, Rank ranks);

  /// Returns when every rank has called it. Makes progress meanwhile. It says nothing about
  /// one-sided operations: the caller completes its own puts first. `kind` is barrier or leave.
  void wait(Collective kind);

 private:
  struct Message {
    uint64_t sequence;
    uint32_t round;
    Collective kind;
  };

  am::ActiveMessages& messages_;
  CollectiveOrder& order_;
  Rank me_;
  Rank ranks_;
  // By round, the number of the latest barrier its one sender has reached. Senders go up only.
  std::array<uint64_t, 32> arrived_{};
};

}  // namespace stripline::sync
