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
  if (pattern_ == BarrierPattern::dissemination) {
    send_round();
  } else if (pattern_ == BarrierPattern::linear) {
    if (group_.me != 0) send(0, group_.me);
  } else {
    for (Rank rank = 1; rank < group_.size; ++rank) {
      send((group_.me + rank) % group_.size, group_.me);
    }
  }
  advance();
}

void Barrier::use(BarrierPattern pattern) {
  pattern_ = group_.size <= kFew ? pattern : BarrierPattern::dissemination;
}

bool Barrier::arrived(const Message& message) {
  if (message.round >= arrived_.size()) return false;
  // What a handler sent may come after what its program sent later.
  arrived_[message.round] = std::max(arrived_[message.round], message.sequence);
  advance();
  return true;
}

// A message that a handler sends may be kept back for want of a credit. The barrier is not over
// before it is out: after the last one no one would send it.
void Barrier::send(Rank target, uint32_t round) {
  Message message{};
  message.sequence = sequence_;
  message.round = round;
  message.team = group_.id;
  message.kind = kind_;
  messages_.send(group_.world(target), handler_, std::as_bytes(std::span(&message, 1)), {},
                 counter_);
}

void Barrier::send_round() {
  send(static_cast<Rank>((group_.me + (uint64_t{1} << round_)) % group_.size), round_);
}

// Goes through the rounds whose message has arrived. Sending makes progress, so that a handler may
// come here, too, before send() returns: the round is advanced first.
void Barrier::advance() {
  if (pattern_ != BarrierPattern::dissemination) {
    if (counter_ == nullptr || !all_arrived()) return;
    if (pattern_ == BarrierPattern::linear && group_.me == 0) {
      ++round_;  // not a second time
      for (Rank rank = 1; rank < group_.size; ++rank) send(rank, 0);
    }
    finish();
    return;
  }
  while (counter_ != nullptr && arrived_[round_] >= sequence_) {
    ++round_;
    if (uint64_t{1} << round_ < group_.size) {
      send_round();
      continue;
    }
    finish();
  }
}

// Everybody that this rank has to hear of.
bool Barrier::all_arrived() {
  if (pattern_ == BarrierPattern::linear && group_.me != 0) return arrived_[0] >= sequence_;
  while (round_ < group_.size && (round_ == group_.me || arrived_[round_] >= sequence_)) ++round_;
  return round_ == group_.size;
}

void Barrier::finish() {
  --counter_->pending;
  counter_ = nullptr;
}

void Barrier::wait(Collective kind) {
  fabric::Counter counter;
  begin(kind, counter);
  messages_.wait([&counter] { return counter.pending == 0; });
}

}  // namespace stripline::sync
