// One collective operation in flight on this rank: its messages, by ranks of the team.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/sync/group.h"
#include "runtime/sync/transfers.h"

namespace stripline::sync {

class Round {
 public:
  using Receive = Transfers::Receive;

  /// This rank enters its next collective of the team.
  Round(Transfers& transfers, Group& group, const Call& call)
      : me(group.me),
        size(group.size),
        transfers_(transfers),
        group_(group),
        call_(call),
        sequence_(group.order.enter(group, call)) {}

  const Rank me;
  const Rank size;

  /// The rank `distance` after this one, and before it, in a circle. distance < size.
  Rank after(Rank distance) const { return static_cast<Rank>((uint64_t{me} + distance) % size); }
  Rank before(Rank distance) const {
    return static_cast<Rank>((uint64_t{me} + size - distance) % size);
  }

  // Between two ranks each step is one message. Both sides give the same length.

  void send(Rank target, uint32_t step, std::span<const std::byte> data) {
    transfers_.send(call_, key(step), group_.world(target), data);
  }
  /// Before a send() with the same arguments: several receivers may get large data at once.
  void announce(Rank target, uint32_t step, std::span<const std::byte> data) {
    transfers_.announce(call_, key(step), group_.world(target), data);
  }
  void post(Rank source, uint32_t step, std::span<std::byte> data, Receive& receive) {
    transfers_.post(call_, key(step), group_.world(source), data, receive);
  }
  void wait(Receive& receive) { transfers_.wait(receive); }
  void receive(Rank source, uint32_t step, std::span<std::byte> data) {
    Receive one;
    post(source, step, data, one);
    wait(one);
  }
  /// Both at the same time.
  void exchange(Rank target, std::span<const std::byte> out, Rank source, std::span<std::byte> in,
                uint32_t step) {
    Receive one;
    post(source, step, in, one);
    send(target, step, out);
    wait(one);
  }

 private:
  Transfers::Key key(uint32_t step) const {
    return {.sequence = sequence_, .team = group_.id, .step = step};
  }

  Transfers& transfers_;
  Group& group_;
  Call call_;
  uint64_t sequence_;
};

}  // namespace stripline::sync
