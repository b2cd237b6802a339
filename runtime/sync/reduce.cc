#include "runtime/sync/reduce.h"

#include <algorithm>

namespace stripline::sync {

Reduce::Reduce(am::ActiveMessages& messages, CollectiveOrder& order, Broadcast& broadcast, Rank me,
               Rank ranks)
    : messages_(messages),
      order_(order),
      broadcast_(broadcast),
      me_(me),
      contributions_(me == 0 ? ranks : 0) {
  messages_.set_reserved(
      am::kReduceContribution, [this](Rank source, std::span<const std::byte> payload) {
        const auto message = order_.header_of<Message>(source, payload);
        if (source >= contributions_.size()) order_.malformed(source);  // only rank 0 collects
        order_.saw(Collective::reduce, message.sequence, source);
        contributions_[source] = Contribution{.sequence = message.sequence, .value = message.value};
      });
}

uint64_t Reduce::run(uint64_t value, Combine combine) {
  const uint64_t sequence = order_.enter(Collective::reduce);
  if (me_ != 0) {
    const Message message{.sequence = sequence, .value = value};
    messages_.send(0, am::kReduceContribution, std::as_bytes(std::span(&message, 1)), {});
  } else {
    for (size_t rank = 1; rank < contributions_.size(); ++rank) {
      const uint64_t& arrived = contributions_[rank].sequence;
      messages_.wait([&arrived, sequence] { return arrived >= sequence; });
      value = combine(value, contributions_[rank].value);
    }
  }
  broadcast_.run(std::as_writable_bytes(std::span(&value, 1)), 0, Collective::reduce);
  return value;
}

}  // namespace stripline::sync
