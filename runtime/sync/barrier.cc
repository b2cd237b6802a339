#include "runtime/sync/barrier.h"

#include <span>

namespace stripline::sync {

Barrier::Barrier(am::ActiveMessages& messages, CollectiveOrder& order, Rank me, Rank ranks)
    : messages_(messages), order_(order), me_(me), ranks_(ranks) {
  messages_.set_reserved(am::kBarrier, [this](Rank source, std::span<const std::byte> payload) {
    const auto message = order_.header_of<Message>(source, payload);
    if (message.round >= arrived_.size()) order_.malformed(source);
    order_.saw(message.kind, message.sequence, source);
    arrived_[message.round] = message.sequence;
  });
}

void Barrier::wait(Collective kind) {
  const uint64_t sequence = order_.enter(kind);
  uint32_t round = 0;
  for (uint64_t distance = 1; distance < ranks_; distance *= 2, ++round) {
    Message message{};
    message.sequence = sequence;
    message.round = round;
    message.kind = kind;
    messages_.send(static_cast<Rank>((me_ + distance) % ranks_), am::kBarrier,
                   std::as_bytes(std::span(&message, 1)), {});
    const uint64_t& arrived = arrived_[round];
    messages_.wait([&arrived, sequence] { return arrived >= sequence; });
  }
}

}  // namespace stripline::sync
