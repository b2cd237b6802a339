// Reduction over all ranks with one result: the values go to rank 0, which combines them in rank
// order and broadcasts. Floating-point results therefore depend on nothing but the values and the
// number of ranks. A gather to one rank costs its O(n) messages; the tree of the broadcast O(log
// n).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runtime/am/active_messages.h"
#include "runtime/sync/broadcast.h"
#include "runtime/sync/collective_order.h"

namespace stripline::sync {

class Reduce {
 public:
  Reduce(am::ActiveMessages& messages, CollectiveOrder& order, Broadcast& broadcast, Rank me,
         Rank ranks);

  /// A value's eight bytes and how two of them combine. Collective.
  using Combine = uint64_t (*)(uint64_t left, uint64_t right);
  uint64_t run(uint64_t value, Combine combine);

 private:
  struct Message {
    uint64_t sequence;
    uint64_t value;
  };
  struct Contribution {
    uint64_t sequence = 0;
    uint64_t value = 0;
  };

  am::ActiveMessages& messages_;
  CollectiveOrder& order_;
  Broadcast& broadcast_;
  Rank me_;
  std::vector<Contribution> contributions_;  // by rank; used on rank 0
};

}  // namespace stripline::sync
