#include "runtime/sync/async_collectives.h"

#include <algorithm>
#include <utility>

namespace stripline::sync {

/// The header of a request (no data follow), or of a piece of data.
struct AsyncCollectives::Header {
  uint64_t sequence;
  uint64_t bytes;  // of the call
  uint64_t offset;
  uint32_t team;
  uint32_t root;
  uint32_t step;
  Collective kind;
  uint8_t asks;
  uint8_t reserved[2];
};

AsyncCollectives::AsyncCollectives(am::ActiveMessages& messages, Groups& groups, Rank me,
                                   fabric::FailureHandler fail)
    : messages_(messages), groups_(groups), me_(me), fail_(std::move(fail)) {
  messages_.add_background(*this);
  handler_ = messages_.serve(
      "nonblocking collective", am::Purpose::answer,
      [this](Rank source, std::span<const std::byte> message) { on_message(source, message); });
}

// Ranks count from the root: the parent of v is v without its lowest set bit, its children add one
// of the bits below that.
void AsyncCollectives::broadcast(Group& group, Bytes data, Rank root, fabric::Counter& counter) {
  Operation operation;
  operation.call = {.kind = Collective::broadcast_async, .root = root, .bytes = data.size()};
  operation.data = data;
  const auto self = static_cast<Rank>((uint64_t{group.me} + group.size - root) % group.size);
  const auto in_job = [&](uint64_t distance) {
    return group.world(static_cast<Rank>((distance + root) % group.size));
  };
  uint64_t bit = 1;
  while (bit < group.size && (self & bit) == 0) bit *= 2;
  if (self != 0) {
    Stage& stage = operation.stages.emplace_back();
    stage.receive = Receive{.source = in_job(self - bit), .into = data};
  }
  Stage stage;
  for (bit /= 2; bit > 0; bit /= 2) {
    if (self + bit < group.size) stage.sends.push_back({.target = in_job(self + bit)});
  }
  if (!stage.sends.empty()) operation.stages.push_back(std::move(stage));
  begin(group, std::move(operation), counter);
}

// The first 2 (n - p) ranks, p the power of two below n, act in pairs, the odd one for both.
void AsyncCollectives::allreduce(Group& group, ConstBytes in, Bytes out, const Reduction& op,
                                 std::shared_ptr<const void> function, fabric::Counter& counter) {
  constexpr uint32_t kFold = 0;
  constexpr uint32_t kUnfold = 1;
  copy(in, out);
  Operation operation;
  operation.call = {.kind = Collective::allreduce_async, .bytes = out.size()};
  operation.data = out;
  operation.op = op;
  operation.function = std::move(function);
  const Rank n = group.size;
  const Rank me = group.me;
  Rank power = 1;
  while (power <= n / 2) power *= 2;
  const Rank pairs = n - power;
  const bool paired = me < 2 * pairs;
  if (n > 1) operation.buffers = std::make_unique<std::byte[]>(2 * padded(out.size()) + 64);
  // Aligned as scratch memory of collectives is.
  void* memory = operation.buffers.get();
  size_t room = 2 * padded(out.size()) + 64;
  if (memory != nullptr) std::align(64, 2 * padded(out.size()), memory, room);
  const auto buffer = [&](size_t which) {
    return Bytes(static_cast<std::byte*>(memory) + which * padded(out.size()), out.size());
  };
  const auto add = [&](uint32_t step, Rank partner, bool sends, bool receives) {
    Stage& stage = operation.stages.emplace_back();
    stage.step = step;
    if (sends) stage.sends.push_back({.target = group.world(partner)});
    if (receives) {
      stage.receive = Receive{.source = group.world(partner),
                              .into = buffer(operation.stages.size() % 2),
                              .combines = step != kUnfold,
                              .other_first = partner < me};
    }
  };
  if (paired && me % 2 == 0) {
    add(kFold, me + 1, true, false);
    add(kUnfold, me + 1, false, true);
  } else {
    if (paired) add(kFold, me - 1, false, true);
    const Rank self = paired ? me / 2 : me - pairs;
    uint32_t step = kUnfold + 1;
    for (Rank bit = 1; bit < power; bit *= 2, ++step) {
      const Rank partner = self ^ bit;
      add(step, partner < pairs ? 2 * partner + 1 : partner + pairs, true, true);
    }
    if (paired) add(kUnfold, me - 1, true, false);
  }
  begin(group, std::move(operation), counter);
}

void AsyncCollectives::begin(Group& group, Operation&& operation, fabric::Counter& counter) {
  operation.sequence = group.order.enter(group, operation.call);
  if (operation.stages.empty()) return;  // this rank is alone
  operation.team = group.id;
  operation.counter = &counter;
  ++counter.pending;
  for (Stage& stage : operation.stages) {
    for (Send& one : stage.sends) {
      one.asked = asked_early_.erase({one.target, group.id, operation.sequence, stage.step}) > 0;
    }
  }
  operations_.push_back(std::move(operation));
  has_work_ = true;
  news_ = true;
  advance();
}

bool AsyncCollectives::active(uint32_t team) const {
  return std::any_of(operations_.begin(), operations_.end(),
                     [team](const Operation& one) { return one.team == team; });
}

AsyncCollectives::Header AsyncCollectives::header(const Operation& operation, uint32_t step) const {
  Header header{};
  header.sequence = operation.sequence;
  header.bytes = operation.call.bytes;
  header.team = operation.team;
  header.root = operation.call.root;
  header.step = step;
  header.kind = operation.call.kind;
  return header;
}

AsyncCollectives::Operation* AsyncCollectives::find(uint32_t team, uint64_t sequence) {
  for (Operation& one : operations_) {
    if (one.team == team && one.sequence == sequence) return &one;
  }
  return nullptr;
}

void AsyncCollectives::on_message(Rank source, std::span<const std::byte> message) {
  const auto header = header_of<Header>(message, fail_, source, me_);
  Group* const group = groups_.find(header.team);
  if (group == nullptr) {
    fail_malformed(fail_, source, me_);
    return;
  }
  const Call call{.kind = header.kind, .root = header.root, .bytes = header.bytes};
  if (!group->order.saw(call, header.sequence, source)) return;
  Operation* const operation = find(header.team, header.sequence);
  news_ = true;
  if (header.asks == 0) {
    if (operation == nullptr) {
      fail_malformed(fail_, source, me_);
      return;
    }
    take_data(source, *operation, header, message.subspan(sizeof header));
    return;
  }
  if (operation == nullptr) {
    asked_early_.insert({source, header.team, header.sequence, header.step});
    return;
  }
  for (Stage& stage : operation->stages) {
    if (stage.step != header.step) continue;
    for (Send& one : stage.sends) {
      if (one.target == source) one.asked = true;
    }
  }
}

void AsyncCollectives::take_data(Rank source, Operation& operation, const Header& header,
                                 std::span<const std::byte> data) {
  for (Stage& stage : operation.stages) {
    if (stage.step != header.step || !stage.receive || stage.receive->source != source) continue;
    Receive& receive = *stage.receive;
    if (!receive.announced || receive.done || header.offset > receive.into.size() ||
        data.size() > receive.into.size() - header.offset) {
      break;
    }
    copy(data, receive.into.subspan(header.offset));
    receive.received += data.size();
    receive.done = receive.received == receive.into.size();
    return;
  }
  fail_malformed(fail_, source, me_);
}

bool AsyncCollectives::ready() const {
  return !advancing_ && (news_ || std::any_of(stalled_.begin(), stalled_.end(), [this](Rank rank) {
                           return messages_.has_credit(rank);
                         }));
}

// Sending makes progress while the network has no room, and so may come here again.
void AsyncCollectives::advance() {
  if (advancing_) return;
  advancing_ = true;
  news_ = false;
  stalled_.clear();
  for (auto one = operations_.begin(); one != operations_.end();) {
    if (!go_on(*one)) {
      ++one;
      continue;
    }
    --one->counter->pending;
    one = operations_.erase(one);
  }
  has_work_ = !operations_.empty();
  advancing_ = false;
}

// Does what can be done now; whether it is over.
bool AsyncCollectives::go_on(Operation& operation) {
  while (operation.stage < operation.stages.size()) {
    Stage& stage = operation.stages[operation.stage];
    bool over = announce(operation, stage);
    // The buffer of the next one is not that of this one.
    if (operation.stage + 1 < operation.stages.size()) {
      announce(operation, operation.stages[operation.stage + 1]);
    }
    for (Send& one : stage.sends) over = send(operation, stage, one) && over;
    if (!over || (stage.receive && !stage.receive->done)) return false;
    if (stage.receive && stage.receive->combines) {
      const Reduction& op = *operation.op;
      try {
        op.combine(operation.data.data(), stage.receive->into.data(),
                   operation.data.size() / op.element_bytes, stage.receive->other_first,
                   op.function);
      } catch (...) {
        fail_(function_has_thrown("allreduce_async"));
      }
    } else if (stage.receive) {
      copy(stage.receive->into, operation.data);
    }
    ++operation.stage;
  }
  return true;
}

bool AsyncCollectives::announce(Operation& operation, Stage& stage) {
  if (!stage.receive || stage.receive->announced) return true;
  if (!messages_.has_credit(stage.receive->source)) {
    stalled_.push_back(stage.receive->source);
    return false;
  }
  stage.receive->announced = true;  // what follows may come before send() returns
  Header header = this->header(operation, stage.step);
  header.asks = 1;
  messages_.send(stage.receive->source, handler_, std::as_bytes(std::span(&header, 1)), {});
  return true;
}

bool AsyncCollectives::send(Operation& operation, const Stage& stage, Send& one) {
  if (one.out) return true;
  if (!one.asked) return false;
  const size_t most = messages_.max_payload_bytes() - sizeof(Header);
  const ConstBytes data = operation.data;
  do {
    if (!messages_.has_credit(one.target)) {
      stalled_.push_back(one.target);
      return false;
    }
    const size_t bytes = std::min(most, data.size() - one.sent);
    Header header = this->header(operation, stage.step);
    header.offset = one.sent;
    one.sent += bytes;
    messages_.send(one.target, handler_, std::as_bytes(std::span(&header, 1)),
                   data.subspan(header.offset, bytes));
  } while (one.sent < data.size());
  one.out = true;
  return true;
}

}  // namespace stripline::sync
