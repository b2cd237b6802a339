#include "runtime/sync/barrier.h"

#include <algorithm>
#include <span>

namespace stripline::sync {

Barrier::Barrier(am::ActiveMessages& messages, CollectiveOrder& order, Rank me, Rank ranks)
    : messages_(messages), order_(order), me_(me), ranks_(ranks) {
  messages_.set_reserved(am::kBarrier, [this](Rank source, std::span<const std::byte> payload) {
    const auto message = order_.header_of<Message>(source, payload);
    if (message.round >= arrived_.size()) order_.malformed(source);
    order_.saw(message.kind, message.sequence, source);
    // What a handler sent may come after what its program sent later.
    arrived_[message.round] = std::max(arrived_[message.round], message.sequence);
    advance();
  });
}

void Barrier::begin(Collective kind, fabric::Counter& counter) {
  messages_.wait([this] { return counter_ == nullptr; });
  sequence_ = order_.enter(kind);
  kind_ = kind;
  round_ = 0;
  if (ranks_ == 1) return;
  counter_ = &counter;
  ++counter.pending;
  send();
  advance();
}

void Barrier::send() {
  Message message{};
  message.sequence = sequence_;
  message.round = round_;
  message.kind = kind_;
  const auto peer = static_cast<Rank>((me_ + (uint64_t{1} << round_)) % ranks_);
  messages_.send(peer, am::kBarrier, std::as_bytes(std::span(&message, 1)), {});
}

// Goes through the rounds whose message has arrived. Sending makes progress, so that a handler may
// come here, too, before send() returns: the round is advanced first.
void Barrier::advance() {
  while (counter_ != nullptr && arrived_[round_] >= sequence_) {
    ++round_;
    if (uint64_t{1} << round_ < ranks_) {
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
  // What handlers sent must be out, too: after the last barrier nobody would send it.
  messages_.wait([&] { return counter.pending == 0 && messages_.idle(); });
}

}  // namespace stripline::sync
