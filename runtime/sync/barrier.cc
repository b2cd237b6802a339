#include "runtime/sync/barrier.h"

#include <algorithm>
#include <span>

#include "runtime/sync/group.h"

namespace stripline::sync {

void Barrier::begin(Collective kind, fabric::Counter& counter) {
  messages_.wait([this] { return counter_ == nullptr; });
  sequence_ = group_.order.enter(group_, {.kind = kind});
  kind_ = kind;
  round_ = 0;
  if (group_.size == 1) return;
  counter_ = &counter;
  ++counter.pending;
  send();
  advance();
}

bool Barrier::arrived(const Message& message) {
  if (message.round >= arrived_.size()) return false;
  // What a handler sent may come after what its program sent later.
  arrived_[message.round] = std::max(arrived_[message.round], message.sequence);
  advance();
  return true;
}

// A message that a handler sends may be kept back for want of a credit. The barrier is not over
// before it is out: after the last one nobody would send it.
void Barrier::send() {
  Message message{};
  message.sequence = sequence_;
  message.round = round_;
  message.team = group_.id;
  message.kind = kind_;
  const auto peer = static_cast<Rank>((group_.me + (uint64_t{1} << round_)) % group_.size);
  messages_.send(group_.world(peer), am::kBarrier, std::as_bytes(std::span(&message, 1)), {},
                 counter_);
}

// Goes through the rounds whose message has arrived. Sending makes progress, so that a handler may
// come here, too, before send() returns: the round is advanced first.
void Barrier::advance() {
  while (counter_ != nullptr && arrived_[round_] >= sequence_) {
    ++round_;
    if (uint64_t{1} << round_ < group_.size) {
      send();
      continue;
    }
    --counter_->pending;
    counter_ = nullptr;
  }
}

void Barrier::wait(Collective kind) {
  fabric::Counter counter;
  begin(kind, counter);
  messages_.wait([&counter] { return counter.pending == 0; });
}

}  // namespace stripline::sync
