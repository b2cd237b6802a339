// The dissemination barrier (Hensgen, Finkel and Manber 1988): in round k, rank i tells rank
// i + 2^k (mod n) and waits for rank i - 2^k; after ceil(log2 n) rounds each rank has heard,
// through others, of all. And two patterns for few ranks: see BarrierPattern.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/am/active_messages.h"
#include "runtime/sync/collective_order.h"

namespace stripline::sync {

struct Group;

enum class BarrierPattern : uint8_t {
  dissemination,  ///< n ceil(log2 n) messages in ceil(log2 n) rounds
  linear,         ///< all tell rank 0, which tells all: 2 (n - 1) messages, the fewest, in 2 rounds
  direct,         ///< all tell all: n (n - 1) messages in 1 round
};

class Barrier {
 public:
  /// The most ranks of the linear and the direct pattern.
  static constexpr Rank kFew = 8;
  /// The name of its message handler, which finds the group (Groups).
  static constexpr const char* kHandler = "barrier";

  struct Message {
    uint64_t sequence;
    uint32_t round;  // of the other patterns: the sender
    uint32_t team;
    Collective kind;
  };

  /// The barrier of this group, which holds it.
  Barrier(am::ActiveMessages& messages, Group& group)
      : messages_(messages), handler_(messages.id(kHandler)), group_(group) {}

  /// From the next barrier on; at first it is dissemination, and always so for more than kFew
  /// ranks. The same on every rank, after an operation that no rank ends before all have come out
  /// of the barrier before.
  void use(BarrierPattern pattern);

  /// Says that this rank has arrived; `counter` drains when every rank has and nothing that this
  /// rank has to say is kept back. The messages in between are sent when those before them are
  /// served: the caller's waits must serve messages. It says nothing about one-sided operations:
  /// the caller completes its own puts first. `kind` is barrier or leave. Waits for an earlier
  /// barrier of this rank that is still in flight.
  void begin(Collective kind, fabric::Counter& counter);

  /// begin(), and returns when every rank has arrived. Makes progress meanwhile.
  void wait(Collective kind);

  /// A message of this barrier has arrived. False: it is none that a rank sends.
  bool arrived(const Message& message);

 private:
  void send(Rank target, uint32_t round);
  void send_round();
  void advance();
  bool all_arrived();
  void finish();

  am::ActiveMessages& messages_;
  const uint16_t handler_;
  Group& group_;
  // By round or sender, the number of the latest barrier that the sender has reached. It goes up.
  std::array<uint64_t, 32> arrived_{};
  BarrierPattern pattern_ = BarrierPattern::dissemination;
  // The barrier in flight.
  fabric::Counter* counter_ = nullptr;  // null: none is
  Collective kind_ = Collective::none;
  uint64_t sequence_ = 0;
  uint32_t round_ = 0;  // of the other patterns: ranks below have arrived
};

}  // namespace stripline::sync
