// The dissemination barrier (Hensgen, Finkel and Manber 1988): in round k, rank i tells rank
// i + 2^k (mod n) and waits for rank i - 2^k; after ceil(log2 n) rounds each rank has heard,
// through others, of all.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/am/active_messages.h"
#include "runtime/sync/collective_order.h"

namespace stripline::sync {

struct Group;

class Barrier {
 public:
  struct Message {
    uint64_t sequence;
    uint32_t round;
    uint32_t team;
    Collective kind;
  };

  /// Of this group, which holds it.
  Barrier(am::ActiveMessages& messages, Group& group) : messages_(messages), group_(group) {}

  /// Says that this rank has arrived; `counter` drains when every rank has and nothing that this
  /// rank has to say is kept back. The messages in between are sent when those before them are
  /// served: the caller's waits must serve messages. It says nothing about one-sided operations:
  /// the caller completes its own puts first. `kind` is barrier or leave. Waits for an earlier
  /// barrier of this rank that is still under way.
  void begin(Collective kind, fabric::Counter& counter);

  /// begin(), and returns when every rank has arrived. Makes progress meanwhile.
  void wait(Collective kind);

  /// A message of this barrier has arrived. False: it is none that a rank sends.
  bool arrived(const Message& message);

 private:
  void send();
  void advance();

  am::ActiveMessages& messages_;
  Group& group_;
  // By round, the number of the latest barrier its one sender has reached. Senders go up only.
  std::array<uint64_t, 32> arrived_{};
  // The barrier under way.
  fabric::Counter* counter_ = nullptr;  // null: none is
  Collective kind_ = Collective::none;
  uint64_t sequence_ = 0;
  uint32_t round_ = 0;
};

}  // namespace stripline::sync
