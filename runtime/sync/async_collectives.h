// Collective operations that go on in the background: a broadcast down a binomial tree, and an
// allreduce by recursive doubling (Thakur, Rabenseifner and Gropp 2005, section 4.5).
//
// An operation is a list of stages, each with messages to some ranks and at most one from a rank. A
// receiver says that it is ready for a message, and the sender answers with the data, in pieces
// that active messages hold: nothing arrives that has no place yet, so that ranks that come late
// keep nothing but a few bytes for each message that others await of them. Receives are announced
// one stage ahead. n is the number of ranks, m the bytes:
//   broadcast: ceil(log2 n) hops of the data; n - 1 messages of m bytes, and as many to ask.
//   allreduce: ceil(log2 n) stages of m bytes each (two more unless n is a power of two), twice the
//     messages; 2 m bytes of memory.
// That is dearer than the blocking operations, which put large data without a copy: they are for
// programs that have something else to do meanwhile.
//
// Progress: everything happens when this rank makes progress (am::Background), combining included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include <stripline/reduction.h>

#include "runtime/am/active_messages.h"
#include "runtime/sync/collectives.h"
#include "runtime/sync/group.h"

namespace stripline::sync {

class AsyncCollectives final : public am::Background {
 public:
  /// After Groups. `fail` ends the job.
  AsyncCollectives(am::ActiveMessages& messages, Groups& groups, Rank me,
                   fabric::FailureHandler fail);

  // `counter` drains when this rank's part is done; the memory stays until then.

  /// `data` becomes root's.
  void broadcast(Group& group, Bytes data, Rank root, fabric::Counter& counter);
  /// `out` becomes op over all ranks' `in`, the same bits on every rank; it may be `in`.
  /// `function` keeps what `op` refers to.
  void allreduce(Group& group, ConstBytes in, Bytes out, const Reduction& op,
                 std::shared_ptr<const void> function, fabric::Counter& counter);

  /// True if operations are in flight: of one team, or of all.
  bool active(uint32_t team) const;
  bool active() const { return !operations_.empty(); }

  bool ready() const override;
  void advance() override;

 private:
  // What a message is matched by: the other rank in the job, team, number of the operation, step.
  using Key = std::tuple<Rank, uint32_t, uint64_t, uint32_t>;
  struct Header;

  struct Send {
    Rank target = 0;     // in the job
    bool asked = false;  // the target is ready for it
    bool out = false;
    size_t sent = 0;
  };
  struct Receive {
    Rank source = 0;  // in the job
    Bytes into;
    bool announced = false;
    bool done = false;
    size_t received = 0;
    bool combines = false;     // with what this rank has; else it replaces that
    bool other_first = false;  // and is the left operand
  };
  struct Stage {
    uint32_t step = 0;
    std::vector<Send> sends;
    std::optional<Receive> receive;
  };
  struct Operation {
    Call call;
    uint64_t sequence = 0;
    uint32_t team = 0;
    Bytes data;
    std::vector<Stage> stages;
    size_t stage = 0;  // the one in flight
    std::optional<Reduction> op;
    std::shared_ptr<const void> function;
    std::unique_ptr<std::byte[]> buffers;  // of two receives
    fabric::Counter* counter = nullptr;
  };

  void begin(Group& group, Operation&& operation, fabric::Counter& counter);
  void on_message(Rank source, std::span<const std::byte> message);
  Operation* find(uint32_t team, uint64_t sequence);
  void take_data(Rank source, Operation& operation, const Header& header,
                 std::span<const std::byte> data);
  bool announce(Operation& operation, Stage& stage);
  bool send(Operation& operation, const Stage& stage, Send& one);
  bool go_on(Operation& operation);
  Header header(const Operation& operation, uint32_t step) const;

  am::ActiveMessages& messages_;
  uint16_t handler_ = 0;
  Groups& groups_;
  Rank me_;
  fabric::FailureHandler fail_;
  std::list<Operation> operations_;  // in the order in which they began
  std::set<Key> asked_early_;        // for operations that this rank has not begun
  bool news_ = false;                // something has arrived since the last look
  bool advancing_ = false;
  std::vector<Rank> stalled_;  // ranks that owe credits
};

}  // namespace stripline::sync
